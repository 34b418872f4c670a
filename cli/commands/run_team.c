/* run on several ranks, and with checkpoints. Each rank reads its part of the inputs, computes, and
   writes its part of the outputs: no rank holds a whole array. Rank 0 alone uses what belongs to
   the command (its memory, its messages, its files' names). */
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/commands/checkpoint.h"
#include "cli/commands/run.h"
#include "cli/commands/snapshots.h"
#include "cli/ranks.h"

enum { MOST_PATH = 4096, MOST_OUTPUTS = 64, UNLOOKED = 100 };

typedef struct summary {
    bool any;
    double minimum, maximum;
    int64_t nan, infinite;
} summary;

typedef struct work {
    const options *options;
    const char *spec;
    arrays *arrays;
    sg_build_options how;
    double *parameters;
    int parameter_count;
    checkpoint from; /* of --restart; steps −1: none */
    run_snapshots shots;

    /* By rank 0. */
    sg_kernel *kernel;
    sg_team_part part;
    steps steps;
    sg_team_info team;
    summary summaries[MOST_OUTPUTS];
} work;

/* A rank's arrays. */
typedef struct local {
    rank *rank;
    work *work;
    sg_kernel *kernel;
    sg_team_part part;
    size_t bytes; /* of an array */
    unsigned char *host;
    sg_grid grids[CHECKPOINT_ARRAYS];
    void *temporary;
    int64_t made, sound;
    double seconds;
} local;

/* ---- files ----------------------------------------------------------------------------------- */

/* Opens a file of a part; −1, and the rank has failed. */
static int open_file(rank *r, const char *path, int flags) {
    char why[MOST_PATH + 64];
    const int file = open(path, flags | O_CLOEXEC);
    if (file < 0) {
        snprintf(why, sizeof why, "%s: cannot be opened", path);
        rank_fail(r, why);
    }
    return file;
}

/* The host's copy of an array goes to the device, and to the previous level that takes it. */
static void upload(local *l, int index) {
    rank *r = l->rank;
    const arrays *a = l->work->arrays;
    for (int i = 0; i < a->count && r->status == SG_OK; i++)
        if (i == index || a->items[i].copies == index)
            rank_good(r, sg_upload(r->context, l->grids[i].data, l->host, l->bytes));
}

/* Brings what lies in a file at `offset` to an array. */
static void load(local *l, const char *path, uint64_t offset, int index) {
    rank *r = l->rank;
    const arrays *a = l->work->arrays;
    char why[MOST_PATH + 128];
    const part_file file = {open_file(r, path, O_RDONLY), path, offset, a->info.element_size};
    if (file.file < 0)
        return;
    memset(l->host, 0, l->bytes);
    if (!part_read(&file, &l->part, l->host, why, sizeof why))
        rank_fail(r, why);
    close(file.file);
    upload(l, index);
}

/* Writes the rank's part of an array to a file. */
static void store(local *l, const char *path, uint64_t offset, int index) {
    rank *r = l->rank;
    char why[MOST_PATH + 128];
    const part_file file = {open_file(r, path, O_WRONLY), path, offset,
                            l->work->arrays->info.element_size};
    if (file.file < 0)
        return;
    if (rank_good(r, sg_download(r->context, l->host, l->grids[index].data, l->bytes)) &&
        !part_write(&file, &l->part, l->host, why, sizeof why))
        rank_fail(r, why);
    if (close(file.file) != 0)
        rank_fail(r, "a file could not be written to its end");
}

/* A path that rank 0 knows (NULL: it has failed), on all ranks. */
static bool share_path(rank *r, const char *path, char out[MOST_PATH]) {
    char mine[MOST_PATH] = "";
    char *all = malloc((size_t)r->of->count * MOST_PATH);
    if (all == NULL)
        rank_fail(r, "out of memory");
    if (r->number == 0 && path != NULL)
        snprintf(mine, sizeof mine, "%s", path);
    if (rank_agreed(r) && rank_good(r, sg_team_gather(r->team, mine, sizeof mine, all)))
        memcpy(out, all, MOST_PATH);
    free(all);
    return r->status == SG_OK && out[0] != '\0';
}

