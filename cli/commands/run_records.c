/* What ranks record while steps run: points and monitors. Rank 0 writes traces and keeps samples; a
   checkpoint takes what there is so far, so that a restarted run ends with the files of one that
   was never stopped. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands/run.h"

enum { PIECE = 1 << 20 };

/* ---- opening --------------------------------------------------------------------------------- */

static bool open_sets(local *l) {
    const work *w = l->work;
    sg_points *sets = calloc((size_t)w->points.count, sizeof *sets);
    if (sets == NULL)
        rank_fail(l->rank, "out of memory");
    else
        points_sets(&w->points, sets);
    const bool good = rank_agreed(l->rank) &&
                      rank_good(l->rank, sg_team_points_open(l->rank->team, l->kernel, &l->part,
                                                             sets, w->points.count, &l->points));
    free(sets);
    return good;
}

static bool open_monitor(local *l, int index) {
    rank *r = l->rank;
    sg_build_options how = monitors_map(&l->work->monitors.list[index], &l->work->how);
    memcpy(how.size, l->part.size, sizeof how.size);
    rank_good(r, sg_build(r->context, l->work->spec, &how, &l->maps[index]));
    return rank_agreed(r) && rank_good(r, sg_team_monitor_open(r->team, l->kernel, l->maps[index],
                                                               &l->part, &l->monitors[index]));
}

bool local_open_records(local *l) {
    const work *w = l->work;
    bool good = w->points.count == 0 || open_sets(l);
    for (int i = 0; i < w->monitors.count && good; i++)
        good = open_monitor(l, i);
    return good;
}

void local_close_records(local *l) {
    sg_team_points_close(l->points);
    for (int i = 0; i < l->work->monitors.count; i++) {
        sg_team_monitor_close(l->monitors[i]);
        sg_release(l->maps[i]);
    }
}

/* ---- running --------------------------------------------------------------------------------- */

sg_status local_run(local *l, sg_arguments *a, int64_t count, int *final) {
    return l->points != NULL
               ? sg_team_run_points(l->points, a, count, NULL, final)
               : sg_team_run(l->rank->team, l->kernel, &l->part, a, count, NULL, final);
}

bool local_sample(local *l, sg_arguments *a) {
    monitors *m = &l->work->monitors;
    a->step = l->made;
    for (int i = 0; i < m->count; i++) {
        monitored *one = &m->list[i];
        int64_t step;
        double value;
        int count = 0;
        if (!rank_good(l->rank, sg_team_monitor_sample(l->monitors[i], a, NULL)) ||
            !rank_good(l->rank, sg_team_monitor_read(l->monitors[i], &step, &value, 1, &count)))
            return false;
        l->ended = l->ended || (i == m->until && monitors_hold(m, value)); /* alike on all ranks */
        if (l->rank->number > 0)
            continue;
        one->steps[one->count] = step;
        one->values[one->count++] = value;
        if (l->ended && i == m->until) {
            m->ended = true;
            m->ended_step = step;
        }
    }
    return true;
}

/* ---- checkpoints ----------------------------------------------------------------------------- */

static void add_record(checkpoint *c, const char *name, bool is_monitor, int64_t rows,
                       int64_t row) {
    checkpoint_record *r = &c->records[c->record_count++];
    *r = (checkpoint_record){.is_monitor = is_monitor, .rows = rows, .row = row};
    memcpy(r->name, name, strlen(name) < sizeof r->name ? strlen(name) : sizeof r->name - 1);
}

void records_describe(const work *w, checkpoint *c) {
    for (int i = 0; i < w->points.count; i++)
        if (!w->points.files[i].injects)
            add_record(c, w->points.files[i].name, false, c->steps,
                       (int64_t)w->points.files[i].row);
    for (int i = 0; i < w->monitors.count; i++)
        add_record(c, w->monitors.list[i].name, true, w->monitors.list[i].count,
                   2 * sizeof(double));
}

static bool put(int file, uint64_t at, const void *from, size_t bytes) {
    return pwrite(file, from, bytes, (off_t)at) == (ssize_t)bytes;
}

