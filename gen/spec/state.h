/* What the parts of the spec loader share: the state of one load, limits, errors, and the types of
   values that specs handle. Only gen/spec includes it. */
#ifndef SG_GEN_SPEC_STATE_H
#define SG_GEN_SPEC_STATE_H

#include <lauxlib.h>
#include <lua.h>

#include "gen/families.h"
#include "gen/lists/pattern.h"
#include "gen/spec/spec.h"

enum {
    SPEC_FILE_BYTES = 256 << 10,
    SPEC_PIECE_BYTES = 1 << 10, /* bytes of the file that are compiled between two looks at the
                                   time */
    SPEC_STRING_BYTES = SPEC_FILE_BYTES, /* Lua may read a whole string in one instruction */
    SPEC_MEMORY_BYTES = 64 << 20,
#if defined(FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION)
    SPEC_INSTRUCTIONS = 1000000, /* a fuzzer's time is better spent on specs that end */
#else
    SPEC_INSTRUCTIONS = 50000000,
#endif
    SPEC_HOOK_INSTRUCTIONS = 256,
    SPEC_LOOK_INSTRUCTIONS = 4096, /* charged between two looks at the time */
    SPEC_CPU_SECONDS = 5,
    SPEC_MAX_STENCILS = 256,
    SPEC_MAX_NAMES = 1024,   /* parameters of one file */
    SPEC_MAX_NUMBER = 65536, /* in a schedule */
    SPEC_EDGE = 2 * MAX_REACH + 1,
    SPEC_MAX_POINTS = SPEC_EDGE * SPEC_EDGE * SPEC_EDGE,
};
#define SPEC_TOTAL_BYTES ((size_t)2 << 30) /* ever asked for, freed or not */

/* The update function that is running. */
typedef struct spec_update {
    const char *name; /* for messages: "an update function", "the function op" */
    model *model;
    bool grid;         /* of a stencil: there are positions */
    int dims;          /* 0 until a shape, the key or the first tap says it */
    int least_dims;    /* of the weight tables applied */
    int position_dims; /* that the positions need which were read */
    int low[2 * MAX_FIELDS][AXES], high[2 * MAX_FIELDS][AXES]; /* by array: how far the taps called
                                                                  reach */
    bool partial;          /* a stage: it returns a table of the fields that it writes */
    const bool *unwritten; /* by field: scratch that no stage has written yet; NULL: none is */
    int line;              /* of a stage's function, where errors of its results belong; 0 */
    bool bare;             /* the spec names no fields: functions are given the field itself */
} spec_update;

typedef struct spec_state {
    job *job;
    const char *path;
    lua_State *L;
    allocator memory;
    size_t used, asked;          /* bytes held now, and bytes ever asked for */
    const char *refused;         /* why the sandbox last refused memory; NULL: the host had none */
    bool late;                   /* memory was refused after the time was over: no more is
                                    granted */
    size_t instructions, looked; /* executed and charged instructions; and their number at the last
                                    look */
    double started;              /* processor time of this thread */
    const char *given; /* constants being put in, "k = 0", which messages then name; else NULL */
    int line;          /* the last line known, for errors that come without one */
    int at;            /* the line of all errors, 0: the one that Lua is at */
    expr_pool *pool;   /* expressions under construction, of all specs of the file */
    const char *names[SPEC_MAX_NAMES]; /* of parameters, by the pool's index */
    int name_count;
    int model_count;
    int mark;            /* nodes of the pool before the spec under construction */
    int serial;          /* counts updates */
    text digits;         /* of the number that was last made into text; its memory is used again */
    spec_update *update; /* NULL outside of update functions */
} spec_state;

/* One global or library function of specs. */
typedef struct spec_function {
    const char *name;
    lua_CFunction call;
    const char *summary;
} spec_function;

/* A list of keys ends with a NULL name. */
typedef struct spec_key {
    const char *name;
    const char *summary;
} spec_key;

