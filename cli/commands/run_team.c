/* run on several ranks, and with checkpoints. Each rank reads its part of the inputs, computes, and
   writes its part of the outputs: no rank holds a whole array. Rank 0 alone uses what belongs to
   the command (its memory, its messages, its files' names). */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "cli/commands/run.h"

/* ---- steps ----------------------------------------------------------------------------------- */

/* Writes the state. */
static bool save_state(local *l) {
    rank *r = l->rank;
    const work *w = l->work;
    checkpoint c;
    char head[CHECKPOINT_HEAD];
    shared_file s = {.path = w->options->checkpoint, .what = "the checkpoint"};
    checkpoint_describe(w->arrays, l->kernel, l->made, &c);
    if (r->number == 0) {
        records_describe(w, &c);
        if (!checkpoint_head(&c, head))
            rank_fail(r, "the names of arrays, points and monitors are too long for a checkpoint");
    }
    bool good = local_share_file(l, &s, head, sizeof head, checkpoint_bytes(&c), NULL);
    for (int k = 0; k < c.count && good && r->status == SG_OK; k++)
        local_store(l, s.shared, checkpoint_offset(&c, k), arrays_find(w->arrays, c.names[k]),
                    false);
    if (r->number == 0 && good && !records_write(w, &c, s.shared))
        rank_fail(r, "the checkpoint cannot be written");
    if (good)
        sums_write(l, s.shared, checkpoint_end(&c));
    return local_end_file(l, &s, good);
}

/* How many steps to make before something is to be done: a multiple of what a launch makes, except
   where a checkpoint or a snapshot comes. */
static int64_t next_batch(const local *l, int64_t batch, int64_t fused) {
    const options *o = l->work->options;
    const int64_t most = steps_unlooked(fused);
    return steps_until_due(o, options_due(o), l->made,
                           o->stop_on_nan && batch > most ? most : batch);
}

/* After every --every steps. */
static bool keep_state(local *l, sg_arguments *a) {
    const options *o = l->work->options;
    if (l->work->monitors.count > 0 && l->made % options_every(o, EVERY_MONITOR) == 0 &&
        !local_sample(l, a))
        return false;
    if (run_snapshots_due(&l->work->shots, o, l->made) && !local_take_snapshots(l))
        return false;
    return o->checkpoint == NULL || l->made % options_every(o, EVERY_CHECKPOINT) != 0 ||
           save_state(l);
}

static void follow(local *l, const int *final) {
    sg_grid before[CHECKPOINT_ARRAYS];
    const int count = l->work->arrays->count;
    memcpy(before, l->grids, sizeof before);
    for (int i = 0; i < count; i++)
        l->grids[i] = before[final[i]];
}

static bool make_batch(local *l, sg_arguments *a, int64_t count) {
    rank *r = l->rank;
    int final[CHECKPOINT_ARRAYS];
    const double begun = clock_seconds();
    a->step = l->made;
    if (!rank_good(r, local_run(l, a, count, final)) || !rank_good(r, sg_team_wait(r->team, NULL)))
        return false;
    l->seconds += clock_seconds() - begun;
    follow(l, final);
    l->made += count;
    return true;
}

static void say_progress(const local *l) {
    const work *w = l->work;
    const steps now = {
        .made = l->made, .begun = w->from.steps > 0 ? w->from.steps : 0, .seconds = l->seconds};
    if (l->rank->number == 0)
        steps_progress(&now, w->options->steps);
}

/* Batches take about some seconds, so that the time limit of a team is for waiting alone. */
static void make_steps(local *l, sg_arguments *a, int64_t fused) {
    const options *o = l->work->options;
    rank *r = l->rank;
    int64_t batch = fused;
    int bad = o->stop_on_nan ? local_find_nan(l) : -1;
    while (r->status == SG_OK && bad < 0 && l->made < o->steps && !l->ended) {
        const int64_t count = next_batch(l, batch, fused);
        double took = l->seconds;
        if (!make_batch(l, a, count))
            return;
        took = l->seconds - took;
        if (!rank_good(r, sg_team_reduce(r->team, SG_COMBINE_MAX, &took, 1, &took)))
            return;
        if (count == batch && took < 1) /* the same on all ranks */
            batch *= 2;
        if (o->stop_on_nan)
            bad = local_find_nan(l);
        if (r->status == SG_OK && bad < 0 && !keep_state(l, a))
            return;
        say_progress(l);
    }
    if (r->number == 0 && bad >= 0)
        l->work->steps.stopped_by = l->work->arrays->items[bad].info.field;
}

