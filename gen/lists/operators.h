/* The operators of reduce and scan: a table of the known ones, and the spec's own.
   Takes: an operator and a dtype. Makes: its identity, its CUDA text, and the same on plain numbers
   for the references. All are associative (reals: but for rounding); those of whole numbers wrap.
 */
#ifndef SG_GEN_LISTS_OPERATORS_H
#define SG_GEN_LISTS_OPERATORS_H

#include "gen/lists/pattern.h"

typedef enum operator_id {
    OPERATOR_SUM,
    OPERATOR_PRODUCT,
    OPERATOR_MIN,
    OPERATOR_MAX,
    OPERATOR_ALL,
    OPERATOR_ANY,
    OPERATOR_AND,
    OPERATOR_OR,
    OPERATOR_XOR,
    OPERATOR_COUNT,
    OPERATOR_OWN = OPERATOR_COUNT /* a function of the spec */
} operator_id;

typedef struct operator_word {
    const char *name;    /* in specs */
    const char *summary; /* of two elements a and b */
    bool bits;           /* of whole numbers only */
    bool truth;          /* elements become 1 where they are not 0, else 0, before they are used */
    bool rounds;         /* on reals: the result depends on how elements are grouped */
} operator_word;
extern const operator_word operator_words[OPERATOR_COUNT];

/* What a spec asks for. */
typedef struct pattern_operator {
    operator_id id;
    int function;           /* OWN: which of the pattern's functions it is */
    bool own_commutes;      /* OWN: the spec says that a∘b = b∘a */
    pattern_value identity; /* OWN: e∘a = a∘e = a */
} pattern_operator;

/* Whether a∘b = b∘a (of −0 and 0, and of NaNs, not bit by bit); and whether on this dtype any
   grouping of the same sequence gives the same bits. */
bool operator_commutes(const pattern_operator *);
bool operator_is_exact(const pattern_operator *, dtype);

/* The element e with e∘a = a∘e = a; of reals infinite for min and max. */
pattern_value operator_identity(const pattern_operator *, dtype);

/* What becomes of an element, or of a scan's first value, before it is combined. */
pattern_value operator_prepare(const pattern_operator *, dtype, pattern_value);

/* a∘b, rounded to the dtype or wrapping. NaN in either gives NaN in min and max. OWN: `own` is a
   machine for its function, else it is NULL. */
pattern_value operator_combine(dtype, const pattern_operator *, pattern_machine *own,
                               pattern_value a, pattern_value b);

/* Of plan.h: `Real identity()`, `Real prepare(Real)` and
   `Real combine(const Arguments &, Real a, Real b)`. */
void operator_write(text *, const pattern *, dtype, const pattern_operator *);

/* A value of the dtype as CUDA reads it, exactly: "-2147483647 - 1", "0.1f". */
void operator_write_value(text *, dtype, pattern_value);

/* "sum"; "own" for a function. */
const char *operator_name(const pattern_operator *);

/* Operations of one ∘. */
double operator_operations(job *, const pattern *, const pattern_operator *);

#endif
