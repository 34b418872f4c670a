/* Lines, their entrants, and what their figures say. */
#include <stdlib.h>
#include <string.h>

#include "primitives.h"

const part_functions *const parts[PARTS] = {
    [PART_REDUCE] = &primitives_reduce,
    [PART_SCAN] = &primitives_scan,
    [PART_MERGE] = &primitives_merge,
    [PART_SPMV] = &primitives_spmv,
    [PART_CONVOLUTION] = &primitives_convolution,
};

bool line_wanted(const bench *b, part p, const char *kind, const char *dtype, const char *data) {
    const options *o = &b->options;
    return listed(o->parts, parts[p]->word) && listed(o->kinds, kind) && listed(o->dtypes, dtype) &&
           listed(o->data, data);
}

line *line_add(bench *b, const line *l) {
    b->lines = must_have(realloc(b->lines, (size_t)(b->count + 1) * sizeof *b->lines));
    line *place = &b->lines[b->count++];
    *place = *l;
    entrant_add(place, "auto", NULL);
    for (int i = 0; i < b->schedules.count; i++)
        entrant_add(place, "schedule", b->schedules.items[i]);
    return place;
}

entrant *entrant_add(line *l, const char *name, const char *schedule) {
    l->entrants = must_have(realloc(l->entrants, (size_t)(l->count + 1) * sizeof *l->entrants));
    entrant *e = &l->entrants[l->count++];
    *e = (entrant){.name = name, .schedule = schedule, .ours = true};
    return e;
}

void entrant_fail(entrant *e, state state, const char *text) {
    free(e->error);
    e->state = state;
    e->error = must_have(strdup(text));
}

const char *state_word(const entrant *e, bool timed) {
    static const char *const words[] = {[STATE_WAITS] = "left out",
                                        [STATE_REFUSED] = "refused",
                                        [STATE_FAILED] = "failed",
                                        [STATE_WRONG] = "wrong",
                                        [STATE_RIGHT] = "right"};
    return e->state == STATE_RIGHT && !timed ? words[STATE_WAITS] : words[e->state];
}

const entrant *line_best(const line *l, timing t, bool ours) {
    const entrant *best = NULL;
    for (const entrant *e = l->entrants; e < l->entrants + l->count; e++)
        if (e->ours == ours && e->state == STATE_RIGHT && e->figures[t].timed &&
            (best == NULL || e->figures[t].seconds < best->figures[t].seconds))
            best = e;
    return best;
}

double line_ratio(const line *l, const entrant *e, timing t) {
    const entrant *rival = line_best(l, t, false);
    return rival != NULL && e->figures[t].timed ? rival->figures[t].seconds / e->figures[t].seconds
                                                : 0;
}

double line_of_copy(const line *l, const entrant *e, timing t) {
    return e->figures[t].timed ? l->copy[t] / e->figures[t].seconds : 0;
}

/* Multiply-adds of floats a cycle and multiprocessor: CUDA C++ Programming Guide, table of
   arithmetic throughput. */
static int lanes(const char *arch) {
    const int number = strncmp(arch, "sm_", 3) == 0 ? atoi(arch + 3) : 0;
    return number == 0 ? 0 : number < 80 || number == 80 ? 64 : 128;
}

double line_of_peak(const bench *b, const line *l, const entrant *e, timing t) {
    const double peak =
        2.0 * b->facts.multiprocessors * lanes(b->facts.arch) * bench_clock_highest(b->device);
    return peak > 0 && l->operations > 0 && e->figures[t].timed
               ? l->operations / e->figures[t].seconds / peak
               : 0;
}

/* Goals of lists. They are above 1 if one launch does the work of two, and if a rival is far
   from the speed of a copy. */
static double goal_of_list(const line *l) {
    enum { SMALL = 1 << 16, LARGE = 1 << 24, LARGEST = 1 << 28 };
    const bool pairs = strcmp(l->kind, "pairs") == 0;
    const int64_t n = l->size[0];
    if (l->part == PART_REDUCE)
        return n <= SMALL ? 1.3 : 1;
    if (l->part == PART_MERGE)
        return n == SMALL ? 1.3 : pairs && n >= LARGE ? 1.2 : 1;
    return n < LARGEST ? 1 : dtype_is_short(l->dtype) ? 1 : dtype_bytes(l->dtype) == 4 ? 1.1 : 1.03;
}

/* Goals of products. They are above 1 if the matrix is a stencil, and if diagonals or blocks
   make indices unnecessary. */
static double goal_of_product(const line *l) {
    if (strncmp(l->data, "poisson", 7) == 0)
        return 3;
    return strcmp(l->data, "banded") == 0 || strcmp(l->data, "blocked") == 0 ? 1.3 : 1;
}

double line_goal(const line *l) {
    if (l->part == PART_SPMV)
        return goal_of_product(l);
    return l->part == PART_CONVOLUTION ? 1 : goal_of_list(l);
}