/* Rows of traces, from the file that they are being written to. */
static bool put_traces(int file, uint64_t at, const point_file *f, uint64_t bytes) {
    unsigned char *piece = malloc(PIECE);
    bool good = piece != NULL;
    for (uint64_t done = 0; done < bytes && good; done += PIECE) {
        const size_t count = bytes - done < PIECE ? (size_t)(bytes - done) : PIECE;
        good = output_read(f->traces, f->head + done, piece, count) &&
               put(file, at + done, piece, count);
    }
    free(piece);
    return good;
}

bool records_write(const work *w, const checkpoint *c, const char *path) {
    const int file = open(path, O_WRONLY | O_CLOEXEC);
    bool good = file >= 0;
    for (int i = 0; i < w->points.count && good; i++) {
        const point_file *f = &w->points.files[i];
        const int at = f->injects ? -1 : checkpoint_find(c, false, f->name);
        if (at >= 0)
            good =
                put_traces(file, checkpoint_record_offset(c, at), f, (uint64_t)c->steps * f->row);
    }
    for (int i = 0; i < w->monitors.count && good; i++) {
        const monitored *m = &w->monitors.list[i];
        const uint64_t at = checkpoint_record_offset(c, checkpoint_find(c, true, m->name));
        const size_t bytes = (size_t)m->count * sizeof *m->values;
        good = put(file, at, m->steps, bytes) && put(file, at + bytes, m->values, bytes);
    }
    return file >= 0 && close(file) == 0 && good;
}

/* The rows of a checkpoint begin the file of traces. */
static int resume_traces(const work *w, FILE *file, point_file *f) {
    const checkpoint *c = &w->from;
    const char *path = w->options->restart;
    const int at = checkpoint_find(c, false, f->name);
    if (at < 0 || c->records[at].rows != c->steps || c->records[at].row != (int64_t)f->row)
        return complain(EXIT_DATA, path,
                        "the checkpoint has no traces of %s with as many points: record the same "
                        "points as in the run that wrote it",
                        f->name);
    unsigned char *piece = must_alloc(PIECE, 1);
    uint64_t left = (uint64_t)c->steps * f->row;
    int code =
        fseeko(file, (off_t)checkpoint_record_offset(c, at), SEEK_SET) == 0 ? EXIT_DONE : EXIT_DATA;
    for (; left > 0 && code == EXIT_DONE; left -= left < PIECE ? left : PIECE) {
        const size_t count = left < PIECE ? (size_t)left : PIECE;
        if (fread(piece, 1, count, file) != count || !output_write(f->traces, piece, count))
            code = complain(EXIT_DATA, path, "traces cannot be read");
    }
    free(piece);
    return code;
}

/* Samples that --every would not have taken now are kept as they are. */
static int resume_samples(const work *w, FILE *file, monitored *m) {
    const checkpoint *c = &w->from;
    const int at = checkpoint_find(c, true, m->name);
    if (at < 0)
        return complain(EXIT_DATA, w->options->restart,
                        "the checkpoint has no samples of %s: name the monitors of the run that "
                        "wrote it",
                        m->name);
    const size_t rows = (size_t)c->records[at].rows;
    if (rows > (size_t)c->steps)
        return complain(EXIT_DATA, w->options->restart, "this is no checkpoint of stencilgen");
    const size_t most =
        rows + (size_t)(w->options->steps / options_every(w->options, EVERY_MONITOR)) + 1;
    free(m->steps);
    free(m->values);
    m->steps = must_alloc(most, sizeof *m->steps);
    m->values = must_alloc(most, sizeof *m->values);
    m->count = (int)rows;
    return fseeko(file, (off_t)checkpoint_record_offset(c, at), SEEK_SET) == 0 &&
                   fread(m->steps, sizeof *m->steps, rows, file) == rows &&
                   fread(m->values, sizeof *m->values, rows, file) == rows
               ? EXIT_DONE
               : complain(EXIT_DATA, w->options->restart, "samples cannot be read");
}

int records_resume(work *w) {
    FILE *file = fopen(w->options->restart, "rbe");
    int code =
        file != NULL ? EXIT_DONE : complain(EXIT_DATA, w->options->restart, "cannot be read");
    for (int i = 0; i < w->points.count && code == EXIT_DONE; i++)
        if (!w->points.files[i].injects)
            code = resume_traces(w, file, &w->points.files[i]);
    for (int i = 0; i < w->monitors.count && code == EXIT_DONE; i++)
        code = resume_samples(w, file, &w->monitors.list[i]);
    if (file != NULL)
        fclose(file);
    return code;
}