static void compute(local *l) {
    rank *r = l->rank;
    sg_kernel_info info = {.struct_size = sizeof info};
    sg_arguments a = {.struct_size = sizeof a,
                      .grids = l->grids,
                      .grid_count = l->work->arrays->count,
                      .parameters = l->work->parameters,
                      .parameter_count = l->work->parameter_count};
    rank_good(r, sg_kernel_facts(l->kernel, &info));
    rank_good(r, sg_temporary_bytes(l->kernel, &a, &a.temporary_bytes));
    if (r->status == SG_OK && a.temporary_bytes > 0)
        rank_good(r, sg_alloc(r->context, a.temporary_bytes, &l->temporary));
    a.temporary = l->temporary;
    if (rank_agreed(r))
        make_steps(l, &a, info.steps);
}

/* ---- results --------------------------------------------------------------------------------- */

static bool save_pieces(local *l, int which) {
    const array_output *o = &l->work->arrays->outputs[which];
    datafile_array about;
    arrays_describe(l->work->arrays, o->item, &about);
    return local_write_pieces(l, which, o->path, &about, o->item, o->file);
}

/* An output's own array, or those of its components one behind the other. */
static void store_parts(local *l, const array_output *o, const char *path, uint64_t offset) {
    datafile_array about;
    arrays_describe(l->work->arrays, o->item, &about);
    const bool widens = datafile_widens(o->path, &about);
    const uint64_t bytes = datafile_file_bytes(o->path, &about);
    for (int k = 0; k < (o->parts > 0 ? o->parts : 1) && l->rank->status == SG_OK; k++)
        local_store(l, path, offset + (uint64_t)k * bytes, o->parts > 0 ? o->part[k] : o->item,
                    widens);
}

static bool save_output(local *l, array_output *o) {
    const char *temporary = NULL;
    char path[MOST_PATH] = "";
    uint64_t offset[1] = {0};
    rank *r = l->rank;
    if (r->number == 0) {
        temporary = arrays_frame(l->work->arrays, o, offset);
        if (temporary == NULL)
            rank_fail(r, "an output cannot be written");
    }
    double place = (double)offset[0];
    if (!local_share_path(r, temporary, path) ||
        !rank_good(r, sg_team_reduce(r->team, SG_COMBINE_SUM, &place, 1, &place)))
        return false;
    store_parts(l, o, path, (uint64_t)place);
    return rank_agreed(r);
}

/* What all ranks' own cells of an output hold. */
static bool summarise(local *l, const array_output *o, summary *out) {
    bool good = local_summarise(l, o->item, out);
    for (int k = 1; k < o->parts && good; k++) {
        summary s;
        good = local_summarise(l, o->part[k], &s);
        if (good)
            summary_join(out, &s);
    }
    return good;
}

static void end_pieces(local *l) {
    arrays *a = l->work->arrays;
    output *indexes[MOST_OUTPUTS];
    int count = 0;
    for (int i = 0; i < a->output_count && l->rank->number == 0; i++) {
        array_output *o = &a->outputs[i];
        if (datafile_kind_of(o->path) != DATAFILE_PVTI)
            continue;
        indexes[count++] = o->file;
        o->file = NULL;
    }
    local_end_pieces(l, 0, a->output_count, indexes, count);
}

static void save_outputs(local *l) {
    work *w = l->work;
    arrays *a = w->arrays;
    bool good = true;
    for (int i = 0; i < a->output_count && i < MOST_OUTPUTS && good; i++) {
        array_output *o = &a->outputs[i];
        const bool apart = datafile_kind_of(o->path) == DATAFILE_PVTI;
        good = (apart ? save_pieces(l, i) : save_output(l, o)) && summarise(l, o, &w->summaries[i]);
    }
    if (w->piece_count > 0)
        end_pieces(l);
}

