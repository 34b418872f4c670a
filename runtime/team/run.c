/* sg_team_arrange and sg_team_run: launches on a part, and exchanges in between.

   A launch that makes several steps takes the part with its ghost cells for a whole grid. What it
   makes of the outermost cells is wrong, by the shape's reach for each step, and that is as deep as
   the ghost cells are: they are filled anew before they are read. A launch of one step updates a
   box: the rank's own cells, and as many ghost cells round them as later launches read before the
   next exchange. */
#include <string.h>

#include "base/text.h"
#include "runtime/team/team.h"

/* ---- arranging ------------------------------------------------------------------------------- */

typedef struct arranging {
    sg_team *team;
    const sg_kernel *kernel;
    sg_team_part *out;
    bool again; /* for launches that all ranks know */
} arranging;

/* The steps for which ghost cells last between two exchanges. */
static int64_t depth_of(const sg_team_part *part) {
    return part->steps * (part->launches > 1 ? part->launches : 1);
}

/* The ghost cells that steps, and the monitors of the spec, read. */
static void find_widths(const sg_kernel *k, int64_t depth, int64_t low[3], int64_t high[3]) {
    parts_widths(k->program, depth, low, high);
    for (int i = 0; i < k->info.monitors; i++)
        for (int axis = 0; axis < PROGRAM_AXES; axis++) {
            const kernel_monitor *m = &k->monitors[i];
            low[axis] = larger(low[axis], m->low[axis]);
            high[axis] = larger(high[axis], m->high[axis]);
        }
}

/* The cells of a part that ghost cells of these widths, and mirrors that turn a map's reads back,
   need along an axis. */
static int64_t needed_by_maps(const sg_kernel *k, int axis, int64_t low, int64_t high) {
    int64_t needed = larger(low, high);
    for (int i = 0; i < k->info.monitors; i++) {
        const kernel_monitor *m = &k->monitors[i];
        if (!m->mirrors[axis])
            continue;
        needed = larger(needed, 1 + larger(m->low[axis] - high, m->high[axis] - low));
    }
    return needed;
}

/* A monitor may read further than the steps, by which the process grid was chosen. */
static void judge_widths(job *j, const sg_kernel *k, const sg_team_part *part, const int64_t low[3],
                         const int64_t high[3]) {
    const program *p = k->program;
    for (int axis = 0; axis < p->dims; axis++) {
        const int64_t least = part->global[axis] / part->ranks[axis];
        const int64_t needed = needed_by_maps(k, axis, low[axis], high[axis]);
        if (part->ranks[axis] > 1 && least < needed)
            job_fail(j, FAULT_PLAN, NULL, 0,
                     "'%s': a part would have %s along %c, and what a monitor reads needs %lld: "
                     "take fewer ranks along that axis",
                     p->name, text_count(j, least, "cell"), "xyz"[axis], (long long)needed);
    }
}

static void arrange_part(job *j, const sg_team *t, const sg_kernel *k, sg_team_part *part) {
    const program *p = k->program;
    int64_t low[3], high[3], points = 1;
    if (!program_is_grid(p))
        context_refuse(j, "'%s' is no stencil, of which alone a team runs parts", p->name);
    for (int axis = 0; axis < PROGRAM_AXES; axis++) {
        int64_t *size = &part->global[axis];
        if (*size == 0 && axis >= p->dims)
            *size = 1;
        if (*size < 1 || *size > LAUNCH_MOST_BYTES / points || (axis >= p->dims && *size > 1))
            context_refuse(j, "a grid of '%s' cannot have the size %lld along %c", p->name,
                           (long long)*size, "xyz"[axis]);
        points *= *size;
    }
    if (part->launches < 0 || part->launches > 1000)
        context_refuse(j, "%d launches between two exchanges; 1 to 1000 can be", part->launches);
    parts_choose(j, p, t->transport.ranks, part->ranks, false, part);
    find_widths(k, depth_of(part), low, high);
    judge_widths(j, k, part, low, high);
    parts_place(p, t->transport.rank, low, high, part);
}

