/* Families: what a spec may ask for, one row of a table each. Everything above gen/ goes through
   this table and asks no family which one it is. Takes: a subject, which is one checked spec of a
   file. Makes: its program; rows for `explain`; data for a check, and the verdict on what a kernel
   made of them. */
#ifndef SG_GEN_MODEL_FAMILY_H
#define SG_GEN_MODEL_FAMILY_H

#include "base/program.h"
#include "gen/model/gpu.h"
#include "gen/model/model.h"

typedef struct family family;
struct matrix;
struct packed_matrix;
struct space_builder; /* gen/space/space.h */

typedef struct subject {
    const family *family;
    const char *name; /* an identifier */
    const char *file; /* the spec and the line it stands in, for messages only */
    int line;
    dtype dtype;
    model *expressions; /* the parameters and functions of the spec; of a stencil the model
                           itself */
    void *model;        /* the family's own: a model, or what begins with a pattern */
} subject;

typedef struct family_request {
    const char *schedule; /* the caller's constraints, which overrule the spec's own; NULL: none */
    const gpu *gpu;
    int64_t size[AXES];          /* to plan for; unused axes 1 */
    int64_t steps;               /* time steps that a run will make, at least 1; with more than one,
                                    `auto` may fuse several into a launch */
    const struct matrix *matrix; /* spmv: the matrix to choose the format for; NULL: none is
                                    known */
    struct matrix_notes *notes;  /* spmv: what earlier requests of this spec found out about that
                                    matrix, one request at a time; NULL: nothing is kept */
    bool untold; /* only the plan and its launches are asked for: families of lists then leave out
                    the texts of the model and of the source, whose length is the user's */
} family_request;

typedef struct family_build {
    const program *program;
    const char *shape, *model, *plan, *reason, *boundary; /* as sg_text has them; never NULL */
    const char *header;                                   /* plan.h alone */
    const char *board; /* the board whose plans (gen/model/plans.h) decided; NULL: the model
                          alone */
    int points, radius;
    double textbook_operations, emitted_operations; /* a point */
} family_build;

/* What `explain` says of one method or algorithm. Texts live in the job. Numbers are 0 where the
   family does not count so. */
typedef struct family_row {
    const char *name;
    const char *plan;    /* NULL where it refuses, */
    const char *refusal; /* and why */
    const char *note;    /* the textbook's count of its work, or the storage of a format; NULL */
    bool chosen;
    double textbook_tile; /* width of the textbook's cubic input tile; 0: it has none */
    double textbook_operations_per_byte, textbook_limit; /* at that tile, and in the limit of large
                                                            tiles */
    double loads_bytes_per_point, operations_per_byte;   /* by this plan */
    size_t shared_bytes;                                 /* a block */
    int threads;                                         /* a block */
    int registers;                                       /* a thread, estimated */
    int64_t blocks;    /* of lists: blocks of the main launch at the size planned for */
    double seconds;    /* a step, estimated */
    const char *bound; /* what limits it by the model; "" */
} family_row;

typedef struct family_explanation {
    const char *shape, *boundary; /* as in family_build */
    const char *reason;           /* why `auto` chooses what it does, or why nothing can serve */
    int points;
    double textbook_operations, emitted_operations; /* a point */
    double multiplications, additions, others;      /* of the emitted ones; 0 where not counted */
    double bytes_per_point;                         /* the fewest bytes that must cross device
                                                       memory */
    const char *memory; /* what the arrays of a grid take; NULL: no grid */
    family_row *rows;   /* one a method, algorithm or format */
    int row_count;
} family_explanation;

/* One call of a program of lists, on the host. Arrays stand by the program's index, dense, as long
   as their extents say; NULL where there is none. */
typedef struct family_call {
    int64_t *sizes;
    double *parameters;
    void **arrays;
} family_call;

enum { VERDICT_PLACE = 128 };
typedef struct family_verdict {
    int64_t judged, wrong, undecidable;
    double greatest_error, of_bound; /* as in sg_check_result */
    double largest;                  /* in size, of the right values */
    char first_wrong[VERDICT_PLACE]; /* "output at 17: 3 instead of 4"; "" */
    condition_sides unjudged;        /* sides of conditions that hardly any element took */
} family_verdict;

