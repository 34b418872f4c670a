/* temporal for updates that keep no partial sums, for several fields and levels, and at boundaries
   whose cells follow others: planes fall through the levels of time (templates/cascade.cu). 2D and
   3D. */
#include "gen/stencil/methods/temporal.h"

#include <string.h>

enum {
    CASCADE_AHEAD = 3, /* planes that are copied ahead of need, where there are few bytes of each */
    SCHEDULERS = 4,    /* of a multiprocessor */
    MOST_BITS = 32,    /* points of a patch: a bit each */
    MOST_ACROSS = 8,   /* of them along an axis: marks of an edge */
    MOST_TERMS = 240,  /* of a patch's update, whose code is unrolled: with 500 NVRTC takes 45 s */
};

static bool copies(const plan *p, int k, int side) {
    if (p->axes[k] < 0 || (side == 0 ? p->low : p->high)[k] == 0)
        return false;
    return fused_is_image(p->facts->model->sides[p->axes[k]][side].kind);
}
static bool mirrors(const plan *p, int k, int side) {
    return copies(p, k, side) && p->facts->model->sides[p->axes[k]][side].kind == BOUNDARY_MIRROR;
}

/* A row of taps along the kernel's axis z. */
static int row_dz(const plan *p, const plan_row *r) {
    return p->axes[1] < 0 ? r->dy : r->dz;
}

int cascade_output_of(const plan *p, int array) {
    const model *m = p->facts->model;
    for (int o = 0; o < m->output_count; o++)
        if (m->outputs[o].field == m->arrays[p->arrays[array].array].field)
            return o;
    return -1;
}
static bool is_previous(const plan *p, int array) {
    return p->facts->model->arrays[p->arrays[array].array].previous;
}

/* The furthest plane that a row of taps needs put: its own, or, where it lies before the first one,
   that of which it is an image. */
static int needed_plane(const plan *p, int dz) {
    return dz >= 0 || !copies(p, 2, 0) ? dz : mirrors(p, 2, 0) ? -dz : 0;
}

/* How far behind the newest plane of its state rows read, those with neighbours of y alone. */
typedef struct span {
    int least, most; /* planes back; most < least: none */
} span;
static span rows_back(const plan *p, int array, int behind) {
    span s = {1 << 20, -1};
    for (int i = 0; i < p->facts->row_count; i++) {
        const plan_row *r = &p->facts->rows[i];
        if (p->kernel_array[r->array] != array || cascade_row_dy(p, r) == 0)
            continue;
        s.least = smaller(s.least, behind - needed_plane(p, row_dz(p, r)));
        s.most = larger(s.most, behind - row_dz(p, r));
    }
    return s;
}

static int previous_of(const plan *p, int output) {
    for (int i = 0; i < p->array_count; i++)
        if (is_previous(p, i) && cascade_output_of(p, i) == output)
            return i;
    return -1;
}

/* A level is so far behind the one before that it finds what it reads: in registers what that one
   has just made, in shared memory what it put there before. */
static void find_lag(const plan *p, cascade *c) {
    c->lag = p->high[2];
    if (mirrors(p, 2, 0))
        c->lag = larger(c->lag, p->low[2]);
    for (int i = 0; i < p->array_count; i++) {
        const span s = rows_back(p, i, 0);
        if (cascade_output_of(p, i) >= 0 && s.most >= s.least)
            c->lag = larger(c->lag, 1 - s.least);
    }
    c->window = c->lag + p->low[2] + 1;
    for (int i = 0; i < p->array_count; i++)
        if (is_previous(p, i))
            c->window = larger(c->window, 2 * c->lag + p->arrays[i].low[2] + 1);
    if (copies(p, 2, 1))
        c->window = larger(c->window, 2 * p->high[2] + 1);
}

