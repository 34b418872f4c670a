/* Candidates for several steps a pass. Takes: a search. Makes: plans with their costs. The tile is
   what a lane's points, the threads and the halo for all steps leave of it. */
#include "gen/model/limits.h"
#include "gen/stencil/search.h"

#include <math.h>

enum { MOST = 16, LEAST_WALK = 16, MOST_WAVES = 6, FEW_PARTS = 6 };

/* What is tried where the constraints leave it open. Lists end with 0. */
static const int line_lanes[MOST] = {6, 10, 12, 14, 18, 20, 22, 26, 28, 30, 36, 44, 52, 60};
static const int line_times[MOST] = {8, 16, 24, 32, 48, 64, 96, 128};
static const int pipeline_lanes[MOST] = {4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 18, 20, 22, 24};
static const int pipeline_stages[MOST] = {1, 2, 4, 6, 8};
static const int pipeline_levels[MOST] = {1, 2, 3, 4, 6, 8};
static const int levels_times[MOST] = {2, 3, 4, 5, 6, 8};
static const int levels_lanes[MOST] = {8, 16, 32}; /* that share a row */
static const int levels_threads[MOST] = {128, 192, 256, 384, 512, 768, 1024};
static const int levels_rows[MOST] = {2, 3, 4, 5, 6, 8}; /* of a patch; each is a pack along x */

static int given(int wanted, int choice) {
    return wanted != 0 ? wanted : choice;
}

static int element_bytes(const search *s) {
    return (int)dtype_words[s->facts->model->dtype].bytes;
}

static void try_walk(search *s, const plan *fitting, int axis, double parts) {
    const double walk = ceil((double)s->size[axis] / parts);
    plan *p = job_alloc(s->job, sizeof *p);
    *p = *fitting;
    plan_walk_fused(p, walk > 65536 ? 65536 : walk < LEAST_WALK ? LEAST_WALK : (int)walk);
    plan_cost_fused(p, s->size);
    search_keep(s, p);
}

/* How far blocks walk decides how many waves of blocks there are: a few parts of the walked axis,
   and as many as fill the multiprocessors once, twice … */
static void try_walks(search *s, const plan *fitting, int axis) {
    double columns = 1;
    for (int k = 0; k < LANE_AXES; k++)
        if (fitting->axes[k] >= 0 && fitting->axes[k] != axis)
            columns *= ceil((double)s->size[fitting->axes[k]] / fitting->per_block[k]);
    const double wave = (double)s->target->multiprocessors * plan_resident(fitting);
    for (int parts = 1; parts <= FEW_PARTS; parts++)
        try_walk(s, fitting, axis, parts);
    for (int waves = 1; waves <= MOST_WAVES; waves++) {
        const double parts = floor(waves * wave / columns);
        if (parts > FEW_PARTS)
            try_walk(s, fitting, axis, parts);
    }
}

/* Complete but for how far it walks. */
static void try_candidate(search *s, schedule candidate) {
    const int dims = s->facts->model->dims, axis = plan_walk_axis(candidate.method, dims);
    for (int k = 0; k < AXES; k++) {
        if (candidate.tile[k] == 1 && (k >= dims || k == axis))
            candidate.tile[k] = 0;
        if (candidate.coarsen[k] == 1 && k != axis)
            candidate.coarsen[k] = 0;
    }
    if (candidate.passes > 1) {
        search_refuse(s, "it has no passes; convolutions have");
        return;
    }
    candidate.passes = 0;
    if (!search_is_new(s, &candidate))
        return;
    const char *refusal;
    plan *p = plan_fit(s->job, s->facts, &candidate, s->target, &refusal);
    if (p == NULL) {
        search_refuse(s, refusal);
    } else if (axis >= 0 && candidate.coarsen[axis] == 0) {
        try_walks(s, p, axis);
    } else {
        plan_cost_fused(p, s->size);
        search_keep(s, p);
    }
}

/* A tile that the caller does not give is what is left of `width` points; false where nothing is.
 */
static bool leave(search *s, schedule *candidate, int k, int width, int halo) {
    if (candidate->tile[k] != 0)
        return true;
    candidate->tile[k] = width - halo;
    if (width > halo)
        return true;
    search_refuse(s, job_print(s->job, "the halo of %d steps takes all %d points along %c",
                               candidate->time, width, axis_names[k]));
    return false;
}

/* Time steps beyond those of a run are of no use. */
static bool is_useful(const search *s, int time) {
    return s->wanted->time != 0 || s->steps <= 1 || time <= s->steps;
}

/* The widest loads for which every strip begins at a whole pack. */
static int widest(const search *s, int tile, int halo) {
    int vector = MAX_PACK_BYTES / element_bytes(s);
    while (vector > 1 && (tile % vector != 0 || halo % vector != 0))
        vector /= 2;
    return vector;
}

