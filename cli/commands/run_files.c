/* Files that several ranks write. A file that they share: rank 0 makes it and puts it in its place
   when all have written their parts. Files of parts: each rank writes its own cells to a .vti file
   of its own, and rank 0 the .pvti file that names them. Snapshots are either; of an image each
   rank hands on its cells of the plane, rank 0 puts them together, and its thread draws them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands/run.h"

/* ---- shared files ---------------------------------------------------------------------------- */

static void fail(rank *r, const shared_file *s, const char *how) {
    char why[96];
    snprintf(why, sizeof why, "%s cannot be %s", s->what, how);
    rank_fail(r, why);
}

bool local_share_file(local *l, shared_file *s, const void *head, size_t head_bytes, uint64_t end,
                      const text *tail) {
    rank *r = l->rank;
    const char *temporary = NULL;
    output_set alone = {0};
    if (r->number == 0 && r->status == SG_OK) {
        if (output_begin(&s->file, &alone, s->path) == EXIT_DONE &&
            output_write(s->file, head, head_bytes))
            temporary = output_stretch(s->file, end, tail != NULL ? tail->data : NULL,
                                       tail != NULL ? tail->length : 0);
        if (temporary == NULL)
            fail(r, s, "written");
    }
    return local_share_path(r, temporary, s->shared);
}

bool local_end_file(local *l, shared_file *s, bool good) {
    rank *r = l->rank;
    good = rank_agreed(r) && good;
    if (s->file != NULL && !good)
        output_drop(s->file);
    else if (s->file != NULL && !output_commit(s->file))
        fail(r, s, "put in its place");
    return rank_agreed(r) && good;
}

/* ---- files of parts -------------------------------------------------------------------------- */

/* Whether it may be the file of a part of `of`. */
static bool is_piece(const char *path, const char *of) {
    const size_t stem = strlen(of) - strlen(".pvti");
    return strncmp(path, of, stem) == 0 && path[stem] == '_' &&
           datafile_kind_of(path) == DATAFILE_VTI;
}

static int judge_piece(const char *path, const char *of) {
    return is_piece(path, of)
               ? complain(EXIT_USAGE, path, "this may be a piece of %s: name it otherwise", of)
               : EXIT_DONE;
}

/* Two outputs, or an output and a snapshot, may be one file. */
int pieces_judge(const arrays *a) {
    const bindings *shots = &a->session->options->snapshots;
    int code = EXIT_DONE;
    for (int i = 0; i < a->output_count; i++) {
        const char *of = a->outputs[i].path;
        if (datafile_kind_of(of) != DATAFILE_PVTI)
            continue;
        for (int k = 0; k < a->output_count && code == EXIT_DONE; k++)
            code = judge_piece(a->outputs[k].path, of);
        for (int k = 0; k < shots->count && code == EXIT_DONE; k++)
            code = judge_piece(shots->items[k].value, of);
    }
    return code;
}

void pieces_make(work *w, const ranks *r, const arrays *a) {
    bool any = false;
    for (int i = 0; i < a->output_count; i++)
        any |= datafile_kind_of(a->outputs[i].path) == DATAFILE_PVTI;
    for (int i = 0; i < w->shots.count; i++)
        any |= w->shots.files[i].has_pieces;
    w->piece_count = any ? a->output_count + 1 : 0;
    const size_t count = (size_t)(r->here * w->piece_count);
    w->pieces = new_array(count > 0 ? count : 1, sizeof *w->pieces);
    for (size_t i = 0; i < count; i++)
        w->pieces[i].file = output_spare();
}

/* The rank's `which`th; the last one is a snapshot's. */
static piece *piece_of(const local *l, int which) {
    const work *w = l->work;
    return &w->pieces[l->rank->number % l->rank->of->here * w->piece_count + which];
}

static void note(rank *r, const piece *p, int error) {
    char why[MOST_PATH + 128];
    if (error == 0)
        return;
    snprintf(why, sizeof why, "%s: cannot write: %s", p->path, whole_file_error(error));
    rank_fail(r, why);
}

