/* What all families but stencils have in common: the parallel patterns on lists. A pattern has
   functions of its own (an operator, a map, an order), a dtype, and a schedule of an algorithm and
   a few numbers. Takes: a pattern and a described program. Makes: lines of schedules and back, the
   source, and the build. */
#ifndef SG_GEN_LISTS_PATTERN_H
#define SG_GEN_LISTS_PATTERN_H

#include "base/text.h"
#include "gen/model/family.h"

/* ---- schedules ----------------------------------------------------------------------------- */

enum { PATTERN_NUMBERS = 16 };

typedef struct pattern_number {
    const char *name, *summary; /* "threads", "threads a block" */
    int least, most;
    int multiple; /* a multiple of this; 0: a power of two */
} pattern_number;

/* The vocabulary of a family's schedules. The first format and the first algorithm are `auto`. */
typedef struct pattern_words {
    const word_row *algorithms;
    int algorithm_count;
    const word_row *formats; /* spmv; NULL elsewhere */
    int format_count;
    const pattern_number *numbers;
    int number_count;
    const char *const *notes; /* of each algorithm: the textbook's count of its work; spmv: NULL */
    unsigned serial;          /* algorithms for processors, by bits: a block is one thread; 0: the
                                 family has none, and is planned for a GPU everywhere */
} pattern_words;

/* Why a number may not have this value, "threads must be a power of two"; NULL: it may. */
const char *pattern_number_fault(const pattern_number *, int value, job *);

/* A number that is 0 is free: the planner chooses it. */
typedef struct pattern_schedule {
    int format, algorithm;
    int number[PATTERN_NUMBERS]; /* by the words' index */
} pattern_schedule;

/* A number that is given, else the usual one. */
static inline int pattern_or(int given, int usual) {
    return given != 0 ? given : usual;
}

/* "csr warp threads=256"; free entries are left out, and the empty schedule prints as `auto`. */
void pattern_schedule_print(const pattern_words *, const pattern_schedule *, text *);

/* Parses such a line, words in any order, over `out`. Fails with FAULT_USAGE and a message that
   names `where`. Accepts what pattern_schedule_print writes. */
void pattern_schedule_parse(job *, const pattern_words *, const char *line, const char *where,
                            pattern_schedule *out);

/* ---- what tuning tries ----------------------------------------------------------------------- */

/* What a value of a table is a multiple of. */
typedef enum space_unit {
    BY_ONE,
    BY_PACK,      /* the elements of 16 bytes, as they are computed with */
    BY_STORED,    /* and as they are stored */
    BY_HALF,      /* half of the items of a thread */
    BY_TILE,      /* the elements that a block's threads take at once */
    BY_PROCESSOR, /* the multiprocessors of the GPU */
} space_unit;

enum { SPACE_OWN = -1, SPACE_LINES = 6, SPACE_VALUES = 16 }; /* SPACE_OWN: the planner chooses */

typedef struct space_line {
    int number; /* of the family's words */
    space_unit unit;
    int values[SPACE_VALUES]; /* end with 0 */
} space_line;

/* A unit needs the numbers before it, so lines come in this order. A group ends with an empty
   line. */
typedef struct space_group {
    int format, algorithm; /* of the words; 0: the family has none, or chooses it */
    space_line lines[SPACE_LINES + 1];
} space_group;

