/* A method: one way to run a stencil. Everything that the project knows of it stands in its file of
   methods/, which fills one struct. The planner, `explain`, `tune`, the tests and the documents
   walk the table of methods. Takes: a plan that has its facts, schedule and GPU. Makes: the rest
   of it. */
#ifndef SG_GEN_STENCIL_METHOD_H
#define SG_GEN_STENCIL_METHOD_H

#include "base/program.h"
#include "gen/model/gpu.h"
#include "gen/stencil/plan.h"

struct search;

/* What differs between the methods of one step a launch whose blocks make a tile each (block.c). */
typedef struct block_form {
    int64_t (*registers)(const plan *); /* of a thread */
    int64_t (*elements)(const plan *,
                        const plan_array *); /* of an array in shared memory; NULL: none */
    void (*traffic)(plan *); /* sets loads_per_point and shared_per_point of the estimate */
    double (*instructions)(const plan *); /* a point */
    double (*cycles)(const plan *); /* from a block's start to its end, if waiting alone counted;
                                       NULL: a thread loads its points one after the other */
    double (*edge)(
        const plan *); /* the share by which a block at an edge takes longer; NULL: none */
    double (*edge_cycles)(
        const plan *); /* of a thread there that makes its points one by one; NULL: none does */
    bool spills;       /* a thread that needs too many registers is no reason to refuse */
} block_form;

/* One template of a method, and what holds for each of its kernels. */
struct form {
    const char *file; /* under templates/ */
    bool barriers;    /* it has barriers or operations of warps */
    bool staged;      /* arrays whose neighbours are read lie in shared memory … */
    bool staged_all;  /* … or all arrays do */
    bool bare_tile;   /* without the halo */
    bool places;      /* plan.h says where in shared memory each array lies, also where it is not a
                         tile */
    bool sums;        /* it adds up planes (add_plane of plan.h) instead of making points … */
    bool points;      /* … or does both */
    bool rows;        /* of sums: row by row of each plane (add_row) */
    bool plain;       /* plan.h need not say how far each array is read */
    bool packs;       /* it serves rows of packs alone: other calls take a spare … */
    bool (*packs_of)(const plan *); /* … if this holds of the plan; NULL: it does */
    bool awaits;      /* addresses of global memory follow from await_with (arch/launches.cuh) */
    bool one_way;     /* its blocks do not ask where they stand (Arguments::inner_first) */
    bool narrow;      /* it serves cells of 16 bits */
    bool scales;      /* sums are of a scaled sum (gen/model/model.h), where the update is one */
    bool constant;    /* keeps the weights in constant memory */
    bool positions;   /* of several steps: it serves updates that ask for positions */
    bool cooperative; /* of several steps: its blocks wait for each other */
    bool unrated;     /* rates of plans files are those of the method's other templates */
    bool (*tables)(const plan *); /* of sums: weights are a table in constant memory; NULL: no */
    const block_form *block;      /* NULL: the method lays out its own threads */

    /* Completes a plan that has its facts, schedule, form, GPU and axes, but for its cost: NULL, or
       the refusal. With `block` both may be NULL: they are block_fit and block_cost. */
    const char *(*fit)(job *, plan *);
    void (*at_size)(plan *, const int64_t size[AXES]); /* before the cost: what the size that is
                                                          planned for decides of the kernel */
    void (*cost)(plan *, const int64_t size[AXES]);    /* fills the estimate, of a launch */
    void (*spare)(plan *); /* makes the spare's plan of the kernel's; NULL: they are the same */
    /* Its lines of plan.h: macros, constants of struct plan, and definitions after those of arrays.
       `packs`: for the kernel itself, not its spare. `only_written`: some array is written and not
       read. */
    void (*macros)(text *, const plan *, bool packs, bool only_written);
    const model *(*sums_of)(job *, const plan *); /* whose sums are kept; NULL: the plan's model */
    void (*constants)(text *, const plan *);
    void (*definitions)(text *, const plan *);
    /* `at` makes divisions and roots (templates/arch/quotients.cuh); NULL: it does not */
    bool (*quick)(const plan *, bool packs);
    void (*needs)(
        const plan *,
        program_needs *);      /* what a call must have for this kernel; other calls take a spare */
    int (*lane)(const plan *); /* program_launch.lane; NULL: 1 */
    bool (*abreast)(const plan *); /* program_launch.abreast; NULL: no */
    bool (*box)(const plan *, const plan_array *,
                int box[AXES]); /* of an array, what the kernel fetches by a bulk copy; false: the
                                   plan has none */
    bool (*box_more)(const plan *, const plan_array *, int which,
                     int box[AXES]); /* and box number `which` besides; false: there is none */
    bool (*rows_of_pack)(const plan *, const plan_array *,
                         int box[AXES]); /* and its spare of every `vector`-th row, where rows begin
                                            anywhere; false: it has no bulk copies */