static void be_rank(rank *r) {
    work *w = r->user;
    local l = {.rank = r, .work = w, .part = {.struct_size = sizeof l.part}};
    const bool given = r->of->grid[0] > 0;
    if (!rank_good(r,
                   sg_team_build(r->team, w->spec, &w->how, given ? r->of->grid : NULL, &l.kernel)))
        return;
    memcpy(l.part.global, w->arrays->size, sizeof l.part.global);
    memcpy(l.part.ranks, r->of->grid, sizeof l.part.ranks);
    l.part.launches = (int)w->options->launches;
    l.made = w->from.steps > 0 ? w->from.steps : 0;
    if (rank_good(r, sg_team_arrange(r->team, l.kernel, &l.part)) &&
        (w->from.steps < 0 || sums_compare(&l)) && local_allocate(&l) && local_load_all(&l) &&
        local_open_records(&l))
        compute(&l);
    if (r->status == SG_OK)
        save_outputs(&l);
    if (r->number == 0 && r->status == SG_OK) {
        w->kernel = l.kernel;
        w->part = l.part;
        w->steps.made = l.made;
        w->steps.sound = l.sound;
        w->steps.seconds = l.seconds;
        w->team.struct_size = sizeof w->team;
        sg_team_facts(r->team, &w->team);
        w->team.engine = ranks_engine;
    }
    local_close_records(&l);
    local_release(&l);
}

/* ---- the command's part ---------------------------------------------------------------------- */

static bool is_regular(FILE *file) {
    struct stat about;
    return file != NULL && fstat(fileno(file), &about) == 0 && S_ISREG(about.st_mode);
}

/* Ranks read parts of files and write parts of files. */
static int judge_files(const arrays *a) {
    if (!a->is_grid)
        return complain(EXIT_USAGE, a->spec, "%s is no stencil, of which alone ranks run parts",
                        a->name);
    for (int i = 0; i < a->count; i++) {
        const array *item = &a->items[i];
        if (item->input == NULL)
            continue;
        if (item->file.kind == DATAFILE_NPY && item->file.npy.fortran)
            return complain(EXIT_DATA, item->input,
                            "it is in Fortran's order; for ranks, --checkpoint and --restart write "
                            "it in C order, as NumPy's ascontiguousarray makes it");
        if (item->file.kind != DATAFILE_NPY || !is_regular(item->file.file))
            return complain(EXIT_DATA, item->input,
                            "ranks, --checkpoint and --restart need a .npy file in C order, and "
                            "this is none");
        if (item->file.npy.type != item->type)
            return complain(EXIT_DATA, item->input, "%s is needed, not %s",
                            element_words[item->type].numpy,
                            element_words[item->file.npy.type].numpy);
    }
    for (int i = 0; i < a->output_count; i++)
        if (datafile_kind_of(a->outputs[i].path) == DATAFILE_PGM)
            return complain(EXIT_USAGE, a->outputs[i].path,
                            "ranks, --checkpoint and --restart write .npy, .vti and .pvti files");
    return a->output_count <= MOST_OUTPUTS && a->count <= CHECKPOINT_ARRAYS
               ? EXIT_DONE
               : complain(EXIT_USAGE, a->spec, "%s has too many arrays for ranks", a->name);
}

static void put_values(const work *w) {
    arrays *a = w->arrays;
    for (int i = 0; i < a->output_count; i++) {
        const summary *s = &w->summaries[i];
        values *v = &a->outputs[i].written.values;
        *v = (values){.type = a->items[a->outputs[i].item].type,
                      .any = s->any,
                      .nan = s->nan,
                      .infinite = s->infinite};
        element_put(v->type, s->minimum, v->minimum);
        element_put(v->type, s->maximum, v->maximum);
        a->outputs[i].saved = true;
    }
}

/* "2x2x1" */
static const char *in_ranks(const int ranks[3], int dims) {
    const int64_t extents[3] = {ranks[0], ranks[1], ranks[2]};
    return in_extents(extents, dims);
}