/* ---- arrays ---------------------------------------------------------------------------------- */

static bool allocate(local *l) {
    const arrays *a = l->work->arrays;
    rank *r = l->rank;
    l->bytes = a->info.element_size;
    for (int axis = 0; axis < 3; axis++)
        l->bytes *= (size_t)l->part.size[axis];
    l->host = calloc(l->bytes, 1);
    if (l->host == NULL)
        rank_fail(r, "out of memory");
    for (int i = 0; i < a->count && r->status == SG_OK; i++) {
        memcpy(l->grids[i].size, l->part.size, sizeof l->part.size);
        if (rank_good(r, sg_alloc(r->context, l->bytes, &l->grids[i].data)))
            rank_good(r, sg_upload(r->context, l->grids[i].data, l->host, l->bytes));
    }
    return rank_agreed(r);
}

/* Puts the elements of a box of the whole grid among the rank's own cells. */
static bool place_cells(void *user, const int64_t begin[3], const int64_t end[3],
                        const unsigned char *elements) {
    const local *l = user;
    const sg_team_part *p = &l->part;
    const size_t element = l->work->arrays->info.element_size;
    const size_t row = (size_t)(end[0] - begin[0]) * element;
    int64_t at[3];
    for (int axis = 0; axis < 3; axis++)
        at[axis] = p->low[axis] - p->begin[axis];
    for (int64_t z = begin[2]; z < end[2]; z++)
        for (int64_t y = begin[1]; y < end[1]; y++, elements += row)
            memcpy(l->host + (size_t)(((at[2] + z) * p->size[1] + at[1] + y) * p->size[0] + at[0] +
                                      begin[0]) *
                                 element,
                   elements, row);
    return true;
}

/* Fills an array by its expression of --init. */
static void begin_with(local *l, int index) {
    rank *r = l->rank;
    const array *item = &l->work->arrays->items[index];
    char name[96];
    initial in = {.name = name, .expression = item->init, .type = item->type};
    snprintf(name, sizeof name, "--init %s", item->info.name);
    memcpy(in.size, l->part.global, sizeof in.size);
    memcpy(in.begin, l->part.begin, sizeof in.begin);
    memcpy(in.end, l->part.end, sizeof in.end);
    memset(l->host, 0, l->bytes);
    if (rank_good(r, initial_each(r->context, &in, place_cells, l)))
        upload(l, index);
}

static bool load_all(local *l) {
    const work *w = l->work;
    const arrays *a = w->arrays;
    for (int i = 0; i < a->count && l->rank->status == SG_OK; i++)
        if (a->items[i].input != NULL)
            load(l, a->items[i].input, a->items[i].file.npy.data_offset, i);
        else if (a->items[i].init != NULL)
            begin_with(l, i);
    for (int k = 0; w->from.steps >= 0 && k < w->from.count && l->rank->status == SG_OK; k++)
        load(l, w->options->restart, checkpoint_offset(&w->from, k),
             arrays_find(a, w->from.names[k]));
    return rank_agreed(l->rank);
}

static void release_all(local *l) {
    for (int i = 0; i < l->work->arrays->count; i++)
        sg_free(l->rank->context, l->grids[i].data);
    sg_free(l->rank->context, l->temporary);
    free(l->host);
    if (l->rank->number != 0 || l->rank->status != SG_OK)
        sg_release(l->kernel);
}

/* ---- values ---------------------------------------------------------------------------------- */