static void lay_level(const plan *p, cascade *c, int output) {
    cascade_level *l = &c->level[output];
    const int previous = previous_of(p, output);
    span s = rows_back(p, l->array, c->lag);
    if (previous >= 0 && p->schedule.time > 2) {
        const span before = rows_back(p, previous, 2 * c->lag);
        s.least = smaller(s.least, before.least);
        s.most = larger(s.most, before.most);
    }
    l->slots = s.most < s.least ? 0 : s.most - s.least + 2;
    l->back = s.least - 1;
    if (l->slots == 0)
        l->back = 0;
    for (int i = 0; i < p->facts->row_count && l->slots > 0; i++) {
        const plan_row *r = &p->facts->rows[i];
        if (cascade_output_of(p, p->kernel_array[r->array]) == output &&
            cascade_row_dy(p, r) != 0 && copies(p, 2, 0))
            l->images = larger(l->images, -row_dz(p, r));
    }
}

static int ring_slots(const plan *p, const cascade *c, int array) {
    const int output = cascade_output_of(p, array), time = p->schedule.time;
    int most = 0;
    if (output < 0) {
        most = time * c->lag + p->arrays[array].low[2];
    } else if (is_previous(p, array)) {
        most = c->lag + p->arrays[array].low[2];
    } else {
        const int previous = previous_of(p, output);
        most = larger(most, rows_back(p, array, c->lag).most);
        if (previous >= 0)
            most = larger(most, rows_back(p, previous, 2 * c->lag).most);
    }
    return most + 1 + c->ahead;
}

static int64_t plane_of(const plan *p) {
    return (int64_t)p->fused.width[0] * p->fused.width[1];
}

void cascade_lay(const plan *p, cascade *c) {
    const model *m = p->facts->model;
    memset(c, 0, sizeof *c);
    for (int k = 0; k < AXES; k++) {
        const bool both = mirrors(p, k, 0) || mirrors(p, k, 1);
        const int most = larger(p->low[k], p->high[k]);
        c->below[k] = both ? most : p->low[k];
        c->above[k] = both ? most : p->high[k];
    }
    c->ahead = m->dims == 2 ? CASCADE_AHEAD : 2;
    find_lag(p, c);
    const int64_t plane = plane_of(p);
    for (int i = 0; i < p->array_count; i++) {
        c->slots[i] = ring_slots(p, c, i);
        c->place[i] = (int)c->elements;
        c->elements += plane * c->slots[i];
    }
    for (int o = 0; o < m->output_count; o++) {
        for (int i = 0; i < p->array_count; i++)
            if (cascade_output_of(p, i) == o && !is_previous(p, i))
                c->level[o].array = i;
        lay_level(p, c, o);
        c->level[o].place = (int)c->elements;
        c->elements += plane * c->level[o].slots * (p->schedule.time - 1);
    }
    c->tables = (int)c->elements;
    c->elements += p->fused.width[0] + p->fused.width[1]; /* each at least as large as an int */
}

/* ---- registers and shared memory ------------------------------------------------------------- */

/* The windows of all levels; and what a step has in flight: lines that come from shared memory, and
   what it makes. */
static int64_t cascade_registers(const plan *p, const cascade *c) {
    const schedule *s = &p->schedule;
    const int64_t points = (int64_t)s->lane[0] * s->lane[1],
                  outputs = p->facts->model->output_count;
    int64_t lines = 0;
    for (int i = 0; i < p->facts->row_count; i++) {
        const plan_row *r = &p->facts->rows[i];
        const bool shared =
            cascade_row_dy(p, r) != 0 || cascade_output_of(p, p->kernel_array[r->array]) < 0;
        lines += r->low + r->high + (shared ? s->lane[0] : 0);
    }
    lines = lines < 48 ? lines : 48;
    return 38 + 3 * p->array_count +
           plan_words(p) * (points * outputs * (s->time * c->window + 1) + lines);
}

static const char *lay_width(job *j, plan *p, const cascade *c) {
    const schedule *s = &p->schedule;
    plan_fused *f = &p->fused;
    for (int k = 0; k < LANE_AXES; k++) {
        const bool is = p->axes[k] >= 0;
        const int tile = is ? s->tile[k] : 1;
        f->halo_low[k] = round_up(s->time * c->below[k], k == 0 ? s->vector : 1);
        f->width[k] = round_up(tile + f->halo_low[k] + s->time * c->above[k], s->lane[k]);
        f->halo_high[k] = f->width[k] - f->halo_low[k] - tile;
        p->tile[k] = p->per_block[k] = tile;
    }
    return temporal_lay_threads(j, p);
}

