/* Snapshots of ranks. Files of whole fields are written in parts, one for each rank. Of an image
   each rank hands on its cells of the plane, rank 0 puts them together, and its thread draws
   them. */
#include <stdlib.h>
#include <string.h>

#include "cli/commands/run_local.h"

/* The cells of a part in a plane; 0 where it has none. */
static size_t count_cells(const sg_team_part *p, int64_t z) {
    return p->begin[2] <= z && z < p->end[2]
               ? (size_t)((p->end[0] - p->begin[0]) * (p->end[1] - p->begin[1]))
               : 0;
}

/* The rank's own cells of the plane, row after row. The host's copy of an array is used on the way.
 */
static bool fetch(local *l, const snapshot_files *f, int64_t z, unsigned char *mine) {
    const sg_team_part *p = &l->part;
    const size_t element = arrays_cell(l->work->arrays, f->item);
    const size_t plane = (size_t)(p->size[0] * p->size[1]) * element;
    const size_t row = (size_t)(p->end[0] - p->begin[0]) * element;
    if (count_cells(p, z) == 0)
        return true;
    const char *from =
        (const char *)l->grids[f->item].data + (size_t)(p->low[2] + z - p->begin[2]) * plane;
    if (!rank_good(l->rank, sg_download(l->rank->context, l->host, from, plane)))
        return false;
    for (int64_t y = 0; y < p->end[1] - p->begin[1]; y++)
        memcpy(mine + (size_t)y * row,
               l->host + (size_t)((p->low[1] + y) * p->size[0] + p->low[0]) * element, row);
    return true;
}

/* One part's cells among those of the whole plane. */
static void place(const sg_team_part *p, size_t element, const unsigned char *cells,
                  unsigned char *plane) {
    const size_t row = (size_t)(p->end[0] - p->begin[0]) * element;
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

/* One file of a snapshot, of which every rank writes its part; as save_state does it. */
static bool save_parts(local *l, const snapshot_files *f) {
    rank *r = l->rank;
    char name[SNAPSHOT_NAME], path[MOST_PATH] = "";
    const char *temporary = NULL;
    output *file = NULL;
    output_set alone = {0};
    if (r->number == 0) {
        snapshot_name(f->pattern, l->made, name);
        const uint64_t end = f->head.length + datafile_file_bytes(f->pattern, &f->array);
        if (output_begin(&file, &alone, name) == EXIT_DONE &&
            output_write(file, f->head.data, f->head.length))
            temporary = output_stretch(file, end, f->tail.data, f->tail.length);
        if (temporary == NULL)
            rank_fail(r, "a snapshot cannot be written");
    }
    bool good = local_share_path(r, temporary, path);
    if (good)
        local_store(l, path, f->head.length, f->item, datafile_widens(f->pattern, &f->array));
    good = rank_agreed(r) && good;
    if (file != NULL && !good)
        output_drop(file);
    else if (file != NULL && !output_commit(file))
        rank_fail(r, "a snapshot cannot be put in its place");
    return rank_agreed(r) && good;
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