/* What all ranks' own cells of an array hold. */
static bool summarise(local *l, int index, summary *out) {
    rank *r = l->rank;
    const sg_team_part *p = &l->part;
    const dtype type = l->work->arrays->items[index].type;
    const size_t element = dtype_words[type].bytes;
    values v = {.type = type};
    double least[1], most[1], counts[2], all[2]; /* counts below 2^53 are exact */
    if (rank_good(r, sg_download(r->context, l->host, l->grids[index].data, l->bytes)))
        for (int64_t z = p->low[2]; z < p->low[2] + p->end[2] - p->begin[2]; z++)
            for (int64_t y = p->low[1]; y < p->low[1] + p->end[1] - p->begin[1]; y++)
                values_add(
                    &v, l->host + (size_t)((z * p->size[1] + y) * p->size[0] + p->low[0]) * element,
                    (size_t)(p->end[0] - p->begin[0]));
    *least = v.any ? dtype_value(type, v.minimum) : HUGE_VAL;
    *most = v.any ? dtype_value(type, v.maximum) : -HUGE_VAL;
    counts[0] = (double)v.nan;
    counts[1] = (double)v.infinite;
    if (!rank_agreed(r) ||
        !rank_good(r, sg_team_reduce(r->team, SG_COMBINE_MIN, least, 1, least)) ||
        !rank_good(r, sg_team_reduce(r->team, SG_COMBINE_MAX, most, 1, most)) ||
        !rank_good(r, sg_team_reduce(r->team, SG_COMBINE_SUM, counts, 2, all)))
        return false;
    *out = (summary){*least <= *most, *least, *most, (int64_t)all[0], (int64_t)all[1]};
    return true;
}