    /* Of several steps a launch. fewer: how many steps a shorter launch of the same kernel makes;
       1, or NULL: there is none. together: how many of the `rest` steps that whole launches leave
       are made by these (NULL: all); the others are single steps. shorten: how a shorter launch
       differs (NULL: not at all). */
    int (*fewer)(const plan *, int steps);
    int (*together)(const plan *, int rest);
    void (*shorten)(const plan *, program_launch *);
};

typedef struct method {
    const char *name, *summary; /* what specs and reports call it, and a sentence for `explain` */
    unsigned keys;              /* the optional keys of schedules that it has: bits of
                                   gen/stencil/plan.h */
    bool serial;                /* a block is one thread: it suits processors, and no GPU */
    bool fused;                 /* makes several steps a launch, at least two */
    bool chains;                /* it makes stages one after the other, and nothing else */
    bool walks_open;            /* how far blocks walk is chosen last, by the grid's size */
    int textbook_tile; /* the textbook's input tile along an axis; 0: none is in shared memory */
    enum { WALKS_NONE, WALKS_LAST, WALKS_PLANES } walks; /* the last axis, also in 1D or not */
    int (*last)(int dims); /* the grid axis that becomes the kernel's last, where the kernel leaves
                              out another one; NULL: the walked one */

    /* Why it cannot serve this model under such a schedule, or NULL. */
    const char *(*refuse)(job *, const plan_facts *, const schedule *);
    const form *only; /* the template that serves; NULL: `form` says which */
    const form *(*form)(const plan_facts *, const schedule *);
    void (*candidates)(struct search *); /* tries the schedules worth comparing */
} method;

/* The table, in the order in which reports and documents list the methods. A method is a row here
   and a file of methods/. methods[0] is `auto`, which is no method. */
#define METHOD_TABLE(ROW)                                                                          \
    ROW(naive)                                                                                     \
    ROW(tiled)                                                                                     \
    ROW(coarsened)                                                                                 \
    ROW(register)                                                                                  \
    ROW(constant)                                                                                  \
    ROW(cached_halo)                                                                               \
    ROW(streamed)                                                                                  \
    ROW(bulk)                                                                                      \
    ROW(chained)                                                                                   \
    ROW(temporal)                                                                                  \
    ROW(resident)                                                                                  \
    ROW(rows)                                                                                      \
    ROW(overlapped)
#define METHOD_COUNT(name) +1
enum { METHODS = 1 METHOD_TABLE(METHOD_COUNT) };
extern const method *const methods[METHODS];

/* The method of a name of `length` bytes, or −1. */
int method_find(const char *name, size_t length);

static inline const method *plan_method(const plan *p) {
    return methods[p->schedule.method];
}

static inline bool plan_has_packs(const plan *p) {
    return p->form->packs && (p->form->packs_of == NULL || p->form->packs_of(p));
}

/* Whether the rows of a grid, which lie one behind the other, are no packs, so that a spare kernel
   loads their points one by one. */
static inline bool plan_takes_spare(const plan *p, const int64_t size[AXES]) {
    return plan_has_packs(p) && p->facts->model->dims > 1 && size[0] % p->schedule.vector != 0;
}

/* ---- what methods share ---------------------------------------------------------------------- */

/* The grid axis that a method walks, −1: none. */
static inline int method_walk(const method *m, int dims) {
    const bool walks = m->walks == WALKS_LAST || (m->walks == WALKS_PLANES && dims > 1);
    return walks ? dims - 1 : -1;
}

/* How many words of 32 bits a number of the model's dtype has. */
static inline int plan_words(const plan *p) {
    return (int)dtype_words[p->facts->model->dtype].bytes / 4;
}

/* Instructions of a point that asks whether it lies away from the edges, where no selection by its
   place is left. A kernel of packs asks once for several points. Of a cavity's flow, on an H200. */
static inline double plan_selection_instructions(const plan *p) {
    enum { TOGETHER = 3, ALONE = 40 };
    return p->facts->selections == 0 ? 0 : p->schedule.vector > 1 ? TOGETHER : ALONE;
}