/* A process grid that is given to sg_team_build need not be given again. */
static void recall(job *j, const sg_team *t, const sg_kernel *k, sg_team_part *part) {
    const digest source = team_digest(k);
    const team_division *d = team_find(t, &source);
    bool open = true, same = true;
    if (d == NULL || d->ranks[0] == 0)
        return;
    for (int axis = 0; axis < PROGRAM_AXES; axis++) {
        open = open && part->ranks[axis] == 0;
        same = same && (part->ranks[axis] > 0 ? part->ranks[axis] : 1) == d->ranks[axis];
    }
    if (!open && !same)
        context_refuse(j,
                       "'%s' was built for %s ranks, and its part is for %dx%dx%d: leave the "
                       "process grid of the part 0",
                       k->program->name, parts_text(j, k->program, d->ranks), part->ranks[0],
                       part->ranks[1], part->ranks[2]);
    memcpy(part->ranks, d->ranks, sizeof d->ranks);
}

static void arrange_own(job *j, void *argument) {
    const arranging *a = argument;
    sg_team_part part;
    if (a->kernel == NULL)
        context_refuse(j, "there is no kernel");
    context_expect(j, a->out, "sg_team_part");
    context_read(j, &part, sizeof part, a->out, "sg_team_part");
    if (!a->again)
        recall(j, a->team, a->kernel, &part);
    arrange_part(j, a->team, a->kernel, &part);
    run_check_points(j, a->kernel, &part);
    context_write(j, a->out, &part, sizeof part, "sg_team_part");
}

/* Where it is not given, how often to exchange is what rank 0 finds best. */
static void choose_launches(job *j, void *argument) {
    arranging *a = argument;
    const program *p = a->kernel->program;
    sg_team *t = a->team;
    sg_team_part part;
    context_read(j, &part, sizeof part, a->out, "sg_team_part");
    int32_t mine = part.launches, *all = job_array(j, (size_t)t->transport.ranks, sizeof *all);
    if (mine == 0)
        mine = part.steps > 1 || a->kernel->points != NULL
                   ? 1
                   : parts_launches(model_link_of(t), model_rate_of(t), p, &part);
    team_gather(j, t, &mine, sizeof mine, all);
    part.launches = all[0];
    context_write(j, a->out, &part, sizeof part, "sg_team_part");
}

static void arrange(job *j, void *argument) {
    arranging *a = argument;
    team_together(j, a->team, arrange_own, a);
    choose_launches(j, a);
    a->again = true;
    team_together(j, a->team, arrange_own, a);
}

sg_status sg_team_arrange(sg_team *team, const sg_kernel *kernel, sg_team_part *part) {
    arranging a = {.team = team, .kernel = kernel, .out = part};
    return team_run(team, arrange, &a);
}

/* ---- running --------------------------------------------------------------------------------- */

/* With one step between exchanges, ghost cells of a previous level are those that the current one
   had. */
int run_stale(const run *r, bool first, int out[LAUNCH_ARRAYS]) {
    const program *p = r->kernel->program;
    int count = 0;
    for (int i = 0; i < p->array_count; i++) {
        const program_array *a = &p->arrays[i];
        bool is_read = r->depth > 1 || program_reaches(a), changed = first;
        for (int w = 0; w < p->array_count; w++) {
            const program_array *to = &p->arrays[w];
            if (!to->written)
                continue;
            is_read = is_read || (to->grid.reads == i && to->grid.previous >= 0 &&
                                  program_reaches(&p->arrays[to->grid.previous]));
            changed = changed || to->grid.reads == i || (r->depth > 1 && to->grid.previous == i);
        }
        if (!a->written && is_read && changed)
            out[count++] = i;
    }
    return count;
}

/* Whether a neighbour to which this rank sends may not send to it: then it does not hear when that
   one has read its ghost cells. */
static bool is_one_sided(const run *r) {
    const program *p = r->kernel->program;
    for (int axis = 0; axis < PROGRAM_AXES; axis++)
        if (r->part.ranks[axis] > 1 && (p->grid.low[axis] == 0) != (p->grid.high[axis] == 0))
            return true;
    return false;
}

