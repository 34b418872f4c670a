/* Files of parts: each rank writes its own cells to a .vti file of its own, and rank 0 the .pvti
   file that names them. A rank's files are renamed when all ranks have written, and the .pvti file
   after that; where one cannot be renamed, those that were are taken back. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "cli/commands/run_local.h"
#include "cli/files/datafile.h"

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
    const size_t element = dtype_words[type].bytes, cells = (size_t)(p->end[0] - p->begin[0]);
    const size_t row = cells * dtype_words[dtype_computes(type)].bytes;
    const size_t bytes = row * (size_t)(p->end[1] - p->begin[1]);
    unsigned char *plane = malloc(bytes);
    int error = plane == NULL ? ENOMEM : 0;
    for (int64_t z = 0; z < p->end[2] - p->begin[2] && error == 0; z++) {
        for (int64_t y = 0; y < p->end[1] - p->begin[1]; y++) {
            const int64_t from =
                ((p->low[2] + z) * p->size[1] + p->low[1] + y) * p->size[0] + p->low[0];
            const unsigned char *own = l->host + (size_t)from * element;
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
