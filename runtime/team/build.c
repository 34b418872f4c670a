/* Building on every rank, and what a team would do with a spec by the model of docs/scaling.md. */
#include <string.h>

#include "base/hash.h"
#include "runtime/team/team.h"

typedef struct building {
    sg_team *team; /* NULL: for sg_team_estimate, which compiles nothing */
    sg_context *context;
    const char *path;
    const sg_build_options *given;
    int count; /* of ranks */
    const int *ranks;
    sg_kernel *kernel;
    sg_team_part part;    /* how it divides the grid */
    sg_build_options how; /* the last that was built, without compiling */
} building;

static void build_as(job *j, const building *b, const sg_build_options *how, sg_kernel **out) {
    context_must(j, b->context, sg_build(b->context, b->path, how, out));
}

static void release(void *kernel) {
    sg_release(kernel);
}

/* Divides the grid for the kernel. Whether parts are too thin for its longest launch: then the
   next build, if it is not the `last`, is for fewer steps. */
static bool divide(job *j, const building *b, const sg_kernel *k, const int *wanted, bool last,
                   sg_team_part *part, sg_build_options *how) {
    const program *p = k->program;
    if (!program_is_grid(p))
        context_refuse(j, "'%s' is no stencil, of which alone a team runs parts", p->name);
    parts_choose(j, p, b->count, wanted, !last, part);
    for (int axis = 0; axis < p->dims; axis++)
        how->size[axis] = (part->global[axis] - 1) / part->ranks[axis] + 1;
    if (part->steps == parts_steps(p, part->global, INT32_MAX))
        return false;
    const int64_t most = parts_most_steps(p, part);
    how->steps = how->steps < most ? how->steps : most;
    return true;
}

/* Launches of several steps compute ghost cells too: they are planned for a part with those. */
static void widen(const program *p, const sg_team_part *part, sg_build_options *how) {
    for (int axis = 0; axis < p->dims; axis++)
        if (part->ranks[axis] > 1)
            how->size[axis] += part->steps * (part->ranks[axis] == 2 && !p->grid.periodic[axis]
                                                  ? (p->grid.low[axis] + p->grid.high[axis] + 1) / 2
                                                  : p->grid.low[axis] + p->grid.high[axis]);
}

static void build_again(job *j, building *b, const sg_build_options *how) {
    sg_kernel *before = b->kernel;
    b->kernel = NULL;
    job_defer(j, release, before);
    build_as(j, b, how, &b->kernel);
    job_undo(j, before);
}

static void say_thin(job *j, const building *b, int64_t most) {
    const program *p = b->kernel->program;
    const sg_team_part *part = &b->part;
    if (b->team == NULL || b->team->transport.rank == 0)
        logger_say(&b->context->logger, j, SG_LOG_WARNING,
                   "'%s' makes %lld step%s a launch instead of %lld: parts of %s ranks are too "
                   "thin for the ghost cells of more",
                   p->name, (long long)part->steps, part->steps == 1 ? "" : "s", (long long)most,
                   parts_text(j, p, part->ranks));
}

/* Plans for the whole grid first, to know what is to be divided. */
static void build_own(job *j, void *argument) {
    building *b = argument;
    sg_team_part *part = &b->part;
    sg_build_options how;
    sg_kernel *whole = NULL;
    context_read(j, &how, sizeof how, b->given, "sg_build_options");
    how.struct_size = sizeof how;
    const int source_only = how.source_only || b->team == NULL;
    how.source_only = 1;
    build_as(j, b, &how, &whole);
    job_defer(j, release, whole);
    for (int axis = 0; axis < PROGRAM_AXES; axis++)
        part->global[axis] = whole->info.size[axis] > 0 ? whole->info.size[axis] : 1;
    bool thin = divide(j, b, whole, b->ranks, false, part, &how);
    const int64_t most = parts_steps(whole->program, part->global, INT32_MAX);
    how.source_only = source_only;
    build_as(j, b, &how, &b->kernel);
    b->how = how;
    if (divide(j, b, b->kernel, part->ranks, false, part, &how) || part->steps > 1) {
        widen(b->kernel->program, part, &how);
        b->how = how;
        build_again(j, b, &how);
        thin = divide(j, b, b->kernel, part->ranks, true, part, &how) || thin;
    }
    if (thin && part->steps < most)
        say_thin(j, b, most);
    job_undo(j, whole);
}

digest team_digest(const sg_kernel *k) {
    const blob source = digest_piece(k->program->source);
    return digest_of(&source, 1);
}

team_division *team_find(const sg_team *t, const digest *source) {
    for (size_t i = 0; i < t->division_count; i++)
        if (digest_equal(&t->divisions[i].source, source))
            return &t->divisions[i];
    return NULL;
}

/* The process grid that sg_team_arrange takes where it is left open; also that it was. */
static void remember(const building *b, const digest *source) {
    sg_team *t = b->team;
    team_division *d = team_find(t, source);
    if (d == NULL) {
        t->divisions = job_grow(t->job, t->divisions, t->division_count, sizeof *t->divisions);
        d = &t->divisions[t->division_count++];
    }
    *d = (team_division){.source = *source};
    if (b->ranks != NULL && (b->ranks[0] != 0 || b->ranks[1] != 0 || b->ranks[2] != 0))
        memcpy(d->ranks, b->part.ranks, sizeof d->ranks);
}