void run_fill(job *j, run *r, bool first, void *stream) {
    int stale[LAUNCH_ARRAYS];
    const int count = run_stale(r, first, stale);
    r->halo.crowded = stream == r->team->side && r->part.steps > 1;
    halo_exchange(j, &r->halo, &r->launch, stale, count, r->final, r->written || is_one_sided(r),
                  stream);
    r->fresh = r->depth;
    r->written = false;
}

/* The box of a single step: the rank's own cells and ghost cells for the steps that follow. */
static void place_box(run *r, const leap *by, int64_t left) {
    const program *p = r->kernel->program;
    const bool single = by->way == steps_single(p).way;
    const int64_t after = (left < r->fresh ? left : r->fresh) - 1;
    r->launch.whole = true;
    for (int axis = 0; axis < PROGRAM_AXES; axis++) {
        const int64_t low = r->part.low[axis], high = r->part.high[axis];
        const int64_t below = low > 0 ? low - after * p->grid.low[axis] : 0;
        const int64_t above = high > 0 ? high - after * p->grid.high[axis] : 0;
        r->launch.begin[axis] = single ? below : 0;
        r->launch.end[axis] = r->part.size[axis] - (single ? above : 0);
    }
    r->written = r->written || !single || after > 0 || p->grid.call_count > 0;
}

void run_send(job *j, const run *r, launch *l, const leap *by, void *stream) {
    int code = 0;
    if (steps_send(r->kernel, l, by, stream, &code) != FAULT_NONE)
        launch_fail(j, r->kernel, code);
}

/* What reads ghost cells on the caller's stream waits for an exchange on the side stream. */
static void join_side(job *j, run *r) {
    device *d = r->kernel->context->device;
    if (r->beside)
        d->ops->order(d, j, r->team->side, r->stream);
    r->beside = false;
}

/* Makes a launch; its exchange comes with it where it can be hidden, else before the launch that
   needs it. */
static void make_launch(job *j, run *r, const leap *by, const leap *next, int64_t left) {
    place_box(r, by, left);
    if (left > by->steps && r->points == NULL && hidden_make(j, r, by, next))
        return;
    join_side(j, r);
    run_send(j, r, &r->launch, by, r->stream);
    r->launch.cleared = true;
    /* Neighbours find levels in arrays: they know of no layers. */
    if (by->steps > 1 && program_has_seconds(r->kernel->program))
        steps_settle(j, r->kernel, &r->launch, r->final, r->stream);
    else
        steps_rotate(r->kernel->program, &r->launch, r->final);
    r->fresh -= by->steps;
}

/* ---- the run --------------------------------------------------------------------------------- */

/* The next of so many steps. */
static leap choose_leap(const run *r, int64_t left) {
    return steps_choose(r->kernel->program, r->part.global,
                        left < r->part.steps ? left : r->part.steps, false, r->launch.seconds);
}

static void make_steps(job *j, run *r) {
    const sg_team *t = r->team;
    r->halo.given = alike_of(r);
    r->halo.compares = t->stores == NULL && t->nccl == NULL;
    halo_show(j, &r->halo, &r->launch);
    if (t->stores == NULL && t->nccl != NULL)
        alike_agree(j, r);
    if (r->halo.compares && r->count == 0)
        halo_compare(j, &r->halo);
    for (int64_t done = 0; done < r->count;) {
        const int64_t left = r->count - done;
        const leap by = choose_leap(r, left), next = choose_leap(r, left - by.steps);
        if (r->fresh < by.steps) {
            join_side(j, r);
            run_fill(j, r, done == 0, r->stream);
        }
        r->halo.compares = false;
        if (r->points != NULL)
            run_before_step(j, r, done);
        make_launch(j, r, &by, &next, left);
        done += by.steps;
        r->launch.step += by.steps;
        if (r->points != NULL)
            run_after_step(j, r, done);
    }
    join_side(j, r);
}

/* Whether the part is what sg_team_arrange makes. */
static void read_part(job *j, run *r) {
    const program *p = r->kernel->program;
    context_read(j, &r->part, sizeof r->part, r->given, "sg_team_part");
    sg_team_part again = r->part;
    arrange_part(j, r->team, r->kernel, &again);
    for (int axis = 0; axis < PROGRAM_AXES; axis++)
        if (again.size[axis] != r->part.size[axis] || again.begin[axis] != r->part.begin[axis] ||
            again.end[axis] != r->part.end[axis] || again.low[axis] != r->part.low[axis] ||
            again.ranks[axis] != r->part.ranks[axis])
            context_refuse(j, "the part of '%s' is not from sg_team_arrange with this kernel",
                           p->name);
    r->part.steps = again.steps;
}

