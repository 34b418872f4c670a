/* The arrays of a rank: how they begin, and what of them goes to files. */
#include "cli/commands/run.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- parts of files -------------------------------------------------------------------------- */

/* By pread and pwrite: no rank reads or holds the whole. The whole array in C order, x fastest. */
typedef struct part_file {
    int file;
    const char *path; /* for messages */
    uint64_t offset;  /* where it begins */
    dtype type;
    bool widens; /* cells of 16 bits are floats in the file */
} part_file;

typedef struct moving {
    const part_file *file;
    bool writes;
    char *why;
    size_t room;
} moving;

/* All of a run of bytes. */
static bool move(const moving *m, uint64_t at, unsigned char *memory, size_t bytes) {
    while (bytes > 0) {
        const size_t piece = bytes < (1 << 30) ? bytes : 1 << 30;
        const ssize_t done = m->writes ? pwrite(m->file->file, memory, piece, (off_t)at)
                                       : pread(m->file->file, memory, piece, (off_t)at);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0) {
            snprintf(m->why, m->room, "%s: cannot be %s: %s", m->file->path,
                     m->writes ? "written" : "read",
                     done < 0 ? strerror(errno) : "it ends too soon");
            return false;
        }
        at += (uint64_t)done;
        memory += done;
        bytes -= (size_t)done;
    }
    return true;
}

/* Cells that follow each other, the first of them the file's cell number `there`. */
static bool move_run(const moving *m, uint64_t there, unsigned char *memory, uint64_t count) {
    enum { PIECE = 4096 };
    const part_file *f = m->file;
    const size_t element = dtype_words[f->type].bytes;
    float wide[PIECE];
    bool good = true;
    if (!f->widens)
        return move(m, f->offset + there * element, memory, count * element);
    for (uint64_t i = 0; i < count && good; i += PIECE) {
        const size_t n = count - i < PIECE ? (size_t)(count - i) : PIECE;
        datafile_widen(f->type, memory + i * element, n, wide);
        good = move(m, f->offset + (there + i) * sizeof *wide, (unsigned char *)wide,
                    n * sizeof *wide);
    }
    return good;
}

/* Between the file and the rank's own cells in a local array of part->size. False with a sentence
   in m->why. Rows that follow each other in the file and in memory, where no ghost cells lie
   between them, are moved at once. */
static bool move_part(const moving *m, const sg_team_part *p, unsigned char *local) {
    const uint64_t element = dtype_words[m->file->type].bytes;
    uint64_t own[3], count[3];
    for (int axis = 0; axis < 3; axis++)
        own[axis] = count[axis] = (uint64_t)part_own(p, axis);
    uint64_t run = own[0];
    for (int axis = 1; axis < 3 && run > 0; axis++) {
        if (own[axis - 1] != (uint64_t)p->global[axis - 1] ||
            own[axis - 1] != (uint64_t)p->size[axis - 1])
            break;
        run *= own[axis];
        count[axis] = 1;
    }
    for (int64_t z = 0; z < (int64_t)count[2]; z++)
        for (int64_t y = 0; y < (int64_t)count[1]; y++)
            if (!move_run(m, part_row_of_whole(p, y, z), local + part_row(p, y, z) * element, run))
                return false;
    return true;
}

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

size_t local_bytes(const local *l, int index) {
    return l->cells * arrays_cell(l->work->arrays, index);
}

/* The host's copy of an array goes to the device, and to the previous level that takes it. */
static void upload(local *l, int index) {
    rank *r = l->rank;
    const arrays *a = l->work->arrays;
    for (int i = 0; i < a->count && r->status == SG_OK; i++)
        if (i == index || a->items[i].copies == index)
            rank_good(r, sg_upload(r->context, l->grids[i].data, l->host, local_bytes(l, i)));
}

/* Brings what lies in a file at `offset` to an array. */
static void load(local *l, const char *path, uint64_t offset, int index) {
    rank *r = l->rank;
    const arrays *a = l->work->arrays;
    char why[MOST_PATH + 128];
    const part_file file = {open_file(r, path, O_RDONLY), path, offset, a->items[index].type,
                            false};
    if (file.file < 0)
        return;
    memset(l->host, 0, local_bytes(l, index));
    if (!move_part(&(moving){&file, false, why, sizeof why}, &l->part, l->host))
        rank_fail(r, why);
    close(file.file);
    upload(l, index);
}

