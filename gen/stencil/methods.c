/* The table of methods, and what several of them share. */
#include "gen/stencil/method.h"

#include <math.h>
#include <string.h>

#define DECLARED(name) extern const method method_##name;
METHOD_TABLE(DECLARED)

static const method automatic = {.name = "auto",
                                 .summary = "the fastest of the others by the planner's model"};

#define ADDRESS(name) &method_##name,
const method *const methods[METHODS] = {&automatic, METHOD_TABLE(ADDRESS)};

int method_find(const char *name, size_t length) {
    for (int m = 0; m < METHODS; m++)
        if (strlen(methods[m]->name) == length && memcmp(methods[m]->name, name, length) == 0)
            return m;
    return -1;
}

int fused_fewer_by_halves(const plan *p, int steps) {
    (void)p;
    return steps / 2 > 1 ? steps / 2 : 1;
}

int fused_seconds(const model *m, int outputs) {
    int count = 0;
    for (int o = 0; o < outputs; o++)
        count += m->fields[m->outputs[o].field].levels > 1;
    return count;
}

int fused_second_grid(const model *m, int output) {
    return m->fields[m->outputs[output].field].levels > 1
               ? model_grids(m, m->field_count) + fused_seconds(m, output)
               : -1;
}

bool fused_is_image(int boundary) {
    return boundary == BOUNDARY_CLAMP || boundary == BOUNDARY_MIRROR;
}

bool fused_has_images(const model *m) {
    for (int axis = 0; axis < m->dims; axis++)
        for (int side = 0; side < 2; side++)
            if (fused_is_image(m->sides[axis][side].kind) &&
                (side == 0 ? m->low : m->high)[axis] > 0)
                return true;
    return false;
}

static int count_boxes(const model *m) {
    return fused_seconds(m, m->output_count) > 0 ? 3 : 2;
}

int64_t fused_lay_boxes(plan *p) {
    const model *m = p->facts->model;
    int64_t box = 1, elements = 0;
    const int boxes = count_boxes(m);
    for (int k = 0; k < AXES; k++) {
        p->block[k] = 1;
        p->tile[k] = p->per_block[k] = p->axes[k] < 0 ? 1 : p->schedule.tile[p->axes[k]];
        p->fused.round_halo[k] = p->schedule.time * larger(p->low[k], p->high[k]);
        box *= p->tile[k] + p->fused.round_halo[k] * (int64_t)2;
    }
    for (int i = 0; i < p->array_count; i++) {
        plan_array *a = &p->arrays[i];
        const model_array *of = &m->arrays[a->array];
        const int64_t newest = i > 0 ? p->arrays[i - 1].shared : 0; /* of a previous level */
        const int64_t at = of->previous ? newest + box * 2 : elements;
        a->staged = true;
        a->shared = at < INT32_MAX ? (int)at : 0;
        if (!of->previous)
            elements += box * (m->fields[of->field].use == USE_INOUT ? boxes : 1);
    }
    return elements;
}

const char *fused_refuse_sides(const model *m) {
    if (model_has_own_sides(m))
        return "the cells beyond an end are the same for all fields, and one has a boundary of its "
               "own";
    if (model_has_given_sides(m))
        return "the values of cells beyond a boundary are compiled in, and one is given at launch";
    return NULL;
}

const char *fused_refuse(const model *m) {
    bool read = false;
    if (fused_refuse_sides(m) != NULL)
        return fused_refuse_sides(m);
    for (int o = 0; o < m->output_count; o++) {
        const int array = model_array_of(m, m->outputs[o].field, false);
        read |= array >= 0 && m->arrays[array].used;
    }
    return read ? NULL : "no field is both read and written, so there are no steps to make";
}

void plan_write_triple(text *t, const char *name, const int v[AXES]) {
    text_printf(t, "    static constexpr int %s_x = %d, %s_y = %d, %s_z = %d;\n", name, v[0], name,
                v[1], name, v[2]);
}