static const char *fit(job *j, plan *p) {
    temporal_begin(p);
    plan_set_walk(p, p->schedule.coarsen[plan_walk_axis(p)]);
    const schedule *s = &p->schedule;
    const int bytes = (int)dtype_words[p->facts->model->dtype].bytes;
    const int pack = smaller(MAX_PACK_BYTES / bytes, s->lane[0]);
    cascade c;
    if (p->axes[1] < 0 && s->lane[1] > 1)
        return "a thread holds points along y only in 3D";
    if (s->vector != pack || s->lane[0] % pack != 0)
        return job_print(j, "lane=%d: it loads packs of %d elements", s->lane[0],
                         MAX_PACK_BYTES / bytes);
    if (s->lane[0] > MOST_ACROSS || s->lane[1] > MOST_ACROSS || s->lane[0] * s->lane[1] > MOST_BITS)
        return job_print(j, "lane: a thread holds at most %dx%d points, and %d in all", MOST_ACROSS,
                         MOST_ACROSS, MOST_BITS);
    const int terms = p->facts->all_taps * s->lane[0] * s->lane[1];
    if (terms > MOST_TERMS)
        return job_print(
            j,
            "the update of a thread's %dx%d points has %d terms, and at most %d are compiled fast",
            s->lane[0], s->lane[1], terms, MOST_TERMS);
    const char *refusal = temporal_check_lane(j, p, 0);
    cascade_lay(p, &c);
    if (refusal == NULL)
        refusal = lay_width(j, p, &c);
    if (refusal != NULL)
        return refusal;
    /* A mirror has only one image of a cell where the grid is wider than the shape reaches. */
    for (int k = 0; k < AXES; k++)
        if (copies(p, k, 0) || copies(p, k, 1))
            p->least[k] = larger(p->low[k], p->high[k]) + 1;
    cascade_lay(p, &c);
    if (c.elements > INT32_MAX / 8)
        return "tile: its planes are too large for shared memory";
    refusal = temporal_check_registers(j, p, cascade_registers(p, &c));
    /* Blocks of a warp share the registers of a scheduler: as many for each of the four. */
    if (plan_threads(p) == WARP && p->blocks > SCHEDULERS)
        p->blocks -= p->blocks % SCHEDULERS;
    return refusal != NULL ? refusal : plan_take_shared(j, p, c.elements * bytes);
}

/* ---- the form -------------------------------------------------------------------------------- */

static void constants(text *t, const plan *p) {
    const schedule *s = &p->schedule;
    cascade c;
    cascade_lay(p, &c);
    text_printf(t,
                "    static constexpr int time = %d, vector = %d;\n"
                "    static constexpr int lane_x = %d, lane_y = %d, lanes = %d;\n"
                "    static constexpr int halo_x = %d, halo_y = %d, walk = %d;\n"
                "    static constexpr int below_z = %d, above_z = %d; // that a step takes of the "
                "walk\n"
                "    static constexpr int lag = %d, window = %d, ahead = %d, rows = %d;\n"
                "    static constexpr int tables = %d; // a place in shared memory\n",
                s->time, s->vector, s->lane[0], s->lane[1], p->fused.lanes, p->fused.halo_low[0],
                p->fused.halo_low[1], p->walk, c.below[2], c.above[2], c.lag, c.window, c.ahead,
                p->facts->row_count, c.tables);
}