/* Plane by plane. */
static int add_cells(const local *l, int item, output *to) {
    const sg_team_part *p = &l->part;
    const dtype type = l->work->arrays->items[item].type;
    const size_t element = dtype_words[type].bytes, cells = (size_t)part_own(p, 0);
    const size_t row = cells * dtype_words[dtype_computes(type)].bytes;
    const size_t bytes = row * (size_t)part_own(p, 1);
    unsigned char *plane = malloc(bytes);
    int error = plane == NULL ? ENOMEM : 0;
    for (int64_t z = 0; z < part_own(p, 2) && error == 0; z++) {
        for (int64_t y = 0; y < part_own(p, 1); y++) {
            const unsigned char *own = l->host + part_row(p, y, z) * element;
            if (dtype_is_narrow(type)) /* floats in such a file */
                datafile_widen(type, own, cells, (float *)(void *)(plane + (size_t)y * row));
            else
                memcpy(plane + (size_t)y * row, own, row);
        }
        error = output_add(to, plane, bytes);
    }
    free(plane);
    return error;
}

static void write_piece(local *l, piece *p, const datafile_array *about, int item) {
    char head[VTI_HEAD];
    vti_box box;
    memcpy(box.begin, l->part.begin, sizeof box.begin);
    memcpy(box.end, l->part.end, sizeof box.end);
    const size_t length = vti_piece_head(head, about, &box);
    if (!rank_good(l->rank, sg_download(l->rank->context, l->host, l->grids[item].data,
                                        local_bytes(l, item))))
        return;
    int error = output_open(p->file, p->path);
    p->open = error == 0;
    if (error == 0)
        error = output_add(p->file, head, length);
    if (error == 0)
        error = add_cells(l, item, p->file);
    if (error == 0)
        error = output_add(p->file, vti_tail, strlen(vti_tail));
    note(l->rank, p, error);
}

/* Rank 0 writes which parts there are. */
static void write_index(local *l, const char *path, const datafile_array *about,
                        const sg_team_part *parts, output *index) {
    const int count = l->rank->of->count;
    vti_box *boxes = new_array((size_t)count, sizeof *boxes);
    text list = new_text();
    for (int i = 0; i < count; i++) {
        memcpy(boxes[i].begin, parts[i].begin, sizeof boxes->begin);
        memcpy(boxes[i].end, parts[i].end, sizeof boxes->end);
    }
    vti_index(&list, path, about, boxes, count);
    if (!output_write(index, list.data, list.length))
        rank_fail(l->rank, "the list of parts cannot be written");
}

bool local_write_pieces(local *l, int which, const char *path, const datafile_array *about,
                        int item, output *index) {
    rank *r = l->rank;
    piece *p = piece_of(l, which);
    sg_team_part *parts = malloc((size_t)r->of->count * sizeof *parts);
    if (parts == NULL)
        rank_fail(r, "out of memory");
    if (!vti_piece_path(path, r->number, p->path, sizeof p->path))
        rank_fail(r, "the name of a part is too long");
    if (rank_agreed(r) && rank_good(r, sg_team_gather(r->team, &l->part, sizeof l->part, parts))) {
        write_piece(l, p, about, item);
        if (r->number == 0)
            write_index(l, path, about, parts, index);
    }
    free(parts);
    return rank_agreed(r);
}

static void place_indexes(rank *r, output **indexes, int count) {
    for (int i = 0; i < count; i++) {
        const int error = output_place(indexes[i]);
        char why[MOST_PATH + 128];
        snprintf(why, sizeof why, "%s: cannot write: %s", output_name(indexes[i]),
                 whole_file_error(error));
        if (error != 0)
            rank_fail(r, why);
    }
}

/* A rank's files are renamed when all ranks have written, and the .pvti file after that; where one
   cannot be renamed, those that were are taken back. */