/* spec.c */
spec_state *spec_of(lua_State *);
int spec_current_line(lua_State *);
noreturn void spec_fail(lua_State *, const char *format, ...) SG_PRINTF(2, 3);
void spec_charge(lua_State *, size_t instructions);
void spec_charge_memory(lua_State *, size_t bytes);
void *spec_array(lua_State *, size_t count, size_t element); /* of the job, and charged */

/* keys.c: values of tables, and words for messages. Texts live in the job and are made only
   where an error follows. */
const char *spec_clean(job *, const char *text, size_t length); /* one line of bounded length */
const char *spec_describe(lua_State *, int index);              /* "the number 0.5", "a table" */
const char *spec_with_article(job *, const char *noun);         /* "a table", "an expression" */
const char *spec_number_text(job *, double value);
noreturn void spec_fail_expected(lua_State *, const char *where, const char *key,
                                 const char *expected, int index);
/* Fails unless the value on the top is of this type of Lua's. */
void spec_need(lua_State *, int type, const char *where, const char *key, const char *expected);
noreturn void spec_fail_unknown(lua_State *, const char *kind, const char *where, int index,
                                const char *const *known, size_t count);
void spec_check_keys(lua_State *, int table, const char *where, const spec_key *keys);
bool spec_get(lua_State *, int table, const char *key); /* pushes it; false where nil */
int spec_list(lua_State *, int table, const char *where, int longest);
int spec_word(lua_State *, int index, const char *where, const char *const *words, int count);
const char *spec_name(lua_State *, int index, const char *where); /* Lua's own string */
double spec_number(lua_State *, int index, const char *where, const char *key);
int spec_whole(lua_State *, int index, const char *where, const char *key, int low, int high);
bool spec_flag(lua_State *, int table, const char *key); /* false where nil */
/* The value of a key, or the fallback where the table does not have it. `where` is the table's name
   for messages; NULL: the spec's own table. A dtype is one of the first `count`. */
int spec_get_whole(lua_State *, int table, const char *where, const char *key, int low, int high,
                   int fallback);
int spec_get_word(lua_State *, int table, const char *key, const char *const *words, int count,
                  int fallback);
dtype spec_get_dtype(lua_State *, int table, const char *key, int count, dtype fallback);

/* The key "storage": the type of cells for arithmetic in `type`. */
dtype spec_get_storage(lua_State *, int table, const char *where, dtype type, dtype fallback);
void spec_check_count(lua_State *, const char *function, int count);

/* base.c: Lua's functions. Lists end with a NULL name. Where `call` is NULL, Lua's own function of
   that name serves. */
extern const spec_function spec_base_functions[], spec_table_functions[], spec_math_functions[];

/* environment.c */
void spec_open_environment(lua_State *); /* pushes it */

/* lua.c: the message of an error of Lua's own, in the words of specs; one line */
const char *spec_say(job *, const char *message);

/* expressions.c: a type and what it can do. Everything else is refused, with `advice`, which may be
   NULL. */
void spec_make_type(lua_State *, const char *type, const char *advice, const luaL_Reg *metamethods);

/* expressions.c: expressions */
#define SPEC_EXPRESSION "expression"
typedef struct spec_expr {
    expr_id id;
    int owner; /* serial of the update it was made in; 0 outside */
    bool taps; /* it may hold some */
} spec_expr;
int spec_owner(const spec_state *); /* of what is made now */
void spec_check_owner(lua_State *, int owner, const char *what);
void spec_push_expr(lua_State *, expr_id, bool taps);
bool spec_to_expr(lua_State *, int index, spec_expr *out); /* of a number or an expression */
expr_id spec_make(lua_State *, expr_op, expr_id a, expr_id b, expr_id c);
/* sum + weight * the tap; a sum that is EXPR_NONE is 0. */
expr_id spec_add_term(lua_State *, expr_id sum, expr_id weight, int array, const int d[AXES]);
bool spec_is_truth(const spec_state *, expr_id);
expr_id spec_parameter(lua_State *, const char *name);
void spec_open_expressions(lua_State *);
int spec_call_operation(lua_State *);                     /* upvalue: expr_op */
void spec_open_arithmetic(lua_State *, const char *type); /* the operators of a type */
int spec_param(lua_State *);