/* Of plan.h: the rows of x that taps read, and name_x, name_y, name_z. */
void plan_write_rows(text *, const plan *);
void plan_write_triple(text *, const char *name, const int v[AXES]);
/* Of forms that are told how many steps to make. */
int fused_fewer_by_halves(const plan *, int steps);

/* How many of the first so many outputs have two levels; and the grid that takes the level before
   an output's newest one: the layers follow the arrays (−1: it has one level). */
int fused_seconds(const model *, int outputs);
int fused_second_grid(const model *, int output);

/* Whether cells beyond a side are images of others; whether those beyond some side are, as far as
   the shape reaches. */
bool fused_is_image(int boundary);
bool fused_has_images(const model *);

/* Lays the boxes of a block that keeps its tile with the halo of a round, which is the same below
   and above, as templates have it: of each array one, of those that change two, or three where a
   field has two levels, of which the older one has the third. The elements of shared memory. And
   its lines of plan.h: constants, and definitions. */
int64_t fused_lay_boxes(plan *);
void fused_write_round(text *, const plan *);
void fused_write_levels(text *, const plan *);

/* Why several steps cannot share a launch, or NULL: where their code has the rules beyond the ends;
   or where no step reads what another has made. */
const char *fused_refuse_sides(const model *);
const char *fused_refuse(const model *);

/* Lays the threads, registers and shared memory of a plan whose form has a block_form; and its
   cost. */
const char *block_fit(job *, plan *);
void block_cost(plan *, const int64_t size[AXES]);

/* Pieces of block forms. Instructions: of a point without its expression, of the expression, of
   what is staged by tiles (a barrier and a copy each) or by planes, of loads. */
double block_point_instructions(void);
double block_arithmetic(const plan *);
double block_staging(const plan *);
double block_walk_staging(const plan *);
double block_load_instructions(const plan *);
/* Elements that a block stages for each point it makes, and taps of arrays that are not staged. The
   traffic of a block whose taps all come from there. */
double block_staged(const plan *);
double block_own_taps(const plan *);
void block_staged_traffic(plan *);
/* From the start to the end of a block that stages a tile, or walks; and of its loads. */
double block_tile_cycles(const plan *);
double block_walk_cycles(const plan *);
double block_load_cycles(const plan *);
/* The edge of a block that stages. */
double block_edge(const plan *);
double block_tile_edge(const plan *); /* of tiles whose halo is found cell by cell */
/* Constants of a block that walks. */
void block_write_walk(text *, const plan *);
/* Elements of a plane of the tile with its halo. */
int64_t block_box(const plan *, const plan_array *);
static inline int64_t block_least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* How many times as long blocks take in which a warp stands at an end of x: it goes both ways, of
   which the second takes `both` of a point's time, and the block's other warps wait for it. */
double edges_of_x(const plan *, const int64_t size[AXES], double both);

/* What the edges of a grid cost blocks that make a tile each (edges.c). */
/* The share of blocks that lie near an edge. */
double edges_share(const plan *, const int64_t size[AXES]);

/* How many times as long the whole grid takes because some blocks lie near an edge. */
double edges_longer(const plan *, const int64_t size[AXES]);

/* Seconds of blocks that make points at an edge one after the other, given the waves of blocks. */
double edges_seconds(const plan *, const int64_t size[AXES], double waves);

/* Instructions by which warps at the edges make a point longer, on average. */
double edges_instructions(const plan *, const int64_t size[AXES]);

/* Seconds that a thread at an edge takes, however few there are. */
double edges_alone(const plan *);

/* The same for so many points whose taps all ask where they lie. */
double edges_points(const plan *, double points);

/* The share of a short row's points that are made, where threads read global memory. */
double edges_made_share(const plan *, const int64_t size[AXES]);

/* Blocks that run at a time, where their walks take turns (plan_ordered_wave); nothing where it is
 * 0. */
void write_walk_order(text *, int blocks);

/* Of the methods for processors (methods/rows.c), whose blocks are one thread each: instructions of
   a vector that a core begins in a cycle, as such loops have them, and of a vector of points;
   points that are made between two stores, which are whole lines of memory; a block of one thread;
   and what one costs on a GPU, where it waits for its loads one after the other. */
extern const double rows_rate;
double rows_instructions(const plan *);
int rows_run(const plan *);
void rows_lay_thread(plan *);
void rows_cost_on_gpu(plan *, const int64_t size[AXES]);

#endif