static void drop(void *argument) {
    sg_release(((building *)argument)->kernel);
}

static void build_together(job *j, void *argument) {
    building *b = argument;
    sg_team *t = b->team;
    const int ranks = t->transport.ranks;
    digest *all = job_array(j, (size_t)ranks, sizeof *all);
    job_defer(j, drop, b);
    team_together(j, t, build_own, b);
    const digest mine = team_digest(b->kernel);
    team_gather(j, t, &mine, sizeof mine, all);
    for (int i = 1; i < ranks; i++)
        if (!digest_equal(&all[i], &all[0]))
            job_fail(j, FAULT_USAGE, NULL, 0,
                     "ranks 0 and %d have built different kernels: specs, options, tuning results "
                     "and plans files must be the same on all ranks",
                     i);
    remember(b, &mine);
    job_keep(j, b);
}

sg_status sg_team_build(sg_team *team, const char *spec_path, const sg_build_options *options,
                        const int *ranks, sg_kernel **out) {
    if (out == NULL || team == NULL)
        return SG_ERROR_USAGE;
    building b = {.team = team,
                  .context = team->context,
                  .path = spec_path,
                  .given = options,
                  .count = team->transport.ranks,
                  .ranks = ranks};
    const sg_status status = team_run(team, build_together, &b);
    if (status == SG_OK)
        *out = b.kernel;
    return status;
}

/* ---- estimates ------------------------------------------------------------------------------- */

typedef struct estimating {
    building building;
    sg_link link;
    sg_team_part *part;
    sg_team_forecast *out;
} estimating;

/* Seconds a step by the planner's model. */
static double plan_seconds(job *j, const building *b, const sg_build_options *how) {
    sg_explanation *e = NULL;
    double seconds = 0;
    context_must(j, b->context, sg_explain(b->context, b->path, how, &e));
    for (int i = 0; i < e->row_count; i++)
        if (e->rows[i].chosen)
            seconds += e->rows[i].estimated_seconds;
    sg_explanation_free(e);
    return seconds;
}

/* A part that has neighbours on as many sides as one can. */
static int middle_of(const int ranks[3]) {
    return (ranks[2] / 2 * ranks[1] + ranks[1] / 2) * ranks[0] + ranks[0] / 2;
}

static void forecast(job *j, estimating *e, sg_team_part *part) {
    const building *b = &e->building;
    sg_build_options whole;
    sg_team_forecast f = {.messages = 0};
    context_read(j, &whole, sizeof whole, b->given, "sg_build_options");
    f.alone_seconds = plan_seconds(j, b, &whole);
    const double interior = plan_seconds(j, b, &b->how);
    const program *p = b->kernel->program;
    if (part->launches == 0)
        part->launches = part->steps > 1 ? 1
                                         : parts_launches(model_link(e->link),
                                                          model_rate(p, part, interior), p, part);
    run r = {.kernel = b->kernel, .depth = part->steps * part->launches};
    int64_t low[3], high[3];
    int stale[LAUNCH_ARRAYS];
    parts_choose(j, p, b->count, part->ranks, false, part);
    parts_widths(p, r.depth, low, high);
    parts_place(p, middle_of(part->ranks), low, high, part);
    r.part = *part;
    memcpy(r.launch.end, part->size, sizeof r.launch.end);
    r.halo.send_count =
        parts_faces(p, part, low, high, p->grid.corners || r.depth > 1, true, r.halo.sends);
    f.messages = r.halo.send_count;
    const int count = run_stale(&r, false, stale);
    f.bytes = (int64_t)faces_bytes(p, r.halo.sends, r.halo.send_count, stale, count);
    model_forecast(model_link(e->link), &r, hidden_apart(&r) ? hidden_cells(&r) : 0, interior, &f);
    context_write(j, e->out, &f, sizeof f, "sg_team_forecast");
}

static void estimate(job *j, void *argument) {
    estimating *e = argument;
    building *b = &e->building;
    sg_team_part part;
    context_expect(j, e->part, "sg_team_part");
    context_expect(j, e->out, "sg_team_forecast");
    context_read(j, &part, sizeof part, e->part, "sg_team_part");
    if (b->count < 1 || b->count > 1 << 20 || part.launches < 0 || part.launches > 1000)
        context_refuse(j, "%d ranks with %d launches between two exchanges cannot be", b->count,
                       part.launches);
    if ((unsigned)e->link > SG_LINK_HOST)
        context_refuse(j, "there is no link %d", (int)e->link);
    b->ranks = part.ranks;
    b->part.launches = part.launches;
    job_defer(j, drop, b);
    build_own(j, b);
    part = b->part;
    forecast(j, e, &part);
    context_write(j, e->part, &part, sizeof part, "sg_team_part");
    job_undo(j, b);
}

sg_status sg_team_estimate(sg_context *context, const char *spec_path,
                           const sg_build_options *options, int ranks, sg_link link,
                           sg_team_part *part, sg_team_forecast *out) {
    estimating e = {
        .building = {.context = context, .path = spec_path, .given = options, .count = ranks},
        .link = link,
        .part = part,
        .out = out};
    if (context == NULL)
        return SG_ERROR_USAGE;
    return context_run(context, estimate, &e, NULL);
}