static void try_lines(search *s) {
    const model *m = s->facts->model;
    const int pack = MAX_PACK_BYTES / element_bytes(s);
    for (int l = 0; line_lanes[l] != 0; l++)
        for (int t = 0; line_times[t] != 0; t++) {
            schedule c = *s->wanted;
            c.method = METHOD_TEMPORAL;
            c.time = given(c.time, line_times[t]);
            c.lane[0] = given(c.lane[0], line_lanes[l]);
            c.vector = given(c.vector, pack);
            if (is_useful(s, c.time) &&
                leave(s, &c, 0, WARP * c.lane[0],
                      round_up(c.time * m->low[0], pack) + round_up(c.time * m->high[0], pack)))
                try_candidate(s, c);
        }
}

static void try_pipelines(search *s) {
    const model *m = s->facts->model;
    for (int l = 0; pipeline_lanes[l] != 0; l++)
        for (int g = 0; pipeline_stages[g] != 0; g++)
            for (int t = 0; pipeline_levels[t] != 0; t++) {
                schedule c = *s->wanted;
                c.method = METHOD_TEMPORAL;
                c.lane[0] = given(c.lane[0], pipeline_lanes[l]);
                c.stages = given(c.stages, pipeline_stages[g]);
                c.time = given(c.time, c.stages * pipeline_levels[t]);
                const int before = c.time * m->low[0];
                if (!is_useful(s, c.time) ||
                    !leave(s, &c, 0, WARP * c.lane[0], before + c.time * m->high[0]))
                    continue;
                c.vector = given(c.vector, widest(s, c.tile[0], before));
                try_candidate(s, c);
            }
}

/* 3D: by the points of a lane, the lanes of a row, and the threads. */
static void try_levels(search *s, int rows, int lanes, int threads) {
    const model *m = s->facts->model;
    const int lane[LANE_AXES] = {MAX_PACK_BYTES / element_bytes(s), rows};
    for (int t = 0; levels_times[t] != 0; t++) {
        schedule c = *s->wanted;
        c.method = METHOD_TEMPORAL;
        c.time = given(c.time, levels_times[t]);
        for (int k = 0; k < LANE_AXES; k++)
            c.lane[k] = given(c.lane[k], lane[k]);
        const int wide = MAX_PACK_BYTES / element_bytes(s);
        c.vector = given(c.vector, c.lane[0] < wide ? c.lane[0] : wide);
        if (is_useful(s, c.time) &&
            leave(s, &c, 0, lanes * c.lane[0],
                  round_up(c.time * m->low[0], c.lane[0]) +
                      round_up(c.time * m->high[0], c.lane[0])) &&
            leave(s, &c, 1, threads / lanes * c.lane[1], c.time * (m->low[1] + m->high[1])))
            try_candidate(s, c);
    }
}

/* Tiles of which every multiprocessor has about one, and others. */
static void try_residents(search *s) {
    static const int tiles[AXES][MOST][AXES] = {
        {{256}, {512}, {1024}, {2048}, {4096}},
        {{32, 8}, {32, 16}, {64, 8}, {32, 32}, {64, 16}, {64, 32}, {64, 64}},
        {{16, 8, 8}, {16, 16, 8}, {32, 8, 8}, {16, 16, 16}, {32, 16, 8}, {32, 16, 16}}};
    static const int times[MOST] = {2, 3, 4, 6, 8, 12, 16};
    const int dims = s->facts->model->dims;
    for (int i = 0; i < MOST && tiles[dims - 1][i][0] != 0; i++)
        for (int t = 0; times[t] != 0; t++) {
            schedule c = *s->wanted;
            c.method = METHOD_RESIDENT;
            c.time = given(c.time, times[t]);
            c.vector = given(c.vector, 1);
            for (int axis = 0; axis < dims; axis++)
                c.tile[axis] = given(c.tile[axis], tiles[dims - 1][i][axis]);
            if (is_useful(s, c.time))
                try_candidate(s, c);
        }
}

void search_fused(search *s, method m) {
    if (m == METHOD_RESIDENT) {
        try_residents(s);
        return;
    }
    switch (s->facts->model->dims) {
    case 1:
        try_lines(s);
        break;
    case 2:
        try_pipelines(s);
        break;
    default:
        for (int r = 0; levels_rows[r] != 0; r++)
            for (int l = 0; levels_lanes[l] != 0; l++)
                for (int t = 0; levels_threads[t] != 0; t++)
                    try_levels(s, levels_rows[r], levels_lanes[l], levels_threads[t]);
        break;
    }
}