void fused_write_round(text *t, const plan *p) {
    text_printf(t, "    static constexpr int time = %d, boxes = %d; // of an array that changes\n",
                p->schedule.time, count_boxes(p->facts->model));
    plan_write_triple(t, "halo_low", p->fused.round_halo);
    plan_write_triple(t, "halo_high", p->fused.round_halo);
}

void fused_write_levels(text *t, const plan *p) {
    const model *m = p->facts->model;
    text_add(t, "// Of an array with a previous level, the one with the newest level; else -1.\n"
                "template <int array> struct Previous;\n");
    for (int i = 0; i < p->array_count; i++)
        text_printf(t, "template <> struct Previous<%d> { static constexpr int of = %d; };\n", i,
                    m->arrays[p->arrays[i].array].previous ? i - 1 : -1);
    text_add(
        t,
        "// Of an output with two levels, where the older one goes: a grid, and the place of its "
        "messages; else -1.\n"
        "template <int output> struct Second;\n");
    for (int o = 0, message = m->output_count; o < m->output_count; o++) {
        const int grid = fused_second_grid(m, o);
        text_printf(
            t, "template <> struct Second<%d> { static constexpr int grid = %d, message = %d; };\n",
            o, grid, grid < 0 ? -1 : message++);
    }
    text_add(t, "\n");
}

void plan_write_rows(text *t, const plan *p) {
    const plan_facts *f = p->facts;
    text_add(t, "// The rows of x that a point's taps read.\ntemplate <int row> struct Row;\n");
    for (int r = 0; r < f->row_count; r++)
        text_printf(
            t,
            "template <> struct Row<%d> { static constexpr int array = %d, dy = %d, dz = %d, "
            "low = %d, high = %d; };\n",
            r, p->kernel_array[f->rows[r].array], f->rows[r].dy, f->rows[r].dz, f->rows[r].low,
            f->rows[r].high);
    text_add(t, "\n");
}

/* ---- what the second-level cache keeps ------------------------------------------------------- */

/* A launch moves all of its arrays between a write and the read of it in the next launch. Shares of
   the cache that hold them all, and none: 7 points in float, H200 (60 MB), ask memory for nothing
   at 128x128x128 and 2048x2048 (17 and 34 MB), and for everything at 192x192x192 (57 MB). */
double plan_in_cache(const plan *p, const int64_t size[AXES]) {
    static const double all = 0.6, none = 0.9;
    const model *m = p->facts->model;
    const double bytes = model_bytes_per_point(m) * model_grid_points(m, size);
    return fmin(fmax((none - bytes / p->gpu->l2_bytes) / (none - all), 0), 1);
}

/* ---- the order of walks ---------------------------------------------------------------------- */

/* An acoustic wave reads one of its four arrays so, and takes 1.03 to 1.13 times as long on an H100
   if walks take turns. A lattice's populations are each read on one side alone. */
bool plan_shares_rows(const model *m) {
    const int axis = m->dims - 1;
    int used = 0, shared = 0;
    for (const model_array *a = m->arrays; a < m->arrays + m->array_count; a++) {
        used += a->used;
        shared += a->used && a->low[axis] + a->high[axis] > 1;
    }
    return 2 * shared >= used;
}

/* What a wave of blocks reads and writes stays in the second-level cache if it is so small, and
   then another order only costs: Cahn-Hilliard in double, walks of 8 rows, 17 of an H200's 63
   MB, 1.04 times the time; of 16 rows, 35 MB, 0.98. */
int plan_ordered_wave(const plan *p) {
    static const double share = 0.5;
    const int blocks = p->blocks * p->gpu->multiprocessors;
    const double wave =
        (double)blocks * p->tile[0] * p->walk * model_bytes_per_point(p->facts->model);
    return wave > share * p->gpu->l2_bytes && plan_shares_rows(p->facts->model) ? blocks : 0;
}

void write_walk_order(text *t, int blocks) {
    if (blocks > 0)
        text_printf(t,
                    "#define PLAN_WAVE %d // blocks that run at a time; their walks take turns\n",
                    blocks);
}