/* Functions of families; see the members below. */
typedef void family_print(const subject *, model_detail, text *);
typedef family_build *family_builder(job *, const subject *, const family_request *);
typedef void family_explain(job *, const subject *, const family_request *, family_explanation *);
typedef void family_draw(job *, const subject *, const program *, const int64_t size[AXES],
                         int kind, const double *given, uint64_t seed, family_call *out);
typedef void family_judge(job *, const subject *, const program *, const family_call *before,
                          const family_call *after, family_verdict *out);
typedef void family_draw_given(job *, const subject *, const program *,
                               const struct packed_matrix *, const double *given, uint64_t seed,
                               family_call *out);
typedef void family_judge_given(job *, const subject *, const program *, const struct matrix *,
                                const family_call *before, const family_call *after,
                                family_verdict *out);

/* Data for a program of lists, and the verdict on what was made of it. */
typedef struct family_lists {
    const struct pattern_words *words; /* of its schedules */
    const struct space_table *space;   /* what tuning tries */

    /* kinds: the kinds of data, up to a NULL. "random" comes first; others are "constant",
       "sorted", "reversed", "few", "wild" (with NaNs and infinities), or kinds of matrices. alike:
       the data are the same for every plan of a spec. draw: makes arguments of about the given size
       and of kinds[kind], as the seed says. Parameters are those `given`; where that is NULL they
       are the defaults, or drawn where there are none. Written arrays are NULL, but those that are
       `updated` hold what they are before. judge: says what a launch made of `before`; of `after`
       only the written arrays are set. */
    const char *const *kinds;
    bool alike;
    family_draw *draw;
    family_judge *judge;

    /* Of PROGRAM_PRODUCT: family_request.notes for a matrix; and the same two with a given matrix.
       draw_given makes a call whose first arrays are those of the packed matrix, which outlives the
       call; x, y and the factors are drawn. judge_given judges by the matrix itself, and so also
       how it was packed. */
    struct matrix_notes *(*notes_new)(job *);
    family_draw_given *draw_given;
    family_judge_given *judge_given;
} family_lists;

struct family {
    const char *name;  /* of the function in specs: "reduce" */
    program_kind kind; /* of its programs */
    const char *summary;
    int (*dims)(const subject *); /* of the size to plan for */

    /* What the spec means, in canonical text: specs that mean the same print the same, without
       their schedules and what a plan adds. Tuning results are kept by its MODEL_MEANING. */
    family_print *print;

    /* The constraints of the spec, and then those of a line (NULL: none), as one line. */
    void (*wanted)(job *, const subject *, const char *line, text *);

    /* Whether such a line is a schedule of the family: fails with FAULT_USAGE where it is none. */
    void (*check_schedule)(job *, const family *, const char *line);

    /* Plans of a plans file are found by a spec's key, or also by a class: "scan # bytes", where #
       stands for a number. NULL: by the key alone. */
    const char *plans_classes[2];

    /* The line of the plan that a build of the request makes. Fails as `build` does. */
    const char *(*plan)(job *, const subject *, const family_request *);

    /* Tuning. space_agrees: whether a value of `tune`, "tile=32x8", agrees with the constraints of
       the spec and the request. space_fill: fills in the space's axes, its candidates and its usual
       plan. */
    bool (*space_agrees)(const struct space_builder *, const char *value);
    void (*space_fill)(struct space_builder *);

    /* Spec to program. Fails with FAULT_PLAN where the schedule cannot serve, FAULT_USAGE where the
       request makes no sense. */
    family_builder *build;

    /* What each method, algorithm or format would do with a spec. A refusal is an answer. Fails
       where no plan of a family of lists can serve. */
    family_explain *explain;

    /* What judges a launch, by the kind. */
    union {
        struct {
            /* Of grids: what the reference (gen/reference/reference.h) evaluates cell by cell. */
            const model *(*model)(const subject *);
            /* Of systems: its stages; NULL: there are none, and the model is all. */
            const struct system_model *(*system)(const subject *);
        } grid;
        family_lists lists; /* of all other kinds */
    };
};

#endif