/* A group, a line of it, and its lines of threads. */
#define SPACE_GROUP(format, algorithm, ...)                                                        \
    {                                                                                              \
        format, algorithm, {                                                                       \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }
#define SPACE_LINE(number, ...)                                                                    \
    {                                                                                              \
        number, BY_ONE, {                                                                          \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }
#define SPACE_THREADS(n) SPACE_LINE(n, 64, 128, 256, 512, 1024)
#define SPACE_USUAL_THREADS(n) SPACE_LINE(n, 128, 256, 512)

/* For each algorithm or format of a family, the numbers that it has and the values to try. */
typedef struct space_table {
    const space_group *groups;
    int count;
} space_table;

/* ---- patterns ------------------------------------------------------------------------------ */

/* The beginning of each family's own model. */
typedef struct pattern {
    /* Name, dtype, parameters, and the functions of the spec: a model without a grid, whose fields
       are the operands and whose outputs are the functions, in an order that the family fixes. */
    model *functions;
    const pattern_words *words;
    pattern_schedule wanted; /* the spec's constraints */
    dtype storage;           /* of the elements, where they are narrow: see pattern_storage */
} pattern;

/* The type of the elements in memory: the functions' dtype, unless they are narrow. */
static inline dtype pattern_storage(const pattern *p) {
    return dtype_is_narrow(p->storage) ? p->storage : p->functions->dtype;
}

/* ---- programs ------------------------------------------------------------------------------ */

/* A new program of lists with the pattern's name, target and parameters, and room for so many of
   each part, which the functions below add. */
enum { PATTERN_SIZES = 8, PATTERN_ARRAYS = 16, PATTERN_LAUNCHES = 4, PATTERN_TEMPORARIES = 2 };
program *pattern_program(job *, const pattern *, program_kind, const gpu *);

/* An extent: size `a` (−1: none) and so much more; the sum of two sizes. */
static inline program_extent extent_of(int a, int64_t plus) {
    return (program_extent){{a, -1}, plus};
}
static inline program_extent extent_sum(int a, int b) {
    return (program_extent){{a, b}, 0};
}

/* An array of one axis; and the size that is the extent of an array along an axis. */
program_array *pattern_array(program *, const char *name, dtype, program_extent);
void pattern_size(program *, const char *name, int array, int axis);

/* A launch along one axis: the kernel NAME_suffix, a block for each per_block of the items. */
program_launch *pattern_launch(job *, program *, const char *suffix, program_extent items,
                               int per_block, int threads, bool barriers);
void pattern_temporary(program *, program_temporary);

/* A name in plan.h and its value, an int where it fits. */
typedef struct pattern_constant {
    const char *name;
    int64_t value;
} pattern_constant;

typedef struct pattern_source {
    program *program; /* complete but for the source and the size of its arguments */
    const pattern_schedule *schedule; /* complete */
    const char *template_file;        /* "reduce/shared.cu" */
    dtype narrow;     /* of 16 bits: some arrays' type, in addition to the pattern's */
    const char *spec; /* canonical; NULL: as the family prints it */
    const char *work; /* for the head of the file: "at least 4 bytes of device memory an element" */
    const pattern_constant *constants; /* of struct plan */
    int constant_count;
    const char *code;   /* the end of plan.h: functions that contain the spec's functions */
    family_build facts; /* shape, reason, board and operations */
} pattern_source;

/* A build with these facts, and with the texts and the source unless the request does without. The
   source has a head that says what made it and how to launch it, then plan.h and the template
   (gen/source/file.h). plan.h has, in this order: `Real`, the pattern's dtype; the entries of the
   launches as PATTERN_KERNEL_0 …; where blocks come in clusters, their number as PATTERN_CLUSTER_0
   …; `struct Arguments` with a member for each size, array and temporary (by their names),
   parameter[], and `tag` of a tagged program; `struct plan` of the constants; the code. */
family_build *pattern_build(job *, const subject *, const family_request *, pattern_source *);

/* The schedule that the spec and then the request ask for. */
pattern_schedule pattern_wanted(job *, const subject *, const char *line);

/* Whether the schedule's algorithm is for processors; and what it is planned for: if the request is
   for a processor, and the algorithm for a GPU, the usual GPU of the processor's text. */
bool pattern_is_serial(const pattern_words *, const pattern_schedule *);
const gpu *pattern_board(const pattern_words *, const pattern_schedule *, const gpu *);

/* Fails with FAULT_PLAN and "algorithm NAME: why". */
noreturn void pattern_refuse(job *, const subject *, const pattern_schedule *, const char *format,
                             ...) SG_PRINTF(4, 5);

/* The steps of a tree over n; and n divided by `by`, rounded up. */
double pattern_log2(double n);
double pattern_parts(double n, double by);

/* One of the pattern's functions as a device function
   `result name(const Arguments &arguments, Real a, Real b)`; `result` is "Real" or "bool". */
void pattern_write_function(text *, const pattern *, int function, const char *result,
                            const char *name);

/* A function on plain numbers: what references compute with. Arithmetic is that of the pattern's
   dtype: each operation is rounded, or wraps. A machine has its own scratch, so it serves one
   thread at a time. */
typedef union pattern_value {
    double real;   /* float and double; truth values 1 and 0 */
    int64_t whole; /* the others; truth values 1 and 0 */
} pattern_value;
typedef struct pattern_machine pattern_machine;
/* `parameters`: one for each of the pattern's. Lives in the job. */
pattern_machine *pattern_machine_new(job *, const pattern *, int function,
                                     const double *parameters);
pattern_value pattern_apply(pattern_machine *, const pattern_value *operands);

/* Adds those sides of its conditions that hardly any of its applications took; NULL is allowed. */
void pattern_judge(job *, const pattern_machine *, condition_sides *);

/* An element of an array of the dtype as such a number, and back; numbers are rounded or wrap. */
pattern_value pattern_get(dtype, const void *array, int64_t index);
void pattern_set(dtype, void *array, int64_t index, pattern_value);

/* Slots of families: whether a line is a schedule; the constraints as a line; and the plan without
   the texts. */
void pattern_check_schedule(job *, const family *, const char *line);
void pattern_print_wanted(job *, const subject *, const char *line, text *);
const char *pattern_plan(job *, const subject *, const family_request *);

/* The plan of a schedule line alone, or the refusal. The spec's own constraints count too. */
void pattern_try(job *, const subject *, const family_request *, const char *line, family_row *);

/* What an explanation takes from the build of `auto`. The family fills in the rows. */
const family_build *pattern_explain_build(job *, const subject *, const family_request *,
                                          family_explanation *);

/* family.explain of a family without formats: a row for each algorithm but auto, with its note. */
family_explain pattern_explain;

/* family.dims of all families of lists. */
int pattern_dims(const subject *);

/* Operations of one call of a function; 0 where it is EXPR_NONE. */
double pattern_operations(job *, const pattern *, int function);

/* ---- operators ------------------------------------------------------------------------------- */

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
    bool truth;          /* elements that are not 0 become 1 before they are used */
    bool rounds;         /* on reals: the result depends on how elements are grouped */
    expr_op op;          /* the same operation of expressions; EXPR_OP_COUNT: there is none */
    const char *formula; /* in CUDA */
    const char *wraps;   /* its sign, where signed whole numbers wrap; else NULL */
} operator_word;
extern const operator_word operator_words[OPERATOR_COUNT];

/* What a spec asks for. */
typedef struct pattern_operator {
    operator_id id;
    int function;           /* OWN: which of the pattern's functions it is */
    bool own_commutes;      /* OWN: the spec says that a∘b = b∘a */
    pattern_value identity; /* OWN: e∘a = a∘e = a */
} pattern_operator;

/* Whether a∘b = b∘a (of −0 and 0, and of NaNs, not bit by bit); and whether any grouping of the
   same sequence gives the same bits with this dtype. */
bool operator_commutes(const pattern_operator *);
bool operator_is_exact(const pattern_operator *, dtype);

/* The element e with e∘a = a∘e = a; of min and max on reals it is infinite. */
pattern_value operator_identity(const pattern_operator *, dtype);

/* What becomes of an element, or of a scan's first value, before it is combined. */
pattern_value operator_prepare(const pattern_operator *, dtype, pattern_value);

/* a∘b, rounded to the dtype or wrapping. NaN in either gives NaN in min and max. OWN: `own` is a
   machine for its function, else it is NULL. */
pattern_value operator_combine(dtype, const pattern_operator *, pattern_machine *own,
                               pattern_value a, pattern_value b);

/* An expression of CUDA as `combine` takes it: of truths, 0 or 1. */
const char *operator_prepared(job *, const pattern_operator *, const char *value);
/* Of plan.h: `Real identity()` by that name, `Real combine(const Arguments &, Real a, Real b)` and,
   of truths, `Real prepare(Real)`. */
void operator_write(text *, const pattern *, dtype, const pattern_operator *, const char *identity);

/* A value of the dtype as CUDA reads it, exactly: "-2147483647 - 1", "0.1f". */
void operator_write_value(text *, dtype, pattern_value);

/* "sum"; "own" for a function. */
const char *operator_name(const pattern_operator *);

/* Operations of one ∘. */
double operator_operations(job *, const pattern *, const pattern_operator *);

#endif