bool local_end_pieces(local *l, int first, int count, output **indexes, int index_count) {
    rank *r = l->rank;
    const int end = first + count < l->work->piece_count ? first + count : l->work->piece_count;
    bool good = rank_agreed(r);
    for (int i = first; i < end && good; i++)
        if (piece_of(l, i)->open)
            note(r, piece_of(l, i), output_place(piece_of(l, i)->file));
    good = rank_agreed(r);
    if (good && r->number == 0)
        place_indexes(r, indexes, index_count);
    good = rank_agreed(r);
    for (int i = first; i < end; i++) {
        if (piece_of(l, i)->open)
            output_settle(piece_of(l, i)->file, good);
        piece_of(l, i)->open = false;
    }
    for (int i = 0; i < index_count && r->number == 0; i++)
        output_settle(indexes[i], good);
    return good;
}

/* ---- snapshots ------------------------------------------------------------------------------- */

/* The cells of a part in a plane; 0 where it has none. */
static size_t count_cells(const sg_team_part *p, int64_t z) {
    return p->begin[2] <= z && z < p->end[2] ? (size_t)(part_own(p, 0) * part_own(p, 1)) : 0;
}

/* The rank's own cells of the plane, row after row. The host's copy of an array is used on the way.
 */
static bool fetch(local *l, const snapshot_files *f, int64_t z, unsigned char *mine) {
    const sg_team_part *p = &l->part;
    const size_t element = arrays_cell(l->work->arrays, f->item);
    const size_t plane = (size_t)(p->size[0] * p->size[1]) * element;
    const size_t row = (size_t)part_own(p, 0) * element;
    if (count_cells(p, z) == 0)
        return true;
    const char *from =
        (const char *)l->grids[f->item].data + (size_t)(p->low[2] + z - p->begin[2]) * plane;
    if (!rank_good(l->rank, sg_download(l->rank->context, l->host, from, plane)))
        return false;
    for (int64_t y = 0; y < part_own(p, 1); y++)
        memcpy(mine + (size_t)y * row,
               l->host + (size_t)((p->low[1] + y) * p->size[0] + p->low[0]) * element, row);
    return true;
}

/* One part's cells among those of the whole plane. */
static void place(const sg_team_part *p, size_t element, const unsigned char *cells,
                  unsigned char *plane) {
    const size_t row = (size_t)part_own(p, 0) * element;
    for (int64_t y = p->begin[1]; y < p->end[1]; y++, cells += row)
        memcpy(plane + (size_t)(y * p->global[0] + p->begin[0]) * element, cells, row);
}

/* Collective; `plane` is NULL where nothing is put together. */
static bool gather_plane(local *l, const snapshot_files *f, unsigned char *plane) {
    rank *r = l->rank;
    const int count = r->of->count;
    const size_t element = arrays_cell(l->work->arrays, f->item);
    const int64_t z = (int64_t)(f->first / (uint64_t)(l->part.global[0] * l->part.global[1]));
    sg_team_part *parts = malloc((size_t)count * sizeof *parts);
    if (parts == NULL)
        rank_fail(r, "out of memory");
    bool good =
        rank_agreed(r) && rank_good(r, sg_team_gather(r->team, &l->part, sizeof l->part, parts));
    size_t most = 1;
    for (int i = 0; i < count && good; i++)
        if (count_cells(&parts[i], z) > most)
            most = count_cells(&parts[i], z);
    unsigned char *mine = calloc(most, element), *all = malloc((size_t)count * most * element);
    if (good && (mine == NULL || all == NULL))
        rank_fail(r, "out of memory");
    if (good && r->status == SG_OK)
        fetch(l, f, z, mine);
    good =
        good && rank_agreed(r) && rank_good(r, sg_team_gather(r->team, mine, most * element, all));
    for (int i = 0; i < count && good && plane != NULL; i++)
        if (count_cells(&parts[i], z) > 0)
            place(&parts[i], element, all + (size_t)i * most * element, plane);
    free(all);
    free(mine);
    free(parts);
    return good;
}

