/* Data for checks of lists, and what is wrong in a result.
   Takes: a state, which is the seed at first; or expressions and parameters. Makes: random numbers,
   and numbers with which a check reaches both sides of every condition; verdicts. */
#ifndef SG_GEN_LISTS_DRAW_H
#define SG_GEN_LISTS_DRAW_H

#include "base/random.h"
#include "gen/lists/pattern.h"

double draw_real(uint64_t *state);                  /* in [−1, 1) */
int64_t draw_below(uint64_t *state, int64_t bound); /* in [0, bound) */
pattern_value draw_element(dtype, uint64_t *state); /* whole: any; real: in [−1, 1) */

/* As the sample says; whole numbers that it leaves free may be any. */
pattern_value draw_sampled(dtype, const sample *, uint64_t *state);

/* Kinds of lists, for family.kinds. */
enum {
    DRAW_RANDOM,
    DRAW_CONSTANT,
    DRAW_SORTED,
    DRAW_REVERSED,
    DRAW_FEW,  /* eight values, so that many are equal */
    DRAW_WILD, /* one in 64 is NaN, infinite or −0; of whole numbers an end of their range */
    DRAW_KINDS
};
extern const char *const draw_kinds[DRAW_KINDS + 1];

/* A list of such elements. Random ones are as the sample says; sorted ones ascend by <, with NaN
   last. */
void draw_list(job *, dtype, int kind, const sample *, uint64_t *state, void *array, int64_t count);

/* Compares whole numbers, for qsort. */
int draw_ascending(const void *, const void *);

/* Room for a call of the program: sizes, all 0; places for arrays, all NULL; and parameters. These
   are those `given`; where that is NULL they are the defaults, or drawn where there are none. */
void draw_call(job *, const program *, const double *given, uint64_t *state, family_call *out);

/* Room for one of its arrays, once the sizes are there. */
void draw_array(job *, const program *, int array, family_call *call);

/* An input of a pattern with an operator: a list of such elements, made such that a product of
   reals stays in range whatever the order, so that it can be judged, and that the first few
   elements do not settle the result. */
void draw_input(job *, dtype, const program *, int array, operator_id, int kind, const sample *,
                uint64_t *state, family_call *call);

/* ---- verdicts ------------------------------------------------------------------------------- */

/* Counts a wrong element, and tells of the first one: "output at 17: 3 instead of 4". */
void verdict_wrong(job *, family_verdict *, const char *array, int64_t at, dtype, pattern_value got,
                   pattern_value wanted);

/* Judges a whole element; and a real one, which may be off by the bound. */
void verdict_whole(job *, family_verdict *, const char *array, int64_t at, dtype, pattern_value got,
                   pattern_value wanted);
void verdict_real(job *, family_verdict *, const char *array, int64_t at, dtype, double got,
                  double wanted, double bound, bool undecidable);

/* ---- both sides of every condition ----------------------------------------------------------- */

/* For each array of a model; `parameters`, one each, are rounded to the dtype. */
void reach_arrays(job *, const model *, const double *parameters, sample *out);

/* For the operands a and b of a map, or of an operator where there is no map. Operands of an
   operator are elements of one list, so their samples are alike. A function is −1 where there is
   none. What the operator compares is searched for through the map. */
void reach_operands(job *, const pattern *, int op, int map, const double *parameters,
                    sample out[2]);

#endif