/* weights.c: sets of offsets */
#define SPEC_SHAPE "shape"
typedef struct spec_shape {
    shape_kind kind;
    int dims;
    int count;
    signed char d[][AXES]; /* in the order of a list of coefficients */
} spec_shape;
int spec_star(lua_State *);
int spec_box(lua_State *);
int spec_points(lua_State *);
static inline int spec_cell(const signed char d[AXES]) { /* 0 … SPEC_MAX_POINTS − 1 */
    return ((d[2] + MAX_REACH) * SPEC_EDGE + d[1] + MAX_REACH) * SPEC_EDGE + d[0] + MAX_REACH;
}

/* weights.c: weight tables */
#define SPEC_WEIGHTS "weight table"
typedef struct spec_weight {
    signed char d[AXES];
    expr_id value;
} spec_weight;
typedef struct spec_weights {
    int dims; /* the fewest it fits in */
    int owner;
    int count;
    spec_weight entry[]; /* by dz, dy, dx */
} spec_weights;
void spec_open_weights(lua_State *);
int spec_weights_arithmetic(lua_State *, expr_op);
spec_shape *spec_push_weights_shape(lua_State *, const spec_weights *, int dims);
int spec_identity(lua_State *);
int spec_derivative(lua_State *);
int spec_laplacian(lua_State *);
extern const spec_key spec_derivative_keys[], spec_laplacian_keys[], spec_axis_keys[];

/* update.c: the one value that a function of `arguments` returns, which takes its place. */
void spec_call_one(lua_State *, const char *name, int arguments);

/* fields.c: the keys fields and parameters; true where the key is there */
bool spec_read_fields(lua_State *, int table, model *, dtype storage);
/* The same of a system: scratch[i] says of field i that it lives inside a step. The model has it as
   an inout field. */
void spec_read_system_fields(lua_State *, int table, model *, dtype storage,
                             bool scratch[MAX_FIELDS]);
bool spec_read_parameters(lua_State *, int table, model *);
void spec_sort_parameters(model *);
extern const spec_key spec_field_keys[];

/* boundary.c: the key boundary of a spec and of its fields; that of a stage, over the sides that
   the model has */
#define SPEC_BOUNDARY "boundary"
int spec_constant(lua_State *);
void spec_read_boundary(lua_State *, int table, model *, boundary by_default);
void spec_read_sides(lua_State *, int table, model *);
/* Once it is known what is read and written: what fields' own rules mean for the model; and for the
   map of a monitor, whose array is fixed where a field that it reads is. */
void spec_settle_sides(lua_State *, model *);
void spec_settle_map_sides(lua_State *, model *);
/* Refuses an axis that the stencil does not have, or beyond the first `axes` that a key has. */
void spec_check_axis(lua_State *, const char *where, int axis, int dims, int axes);

/* fields.c: schedule */
void spec_read_schedule(lua_State *, int table, model *);
const spec_key *spec_schedule_keys(job *); /* of gen/stencil/plan.h */
const char **spec_method_words(job *);     /* by the table of methods */

/* update.c: the update function */
#define SPEC_FIELD "field"
void spec_open_fields(lua_State *);
int spec_apply(lua_State *);
void spec_push_parameters(lua_State *); /* what p.name is read from */
/* Refuses positions along axes that the stencil does not have. */
void spec_check_positions(lua_State *, int dims, int position_dims);
void spec_push_positions(lua_State *); /* what at.x is read from, or why there is no such thing */
void spec_push_fields(lua_State *, const model *, bool named); /* what f.name is, or the field */
expr_id spec_to_output(lua_State *, const char *where, const char *name); /* on the top */
void spec_take_reach(const spec_update *, model *); /* how far the taps of an update went */
void spec_run_update(lua_State *, int function, bool named, spec_update *,
                     expr_id outputs[MAX_FIELDS]);

/* How many components the field has whose first is `field`, 0 where it has none; and its name
   without their numbers. */
int spec_components(const model *, int field);
const char *spec_title(lua_State *, const model *, int field);

/* The values that an update returned, on the top of the stack, by output; and those of a stage, a
   table of the fields that it writes. */