void local_store(local *l, const char *path, uint64_t offset, int index, bool widens) {
    rank *r = l->rank;
    char why[MOST_PATH + 128];
    const part_file file = {open_file(r, path, O_WRONLY), path, offset,
                            l->work->arrays->items[index].type, widens};
    if (file.file < 0)
        return;
    if (rank_good(r,
                  sg_download(r->context, l->host, l->grids[index].data, local_bytes(l, index))) &&
        !move_part(&(moving){&file, true, why, sizeof why}, &l->part, l->host))
        rank_fail(r, why);
    if (close(file.file) != 0)
        rank_fail(r, "a file could not be written to its end");
}

bool local_share_path(rank *r, const char *path, char out[MOST_PATH]) {
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

bool local_allocate(local *l) {
    const arrays *a = l->work->arrays;
    rank *r = l->rank;
    l->cells = 1;
    for (int axis = 0; axis < 3; axis++)
        l->cells *= (size_t)l->part.size[axis];
    l->host = calloc(l->cells, a->info.element_size);
    if (l->host == NULL)
        rank_fail(r, "out of memory");
    for (int i = 0; i < a->count && r->status == SG_OK; i++) {
        memcpy(l->grids[i].size, l->part.size, sizeof l->part.size);
        if (arrays_place(a, l->kernel, i) == i &&
            rank_good(r, sg_alloc(r->context, local_bytes(l, i), &l->grids[i].data)))
            rank_good(r, sg_upload(r->context, l->grids[i].data, l->host, local_bytes(l, i)));
    }
    for (int i = 0; i < a->count; i++)
        l->grids[i].data = l->grids[arrays_place(a, l->kernel, i)].data;
    return rank_agreed(r);
}

typedef struct beginning {
    const local *local;
    int index;
} beginning;

/* Puts the elements of a box of the whole grid among the rank's own cells. */
static bool place_cells(void *user, const int64_t begin[3], const int64_t end[3],
                        const unsigned char *elements) {
    const beginning *b = user;
    const local *l = b->local;
    const sg_team_part *p = &l->part;
    const size_t element = arrays_cell(l->work->arrays, b->index);
    const size_t row = (size_t)(end[0] - begin[0]) * element;
    const size_t x = (size_t)(begin[0] - p->begin[0]);
    for (int64_t z = begin[2]; z < end[2]; z++)
        for (int64_t y = begin[1]; y < end[1]; y++, elements += row)
            memcpy(l->host + (part_row(p, y - p->begin[1], z - p->begin[2]) + x) * element,
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
    memset(l->host, 0, local_bytes(l, index));
    if (rank_good(r, initial_each(r->context, &in, place_cells, &(beginning){l, index})))
        upload(l, index);
}

bool local_load_all(local *l) {
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

void local_release(local *l) {
    grids_free(l->rank->context, l->grids, l->work->arrays->count);
    sg_free(l->rank->context, l->temporary);
    free(l->host);
    if (l->rank->number != 0 || l->rank->status != SG_OK)
        sg_release(l->kernel);
}

/* ---- values ---------------------------------------------------------------------------------- */

void summary_join(summary *all, const summary *s) {
    if (s->any) {
        all->minimum = all->any && all->minimum < s->minimum ? all->minimum : s->minimum;
        all->maximum = all->any && all->maximum > s->maximum ? all->maximum : s->maximum;
    }
    all->any = all->any || s->any;
    all->nan += s->nan;
    all->infinite += s->infinite;
}

bool local_summarise(local *l, int index, summary *out) {
    rank *r = l->rank;
    const sg_team_part *p = &l->part;
    const dtype type = l->work->arrays->items[index].type;
    const size_t element = dtype_words[type].bytes;
    values v = {.type = type};
    double least[1], most[1], counts[2], all[2]; /* counts below 2^53 are exact */
    if (rank_good(r, sg_download(r->context, l->host, l->grids[index].data, local_bytes(l, index))))
        for (int64_t z = 0; z < part_own(p, 2); z++)
            for (int64_t y = 0; y < part_own(p, 1); y++)
                values_add(&v, l->host + part_row(p, y, z) * element, (size_t)part_own(p, 0));
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

int local_find_nan(local *l) {
    const arrays *a = l->work->arrays;
    for (int i = 0; i < a->count; i++) {
        const sg_array_info *info = &a->items[i].info;
        summary s;
        if (info->role != SG_WRITE || (l->made == 0 && info->reads < 0))
            continue;
        if (!local_summarise(l, info->reads >= 0 ? info->reads : i, &s))
            return -1;
        if (s.nan > 0 || s.infinite > 0)
            return i;
    }
    l->sound = l->made;
    return -1;
}