/* Looks at the newest of each written field; the item with NaN or infinite values, or −1. */
static int find_nan(local *l) {
    const arrays *a = l->work->arrays;
    for (int i = 0; i < a->count; i++) {
        const sg_array_info *info = &a->items[i].info;
        summary s;
        if (info->role != SG_WRITE || (l->made == 0 && info->reads < 0))
            continue;
        if (!summarise(l, info->reads >= 0 ? info->reads : i, &s))
            return -1;
        if (s.nan > 0 || s.infinite > 0)
            return i;
    }
    l->sound = l->made;
    return -1;
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* Writes the state. Rank 0 makes the file and puts it in its place when all have written. */
static bool save_state(local *l) {
    rank *r = l->rank;
    const work *w = l->work;
    checkpoint c;
    char path[MOST_PATH] = "", head[CHECKPOINT_HEAD];
    const char *temporary = NULL;
    output *file = NULL;
    output_set alone = {0};
    checkpoint_describe(w->arrays, l->kernel, l->made, &c);
    if (r->number == 0) {
        checkpoint_head(&c, head);
        if (output_begin(&file, &alone, w->options->checkpoint) == EXIT_DONE &&
            output_write(file, head, sizeof head))
            temporary = output_stretch(file, checkpoint_bytes(&c), NULL, 0);
        if (temporary == NULL)
            rank_fail(r, "the checkpoint cannot be written");
    }
    bool good = share_path(r, temporary, path);
    for (int k = 0; k < c.count && good && r->status == SG_OK; k++)
        store(l, path, checkpoint_offset(&c, k), arrays_find(w->arrays, c.names[k]));
    good = good && rank_agreed(r);
    if (file != NULL && !good)
        output_drop(file);
    else if (file != NULL && !output_commit(file))
        rank_fail(r, "the checkpoint cannot be put in its place");
    return good && rank_agreed(r);
}

/* One file of a snapshot, of which every rank writes its part; as save_state does it. */
static bool save_parts(local *l, const snapshot_files *f) {
    rank *r = l->rank;
    char name[SNAPSHOT_NAME], path[MOST_PATH] = "";
    const char *temporary = NULL;
    output *file = NULL;
    output_set alone = {0};
    if (r->number == 0) {
        snapshot_name(f->pattern, l->made, name);
        const uint64_t end = f->head.length + datafile_bytes(&f->array);
        if (output_begin(&file, &alone, name) == EXIT_DONE &&
            output_write(file, f->head.data, f->head.length))
            temporary = output_stretch(file, end, f->tail.data, f->tail.length);
        if (temporary == NULL)
            rank_fail(r, "a snapshot cannot be written");
    }
    bool good = share_path(r, temporary, path);
    if (good)
        store(l, path, f->head.length, f->item);
    good = rank_agreed(r) && good;
    if (file != NULL && !good)
        output_drop(file);
    else if (file != NULL && !output_commit(file))
        rank_fail(r, "a snapshot cannot be put in its place");
    return rank_agreed(r) && good;
}

static int give(void *user, int item, uint64_t first, size_t count, void *out) {
    const local *l = user;
    const size_t element = l->work->arrays->info.element_size;
    const char *from = (const char *)l->grids[item].data + first * element;
    return rank_good(l->rank, sg_download(l->rank->context, out, from, count * element))
               ? EXIT_DONE
               : EXIT_DEVICE;
}

/* A lone rank hands its arrays on to the thread that writes; several write their parts. */
static bool take_snapshots(local *l) {
    run_snapshots *s = &l->work->shots;
    if (s->writer != NULL && snapshots_take(s->writer, l->made, give, l) != EXIT_DONE)
        rank_fail(l->rank, "a snapshot cannot be written");
    for (int i = 0; i < s->count && s->writer == NULL; i++) {
        if (!save_parts(l, &s->files[i]))
            return false;
        if (l->rank->number == 0) {
            s->files[i].written++;
            s->files[i].last = l->made;
        }
    }
    return l->rank->status == SG_OK;
}

/* How many steps to make before something is to be done: a multiple of what a launch makes, except
   where a checkpoint or a snapshot comes. */
static int64_t next_batch(const local *l, int64_t batch) {
    const options *o = l->work->options;
    return steps_until_due(o, l->made, o->stop_on_nan && batch > UNLOOKED ? UNLOOKED : batch);
}

/* After every --every steps. */
static bool keep_state(local *l) {
    const options *o = l->work->options;
    if (run_snapshots_due(&l->work->shots, o, l->made) && !take_snapshots(l))
        return false;
    return o->checkpoint == NULL || l->made % o->every != 0 || save_state(l);
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
    if (!rank_good(r, sg_team_run(r->team, l->kernel, &l->part, a, count, NULL, final)) ||
        !rank_good(r, sg_team_wait(r->team, NULL)))
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
    int bad = o->stop_on_nan ? find_nan(l) : -1;
    while (r->status == SG_OK && bad < 0 && l->made < o->steps) {
        const int64_t count = next_batch(l, batch);
        double took = l->seconds;
        if (!make_batch(l, a, count))
            return;
        took = l->seconds - took;
        if (!rank_good(r, sg_team_reduce(r->team, SG_COMBINE_MAX, &took, 1, &took)))
            return;
        if (count == batch && took < 1) /* the same on all ranks */
            batch *= 2;
        if (o->stop_on_nan)
            bad = find_nan(l);
        if (r->status == SG_OK && bad < 0 && !keep_state(l))
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

static void save_outputs(local *l) {
    work *w = l->work;
    rank *r = l->rank;
    arrays *a = w->arrays;
    for (int i = 0; i < a->output_count && i < MOST_OUTPUTS; i++) {
        array_output *o = &a->outputs[i];
        const char *temporary = NULL;
        char path[MOST_PATH] = "";
        uint64_t offset[1] = {0};
        if (r->number == 0) {
            temporary = arrays_frame(a, o, offset);
            if (temporary == NULL)
                rank_fail(r, "an output cannot be written");
        }
        double place = (double)offset[0];
        if (!share_path(r, temporary, path) ||
            !rank_good(r, sg_team_reduce(r->team, SG_COMBINE_SUM, &place, 1, &place)))
            return;
        store(l, path, (uint64_t)place, o->item);
        if (!rank_agreed(r) || !summarise(l, o->item, &w->summaries[i]))
            return;
    }
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
    if (rank_good(r, sg_team_arrange(r->team, l.kernel, &l.part)) && allocate(&l) && load_all(&l))
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
    release_all(&l);
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
        if (item->file.kind != DATAFILE_NPY || item->file.npy.fortran ||
            !is_regular(item->file.file))
            return complain(EXIT_DATA, item->input,
                            "ranks read their parts of a .npy file in C order, and this is none");
        if (item->file.npy.type != item->type)
            return complain(EXIT_DATA, item->input, "%s is needed, not %s",
                            element_words[item->type].numpy,
                            element_words[item->file.npy.type].numpy);
    }
    for (int i = 0; i < a->output_count; i++)
        if (datafile_kind_of(a->outputs[i].path) == DATAFILE_PGM)
            return complain(EXIT_USAGE, a->outputs[i].path,
                            "ranks write their parts of .npy and .vti files");
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
    text_printf(out,
                "%s: %" PRId64 " step%s of %s in %s on the %s device\n"
                "  ranks    %d (%s), %s; %" PRId64 " exchanges of ghost cells by rank 0%s\n"
                "  plan     %s\n",
                a->name, w->steps.made, w->steps.made == 1 ? "" : "s",
                in_extents(a->size, a->info.dims), in_seconds(w->steps.seconds), s->device.device,
                r->count, ranks, w->team.engine, w->team.exchanges,
                w->team.exchange_seconds < 0
                    ? ""
                    : phrase(" in %s, not hidden", in_seconds(w->team.exchange_seconds)),
                sg_kernel_text(w->kernel, SG_TEXT_PLAN));
    json_add(j, "family %s name %s plan %s", sg_kernel_text(w->kernel, SG_TEXT_FAMILY), a->name,
             sg_kernel_text(w->kernel, SG_TEXT_PLAN));
    json_integers(j, "size", a->size, a->info.dims);
    json_add(j, "steps %" PRId64 " seconds %g", w->steps.made, w->steps.seconds);
    json_add(j,
             "ranks { count %d grid %s engine %s exchanges %" PRId64 " bytes %" PRId64
             " exchange_seconds %g }",
             r->count, ranks, w->team.engine, w->team.exchanges, w->team.bytes,
             w->team.exchange_seconds < 0 ? (double)NAN : w->team.exchange_seconds);
    steps_json(&w->steps, j);
    steps_text(&w->steps, out);
}

int run_team(session *s, const char *spec, ranks *r, json *j, text *out) {
    arrays a;
    work w = {.options = s->options, .spec = spec, .arrays = &a, .from = {.steps = -1}};
    options own = *s->options;
    int code = EXIT_DONE;
    if (own.restart != NULL)
        code = checkpoint_read(own.restart, &w.from);
    if (code == EXIT_DONE && w.from.steps >= 0) {
        if (own.schedule == NULL)
            own.schedule = w.from.plan;
        memcpy(own.size, w.from.size, sizeof own.size);
        own.size_count = 3;
        while (own.size_count > 1 && own.size[own.size_count - 1] == 1)
            own.size_count--;
        if (own.steps < w.from.steps)
            code = complain(EXIT_USAGE, own.restart,
                            "%" PRId64 " steps are made already; --steps counts all of them",
                            w.from.steps);
    }
    if (code != EXIT_DONE)
        return code;
    s->options = w.options = &own;
    code = arrays_open_for(&a, s, spec, r->speaks);
    if (code == EXIT_DONE)
        code = judge_files(&a);
    if (code == EXIT_DONE) {
        w.how = session_build_options(s, s->first);
        memcpy(w.how.size, a.size, sizeof w.how.size);
        code = session_parameters(s, spec, a.plan, true, &w.parameters, &w.parameter_count);
    }
    if (code == EXIT_DONE)
        code = run_snapshots_begin(&w.shots, &a, r->count == 1);
    if (code == EXIT_DONE && w.from.steps >= 0)
        code = checkpoint_judge(own.restart, &w.from, &a, a.plan);
    if (code == EXIT_DONE) {
        if (r->speaks)
            session_parameters_json(s, a.plan, j);
        code = ranks_run(r, s, be_rank, &w);
    }
    code = first_failure(code, run_snapshots_end(&w.shots));
    if (code == EXIT_DONE && r->speaks) {
        put_values(&w);
        report(&w, r, s, j, out);
        code = w.steps.stopped_by != NULL ? steps_stopped(&a, &w.steps) : EXIT_DONE;
        json_add(j, "results { }");
        code = first_failure(code, arrays_commit(&a, j, out));
        run_snapshots_report(&w.shots, &a, j, out);
    }
    sg_release(w.kernel);
    arrays_close(&a);
    return code;
}
