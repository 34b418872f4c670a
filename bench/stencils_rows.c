/* The rows that the options ask for. */
#include <stdlib.h>
#include <string.h>

#include "stencils.h"

const char *const part_words[PARTS] = {"one-step", "steps", "small"};

enum { SMALL_STEPS = 1024, TINY_SMALL_STEPS = 64, SIZES = 4 };

/* Powers of two, the sizes of the rivals, and some that are multiples of nothing. */
static const int64_t large[AXES][SIZES][AXES] = {
    {{INT64_C(1) << 27, 1, 1}, {INT64_C(1) << 28, 1, 1}, {134217689, 1, 1}},
    {{8192, 8192, 1}, {16384, 16384, 1}, {16383, 8191, 1}},
    {{512, 512, 512}, {768, 768, 768}, {511, 511, 511}, {1000, 777, 333}},
};
static const int64_t small[AXES][SIZES][AXES] = {{{0}}, {{256, 256, 1}}, {{64, 64, 64}}};
/* Small sizes for the cpu device, to see that everything works. */
static const int64_t tiny[AXES][SIZES][AXES] = {
    {{4096, 1, 1}, {3001, 1, 1}}, {{96, 64, 1}, {101, 67, 1}}, {{40, 32, 24}, {37, 29, 23}}};

static void add(bench *b, const row *r) {
    if (!listed(b->options.methods, r->method))
        return;
    b->rows = must_have(realloc(b->rows, (size_t)(b->count + 1) * sizeof *b->rows));
    b->rows[b->count++] = *r;
}

/* ---- the rows of one line of the table ------------------------------------------------------- */

static void add_sweep(bench *b, row r) {
    r.method = "auto";
    add(b, &r);
    r.method = "schedule";
    for (int i = 0; i < b->schedules.count; i++) {
        r.schedule = b->schedules.items[i];
        add(b, &r);
    }
}

static void add_one_step(bench *b, row r) {
    r.method = "auto";
    add(b, &r);
    for (int i = 0; i < TEXTBOOK_METHODS; i++) {
        r.method = textbook[i].name;
        r.schedule = textbook[i].schedule[r.shape->dims - 1];
        add(b, &r);
    }
}

static void add_small(bench *b, row r) {
    r.way = WAY_LAUNCH;
    r.method = "launches";
    add(b, &r);
    r.way = WAY_GRAPH;
    r.method = "graph";
    add(b, &r);
    r.way = WAY_RUN;
    r.method = "auto";
    add(b, &r);
}

static void add_line(bench *b, const row *line) {
    row r = *line;
    r.way = r.part == PART_ONE_STEP ? WAY_LAUNCH : WAY_RUN;
    r.steps = r.part == PART_ONE_STEP ? 1 : b->options.steps;
    if (r.part == PART_SMALL)
        r.steps = b->options.tiny ? TINY_SMALL_STEPS : SMALL_STEPS;
    r.method = "auto";
    if (b->schedules.count > 0)
        add_sweep(b, r);
    else if (r.part == PART_ONE_STEP)
        add_one_step(b, r);
    else if (r.part == PART_SMALL)
        add_small(b, r);
    else
        add(b, &r);
}

/* ---- all lines ------------------------------------------------------------------------------- */

static int dims_of(const int64_t size[AXES]) {
    return size[2] > 1 ? 3 : size[1] > 1 ? 2 : 1;
}

static void add_sizes(bench *b, row *line) {
    const options *o = &b->options;
    const int dims = line->shape->dims;
    const int64_t(*sizes)[AXES] = o->tiny                    ? tiny[dims - 1]
                                  : line->part == PART_SMALL ? small[dims - 1]
                                                             : large[dims - 1];
    const bool given = o->size_count > 0;
    const int count = given ? o->size_count : SIZES;
    for (int i = 0; i < count; i++) {
        const int64_t *size = given ? o->sizes[i] : sizes[i];
        if (size[0] == 0 || dims_of(size) != dims)
            continue;
        memcpy(line->size, size, sizeof line->size);
        add_line(b, line);
    }
}

void rows_make(bench *b) {
    const options *o = &b->options;
    if (o->schedules != NULL)
        schedules_read(o->schedules, &b->schedules);
    for (int part = 0; part < PARTS; part++)
        for (int s = 0; s < SHAPES; s++)
            for (int wide = 0; wide < 2; wide++) {
                row line = {.part = (enum part)part, .shape = &shapes[s], .wide = wide != 0};
                if (listed(o->parts, part_words[part]) && listed(o->shapes, shapes[s].name) &&
                    listed(o->dtype, wide ? "double" : "float"))
                    add_sizes(b, &line);
            }
}

/* ---- what a row says ------------------------------------------------------------------------- */

bool rows_together(const row *a, const row *b) {
    return a->part == b->part && a->shape == b->shape && a->wide == b->wide &&
           memcmp(a->size, b->size, sizeof a->size) == 0;
}

double row_rate(const row *r) {
    return (double)(r->size[0] * r->size[1] * r->size[2]) / r->seconds;
}

double row_of_copy(const row *r) {
    return row_rate(r) * r->info.bytes_per_point / r->copy;
}

/* Sizes that are multiples of nothing may lose a tenth in one step. */
double row_goal(const row *r) {
    bool odd = false;
    for (int axis = 0; axis < r->shape->dims; axis++)
        odd = odd || r->size[axis] % 32 != 0;
    if (r->part == PART_SMALL)
        return 0;
    if (r->part == PART_STEPS)
        return r->shape->goal_of_bound;
    return (odd ? 0.9 : 1) * r->shape->goal_one_step;
}

int rows_fastest(const bench *b, int first, int end) {
    int best = -1;
    for (int i = first; i < end; i++)
        if (b->rows[i].timed && (best < 0 || b->rows[i].seconds < b->rows[best].seconds))
            best = i;
    return best;
}

int rows_estimated(const bench *b, int first, int end) {
    int best = -1;
    for (int i = first; i < end; i++)
        if (b->rows[i].timed && b->rows[i].estimate > 0 &&
            (best < 0 || b->rows[i].estimate < b->rows[best].estimate))
            best = i;
    return best;
}