static void check_arguments(job *j, run *r) {
    const program *p = r->kernel->program;
    if (r->arguments != NULL)
        for (int axis = 0; axis < PROGRAM_AXES; axis++)
            if (r->arguments->begin[axis] != 0 || r->arguments->end[axis] != 0)
                context_refuse(j, "a team updates the whole grid: leave the box of '%s' out",
                               p->name);
    if (r->arguments != NULL)
        for (int axis = 0; axis < PROGRAM_AXES; axis++)
            if (r->arguments->origin[axis] != 0 || r->arguments->global[axis] != 0)
                context_refuse(j,
                               "a team knows where the parts of '%s' lie: leave origin and "
                               "global out",
                               p->name);
    /* Of one step too: ghost cells of what is read are written, from others' arrays. */
    launch_check(j, r->kernel, r->arguments, USE_STEPS, &r->launch);
    for (int axis = 0; axis < PROGRAM_AXES; axis++) {
        r->launch.origin[axis] = r->part.begin[axis] - r->part.low[axis];
        r->launch.global[axis] = r->part.global[axis];
    }
    for (int axis = 0; axis < p->dims; axis++) {
        const long long given = r->launch.size[axis], needed = r->part.size[axis];
        if (given != needed)
            context_refuse(j,
                           "the arrays of '%s' have %s along %c; this rank's part with its ghost "
                           "cells has %lld",
                           p->name, text_count(j, given, "cell"), "xyz"[axis], needed);
    }
}

void run_open(job *j, run *r, bool corners) {
    const program *p = r->kernel->program;
    int64_t low[3], high[3];
    for (int i = 0; i < p->array_count; i++)
        r->final[i] = i;
    read_part(j, r);
    check_arguments(j, r);
    r->depth = depth_of(&r->part);
    find_widths(r->kernel, r->depth, low, high);
    corners = corners || p->grid.corners || r->depth > 1;
    r->halo = (halo){.team = r->team, .kernel = r->kernel};
    r->halo.send_count = parts_faces(p, &r->part, low, high, corners, true, r->halo.sends);
    r->halo.receive_count = parts_faces(p, &r->part, low, high, corners, false, r->halo.receives);
}

static void run_own(job *j, run *r) {
    const program *p = r->kernel->program;
    int stale[LAUNCH_ARRAYS];
    steps_allow(j, p, r->count);
    if (r->kernel->points != NULL && r->points == NULL)
        context_refuse(j, "'%s' has points: run it by sg_team_run_points", p->name);
    run_open(j, r, false);
    run_check_points(j, r->kernel, &r->part);
    const int count = run_stale(r, true, stale);
    halo_prepare(j, &r->halo, stale, count);
    hidden_prepare(j, r);
    r->written = true;
    if (r->halo.send_count + r->halo.receive_count == 0 && r->points == NULL && !parts_narrow(p))
        steps_make(j, r->kernel, &r->launch, r->count, r->stream, r->final);
    else
        make_steps(j, r);
    if (r->out != NULL)
        names_final(p, &r->launch, r->final, r->out);
}

static void run_part(job *j, void *argument) {
    run *r = argument;
    if (r->kernel == NULL)
        context_refuse(j, "there is no kernel");
    run_own(j, r);
}

sg_status run_team_steps(run *r) {
    const sg_status status = team_run(r->team, run_part, r);
    if (status != SG_OK && r->team != NULL)
        team_abandon(r->team, sg_error(r->team->context));
    return status;
}

sg_status sg_team_run(sg_team *team, const sg_kernel *kernel, const sg_team_part *part,
                      const sg_arguments *arguments, int64_t steps, sg_stream stream, int *final) {
    return run_team_steps(&(run){.team = team,
                                 .kernel = kernel,
                                 .given = part,
                                 .arguments = arguments,
                                 .count = steps,
                                 .stream = stream,
                                 .out = final});
}