static void definitions(text *t, const plan *p) {
    const plan_facts *f = p->facts;
    cascade c;
    cascade_lay(p, &c);
    text_add(t, "// The rows of x that a point's taps read.\ntemplate <int row> struct Row;\n");
    for (int i = 0; i < f->row_count; i++) {
        const plan_row *r = &f->rows[i];
        text_printf(t,
                    "template <> struct Row<%d> { static constexpr int array = %d, dy = %d, dz = "
                    "%d, low = %d, high = %d; };\n",
                    i, p->kernel_array[r->array], cascade_row_dy(p, r), row_dz(p, r), r->low,
                    r->high);
    }
    text_add(t, "// The ring of an array, and the output that makes its values; still: none does.\n"
                "template <int array> struct Source;\n");
    for (int i = 0; i < p->array_count; i++)
        text_printf(t,
                    "template <> struct Source<%d> {\n"
                    "    static constexpr int output = %d, previous = %d, place = %d, slots = %d;\n"
                    "    static constexpr bool still = %s;\n};\n",
                    i, larger(cascade_output_of(p, i), 0), is_previous(p, i), c.place[i],
                    c.slots[i], cascade_output_of(p, i) < 0 ? "true" : "false");
    text_add(
        t, "// What levels put into shared memory; second: the grid that takes the last but one.\n"
           "template <int output> struct Level;\n");
    for (int o = 0; o < f->model->output_count; o++) {
        const cascade_level *l = &c.level[o];
        text_printf(t,
                    "template <> struct Level<%d> {\n"
                    "    static constexpr int array = %d, place = %d, slots = %d, back = %d, "
                    "images = %d, second = %d;\n};\n",
                    o, l->array, l->place, l->slots, l->back, l->images,
                    fused_second_grid(f->model, o));
    }
    text_add(t, "\n");
}

const form temporal_cascade = {.file = "cascade.cu",
                               .barriers = true,
                               .points = true,
                               .unrated = true,
                               .fit = fit,
                               .cost = cascade_cost,
                               .constants = constants,
                               .definitions = definitions};

/* ---- what is refused, and what is tried ------------------------------------------------------ */

const char *temporal_refuse_cascade(const plan_facts *f, const schedule *s) {
    const model *m = f->model;
    if (m->dims == 1)
        return "in 1D it makes several steps of one field by a linear update";
    if (fused_refuse_sides(m) != NULL)
        return fused_refuse_sides(m);
    for (int o = 0; o < m->output_count; o++) {
        const int field = m->outputs[o].field, array = model_array_of(m, field, false);
        if (m->fields[field].use != USE_INOUT || array < 0 || !m->arrays[array].used)
            return "it makes several steps of fields that are read and written, and one is written "
                   "alone";
    }
    if (m->output_count == 0)
        return "the update writes nothing";
    if (s->stages > 1)
        return "its time is a pipeline of stages only for one field and a linear update";
    return NULL;
}

static const int times[] = {2, 3, 4, 5, 6, 8, 10, 12, 16, 0};

static void try_tile(search *s, const int lane[LANE_AXES], int lanes, int threads) {
    const model *m = s->facts->model;
    for (int t = 0; times[t] != 0; t++) {
        schedule c = *s->wanted;
        c.time = search_given(c.time, times[t]);
        int halo[LANE_AXES] = {0};
        for (int k = 0; k < LANE_AXES; k++) {
            const bool both =
                m->sides[k][0].kind == BOUNDARY_MIRROR || m->sides[k][1].kind == BOUNDARY_MIRROR;
            const int most = larger(m->low[k], m->high[k]);
            c.lane[k] = search_given(c.lane[k], lane[k]);
            const int step = k == 0 ? smaller(search_widest(s), c.lane[0]) : 1;
            halo[k] = round_up(c.time * (both ? most : m->low[k]), step) +
                      round_up(c.time * (both ? most : m->high[k]), step);
        }
        c.vector = search_given(c.vector, smaller(search_widest(s), c.lane[0]));
        if (search_is_useful(s, c.time) && search_leave(s, &c, 0, lanes * c.lane[0], halo[0]) &&
            (m->dims == 2 || search_leave(s, &c, 1, threads / lanes * c.lane[1], halo[1])))
            search_fused(s, c);
    }
}

void temporal_try_cascades(search *s) {
    static const int heights[] = {1, 2, 4, 0}, rows[] = {8, 16, 32, 0};
    static const int threads[] = {128, 256, 384, 512, 640, 768, 1024, 0};
    const int wide = search_widest(s);
    if (s->facts->model->dims == 2) {
        for (int k = 1; k <= 2; k++)
            try_tile(s, (const int[LANE_AXES]){k * wide, 1}, WARP, WARP);
        return;
    }
    for (int h = 0; heights[h] != 0; h++)
        for (int r = 0; rows[r] != 0; r++)
            for (int t = 0; threads[t] != 0; t++)
                try_tile(s, (const int[LANE_AXES]){wide, heights[h]}, rows[r], threads[t]);
}