void spec_read_results(lua_State *, const model *, expr_id outputs[MAX_FIELDS]);
void spec_read_some_results(lua_State *, const model *, expr_id outputs[MAX_FIELDS]);

/* points.c: the key points, of a model whose fields, arrays and dimensions are known. The functions
   of the sets stand in the load's pool until the model is finished. `named`: as of fields. */
void spec_read_points(lua_State *, int table, bool named, model *);

/* monitors.c: the key monitors, likewise; the boundary is known too */
void spec_read_monitors(lua_State *, int table, bool named, model *);

/* tune.c: the key tune, of grids (whose dimensions are known) and of patterns */
void spec_read_tune(lua_State *, int table, model *);
void spec_read_pattern_tune(lua_State *, int table, const pattern_words *, model *);

/* stencil.c */
#define SPEC_SPEC "spec"
typedef struct spec_value {
    subject *subject;
} spec_value;

int spec_stencil(lua_State *);
int spec_convolution(lua_State *);
extern const spec_key spec_stencil_keys[], spec_convolution_keys[];

/* system.c */
int spec_system(lua_State *);
extern const spec_key spec_system_keys[];

/* model.c. What every family's function begins and ends with. spec_begin takes the table that is
   its only argument and checks the keys. It makes an empty model with line, file, name and dtype
   (one of the first `dtypes`; DTYPE_FLOAT without the key). spec_end pushes the value that stands
   for the subject. */
model *spec_begin(lua_State *, const char *function, const spec_key *keys, int dtypes);
int spec_end(lua_State *, int family, model *expressions, void *family_model);
void spec_check_range(lua_State *, dtype, const char *what, double value); /* also: whole */
/* Finishes the model; and finishes it again, with numbers in place of parameters. */
void spec_finish_model(lua_State *, model *, const expr_id outputs[MAX_FIELDS]);
/* The same, where taps of the load's pool have other numbers of arrays: arrays[i] is the model's,
   NULL: they have the same. */
void spec_finish_stage(lua_State *, model *, const expr_id outputs[MAX_FIELDS], const int *arrays);
/* Adds the parameters among these nodes of the load's pool. */
void spec_collect_sides(lua_State *, model *, const model *of); /* those that its sides name */
void spec_collect_parameters(lua_State *, model *, const bool *live);
void spec_collect_attached(lua_State *, model *); /* those of points and monitors */
void spec_put_constants(lua_State *, const subject *, const spec_constants *);

/* lists.c: what the families of lists share (gen/lists/pattern.h) */
/* Names the operands of the model's functions to come. */
void spec_operands(lua_State *, model *, const char *const *names, int count);
/* Calls the function at the key with the first `operands` of them and a table of parameters; its
   result is the model's next output. Where the key is absent, it is false and the output holds the
   place. `truth`: it gives a condition, else a number. */
bool spec_read_function(lua_State *, int table, const char *key, model *, int operands, bool truth);
/* The key's number or param "name" as the model's next output, a function without operands;
   `fallback` where it is absent. */
void spec_read_value(lua_State *, int table, const char *key, model *, double fallback);
/* An output that is no function: it holds the place of a function that is not given. */
void spec_no_function(lua_State *, model *);
/* Finishes the functions' model. Afterwards outputs that are no functions are EXPR_NONE. */
void spec_finish_functions(lua_State *, model *);
/* The keys algorithm, format (where the words have formats) and schedule. */
void spec_read_pattern(lua_State *, int table, const pattern_words *, pattern_schedule *out);

/* The keys op, identity and commutative. The model's next output is the function, or holds its
   place. Returns −1 and fills *out; or returns the index of one of up to SPEC_MORE_OPERATORS more
   names. */
enum { SPEC_MORE_OPERATORS = 4 };
int spec_read_operator(lua_State *, int table, model *, const char *const *more, int more_count,
                       pattern_operator *out);

/* families.c: the functions that make specs; the list ends with a NULL name */
typedef struct spec_maker {
    const char *name;
    lua_CFunction call;
    const spec_key *keys;
    const char *summary;
} spec_maker;
extern const spec_maker spec_makers[];

#endif