/* One file of a snapshot, of which every rank writes its part. */
static bool save_parts(local *l, const snapshot_files *f) {
    char name[SNAPSHOT_NAME];
    shared_file s = {.path = name, .what = "a snapshot"};
    snapshot_name(f->pattern, l->made, name);
    const bool good =
        local_share_file(l, &s, f->head.data, f->head.length,
                         f->head.length + datafile_file_bytes(f->pattern, &f->array), &f->tail);
    if (good)
        local_store(l, s.shared, f->head.length, f->item, datafile_widens(f->pattern, &f->array));
    return local_end_file(l, &s, good);
}

/* One snapshot in files of the ranks. */
static bool save_pieces(local *l, const snapshot_files *f) {
    rank *r = l->rank;
    const int which = l->work->piece_count - 1;
    char name[SNAPSHOT_NAME];
    output *file = NULL;
    output_set alone = {0};
    snapshot_name(f->pattern, l->made, name);
    if (r->number == 0 && output_begin(&file, &alone, name) != EXIT_DONE)
        rank_fail(r, "a snapshot cannot be written");
    bool good = rank_agreed(r) && local_write_pieces(l, which, name, &f->array, f->item, file);
    return local_end_pieces(l, which, 1, &file, file != NULL ? 1 : 0) && good;
}

static int give(void *user, int item, uint64_t first, size_t count, const snapshot_room *to) {
    const local *l = user;
    const size_t element = arrays_cell(l->work->arrays, item);
    const char *from = (const char *)l->grids[item].data + first * element;
    return rank_good(l->rank, sg_capture_take(to->capture, to->at, from, count * element, NULL))
               ? EXIT_DONE
               : EXIT_DEVICE;
}

/* The planes of all images, one after the other, at rank 0. */
typedef struct planes {
    const arrays *arrays;
    unsigned char *cells;
    size_t at;
} planes;

static int give_plane(void *user, int item, uint64_t first, size_t count, const snapshot_room *to) {
    planes *p = user;
    const size_t bytes = count * arrays_cell(p->arrays, item);
    (void)first;
    memcpy(to->memory, p->cells + p->at, bytes);
    p->at += bytes;
    return EXIT_DONE;
}

/* Every rank hands on its cells of images; the thread of rank 0 writes them. */
static bool take_images(local *l) {
    rank *r = l->rank;
    run_snapshots *s = &l->work->shots;
    planes p = {.arrays = l->work->arrays};
    uint64_t bytes = 0;
    for (int i = 0; i < s->image_count; i++)
        bytes += datafile_bytes(&s->files[i].array);
    if (r->number == 0 && (p.cells = malloc((size_t)bytes)) == NULL)
        rank_fail(r, "out of memory");
    bool good = rank_agreed(r);
    for (int i = 0; i < s->image_count && good; i++) {
        good = gather_plane(l, &s->files[i], p.cells != NULL ? p.cells + p.at : NULL);
        p.at += (size_t)datafile_bytes(&s->files[i].array);
    }
    p.at = 0;
    if (good && p.cells != NULL && snapshots_take(s->writer, l->made, give_plane, &p) != EXIT_DONE)
        rank_fail(r, "a snapshot cannot be written");
    free(p.cells);
    return rank_agreed(r) && good;
}

/* A lone rank hands its arrays on to the thread that writes; several write their parts. */
bool local_take_snapshots(local *l) {
    run_snapshots *s = &l->work->shots;
    if (s->alone) {
        if (snapshots_take(s->writer, l->made, give, l) != EXIT_DONE)
            rank_fail(l->rank, "a snapshot cannot be written");
        return l->rank->status == SG_OK;
    }
    if (s->image_count > 0 && !take_images(l))
        return false;
    for (int i = s->image_count; i < s->count; i++) {
        if (!(s->files[i].has_pieces ? save_pieces : save_parts)(l, &s->files[i]))
            return false;
        if (l->rank->number == 0) {
            s->files[i].written++;
            s->files[i].last = l->made;
        }
    }
    return true;
}