static void report(const work *w, const ranks *r, session *s, json *j, text *out) {
    const arrays *a = w->arrays;
    const char *ranks = in_ranks(w->part.ranks, a->info.dims);
    text_printf(out, "%s: %s of %s in %s on the %s device\n", a->name,
                counted(w->steps.made, "step"), in_extents(a->size, a->info.dims),
                in_seconds(w->steps.seconds), s->device.device);
    if (s->options->ranks[0] != 0 || s->options->local_rank) /* else there is a checkpoint */
        text_printf(out, "  ranks    %d (%s), %s; %s of ghost cells by rank 0 in %s, %s\n",
                    r->count, ranks, w->team.engine, counted(w->team.exchanges, "exchange"),
                    in_seconds(w->team.exchange_seconds + w->team.hidden_seconds),
                    ranks_unhidden(w->team.exchange_seconds, w->team.hidden_seconds));
    text_printf(out, "  plan     %s\n", sg_kernel_text(w->kernel, SG_TEXT_PLAN));
    json_add(j, "family %s name %s plan %s", sg_kernel_text(w->kernel, SG_TEXT_FAMILY), a->name,
             sg_kernel_text(w->kernel, SG_TEXT_PLAN));
    json_integers(j, "size", a->size, a->info.dims);
    json_add(j, "steps %" PRId64 " seconds %g", w->steps.made, w->steps.seconds);
    json_add(j,
             "ranks { count %d grid %s engine %s exchanges %" PRId64 " bytes %" PRId64
             " exchange_seconds %g hidden_seconds %g }",
             r->count, ranks, w->team.engine, w->team.exchanges, w->team.bytes,
             w->team.exchange_seconds, w->team.hidden_seconds);
    steps_json(&w->steps, j);
    steps_text(&w->steps, out);
}

/* All that is judged, read and opened before the ranks begin. */
static int prepare(work *w, session *s, ranks *r) {
    const options *own = w->options;
    arrays *a = w->arrays;
    int code = arrays_open(a, s, w->spec, r->speaks);
    if (code == EXIT_DONE)
        code = judge_files(a);
    if (code == EXIT_DONE)
        code = pieces_judge(a);
    if (code == EXIT_DONE) {
        w->how = session_build_options(s, s->first);
        memcpy(w->how.size, a->size, sizeof w->how.size);
        code = session_parameters(s, w->spec, a->plan, VALUES_NEEDED, &w->parameters,
                                  &w->parameter_count);
    }
    if (code == EXIT_DONE)
        code = run_snapshots_begin(&w->shots, a, r->count == 1, r->speaks);
    if (code == EXIT_DONE)
        pieces_make(w, r, a);
    if (code == EXIT_DONE)
        code = keep_files(a);
    if (code == EXIT_DONE && own->checkpoint != NULL && r->speaks)
        code = checkpoint_try(own->checkpoint);
    if (code == EXIT_DONE && w->from.steps >= 0)
        code = checkpoint_judge(own->restart, &w->from, a, a->plan);
    if (code == EXIT_DONE)
        code = points_prepare(&w->points, a, a->plan, r->speaks);
    if (code == EXIT_DONE)
        code = monitors_prepare(&w->monitors, a, a->plan, r->speaks);
    if (code == EXIT_DONE && w->from.steps >= 0 && r->speaks)
        code = records_resume(w);
    return code;
}

/* The report, and the files that all ranks have made. */
static int finish(work *w, session *s, const ranks *r, json *j, text *out) {
    put_values(w);
    report(w, r, s, j, out);
    int code = points_save(&w->points, w->steps.made, j, out);
    code = first_failure(code, monitors_save(&w->monitors, j, out));
    if (w->steps.stopped_by != NULL)
        code = first_failure(steps_stopped(w->arrays, &w->steps), code);
    json_add(j, "results { }");
    code = first_failure(code, arrays_save(w->arrays, true, j, out));
    run_snapshots_report(&w->shots, w->arrays, j, out);
    return code;
}

int run_team(session *s, const char *spec, ranks *r, json *j, text *out) {
    const options *given = s->options;
    arrays a;
    options own = *given;
    work w = {.options = &own, .spec = spec, .arrays = &a, .from = {.steps = -1}};
    int code = checkpoint_begin(&own, &w.from);
    if (code != EXIT_DONE)
        return code;
    s->options = &own;
    code = prepare(&w, s, r);
    if (code == EXIT_DONE) {
        if (r->speaks)
            session_parameters_json(s, a.plan, j);
        code = ranks_run(r, s, be_rank, &w);
    }
    code = first_failure(code, run_snapshots_end(&w.shots));
    if (code == EXIT_DONE && r->speaks)
        code = finish(&w, s, r, j, out);
    points_close(&w.points);
    monitors_close(&w.monitors);
    sg_release(w.kernel);
    arrays_close(&a);
    s->options = given;
    return code;
}
