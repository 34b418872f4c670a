/* The snapshots of run: which array goes to which files, and how it is drawn. */
#include "cli/commands/snapshots.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/files/picture.h"

int64_t steps_until_due(const options *o, unsigned what, int64_t made, int64_t batch) {
    int64_t count = o->steps - made;
    if (count > batch)
        count = batch;
    for (int i = 0; i < EVERY_COUNT; i++) {
        const int64_t n = options_every(o, (every)i);
        if ((what >> i & 1) != 0 && n > 0 && count > n - made % n)
            count = n - made % n;
    }
    return count;
}

static int unknown_colours(const char *name) {
    text known = new_text();
    for (int i = 0; colours_name(i) != NULL; i++)
        text_printf(&known, "%s%s", i > 0 ? ", " : "", colours_name(i));
    return complain(EXIT_USAGE, NULL, "--colours '%s': the maps are %s", name, known.data);
}

/* Of an image: the plane z = K in 3D, and the colours. */
static int draw(const arrays *a, snapshot_files *f) {
    const options *o = a->session->options;
    int64_t *size = f->array.size;
    if (f->array.dims == 1)
        return complain(EXIT_USAGE, f->pattern, "an image has 2 dimensions, but %s has 1",
                        f->array.name);
    if (size[0] > PICTURE_MOST || size[1] > PICTURE_MOST)
        return complain(EXIT_USAGE, f->pattern, "%s is too wide or too high for an image",
                        f->array.name);
    const int64_t z = o->slice_given ? o->slice : size[2] / 2;
    if (z >= size[2])
        return complain(EXIT_USAGE, NULL,
                        "--slice z=%" PRId64 ": %s has the planes z=0 to z=%" PRId64, z,
                        f->array.name, size[2] - 1);
    f->first = (uint64_t)z * (uint64_t)size[0] * (uint64_t)size[1];
    size[2] = 1;
    f->array.dims = 2;
    f->has_scale = o->range_given;
    f->scale = (pgm_scale){o->range[0], o->range[1]};
    const char *map = o->colours != NULL ? o->colours : colours_name(0);
    return colours_of(map, f->colours) ? EXIT_DONE : unknown_colours(map);
}

static int match(const arrays *a, const binding *b, snapshot_files *f) {
    *f = (snapshot_files){.pattern = b->value, .item = arrays_find_output(a, b->name)};
    if (f->item < 0)
        return arrays_unknown(a, "--snapshot", b->name, false);
    const int code = snapshot_judge(b->value);
    if (code != EXIT_DONE)
        return code;
    arrays_describe(a, f->item, &f->array);
    f->is_png = snapshot_is_png(b->value);
    f->has_pieces = datafile_kind_of(b->value) == DATAFILE_PVTI;
    f->is_image = f->is_png || datafile_kind_of(b->value) == DATAFILE_PGM;
    return f->is_image ? draw(a, f) : EXIT_DONE;
}

/* Options that would change nothing. */
static int judge_options(const arrays *a, const run_snapshots *s) {
    const options *o = a->session->options;
    bool image = false, png = false;
    for (int i = 0; i < s->count; i++) {
        image |= s->files[i].is_image;
        png |= s->files[i].is_png;
        for (int k = 0; k < i; k++)
            if (strcmp(s->files[k].pattern, s->files[i].pattern) == 0)
                return complain(EXIT_USAGE, s->files[i].pattern,
                                "two snapshots go to these files, and would replace each other");
    }
    if (o->slice_given && (!image || a->info.dims < 3))
        return complain(EXIT_USAGE, NULL, "--slice: no snapshot is an image of a 3D field");
    if (o->range_given && !image)
        return complain(EXIT_USAGE, NULL, "--range: no snapshot is an image");
    if (o->colours != NULL && !png)
        return complain(EXIT_USAGE, NULL, "--colours: no snapshot is a .png image");
    return EXIT_DONE;
}

/* Images first. */
static int match_all(run_snapshots *s, const arrays *a) {
    const bindings *given = &a->session->options->snapshots;
    for (int images = 1; images >= 0; images--)
        for (int i = 0; i < given->count; i++) {
            snapshot_files f;
            const int code = match(a, &given->items[i], &f);
            if (code != EXIT_DONE)
                return code;
            if (f.is_image != images)
                continue;
            snapshot_frame(&f);
            s->files[s->count++] = f;
            s->image_count += images;
        }
    return judge_options(a, s);
}

int run_snapshots_begin(run_snapshots *s, const arrays *a, bool alone, bool speaks) {
    const options *o = a->session->options;
    const int given = o->snapshots.count;
    if (given > 0 && !a->is_grid)
        return complain(EXIT_USAGE, a->spec, "--snapshot: %s makes no steps", a->name);
    if (given == 0)
        return EXIT_DONE;
    s->files = new_array((size_t)given, sizeof *s->files);
    const int code = match_all(s, a);
    s->alone = alone;
    for (int i = 0; i < s->count; i++)
        s->alone &= !s->files[i].has_pieces;
    const int count = s->alone ? s->count : s->image_count;
    return code == EXIT_DONE && count > 0 && speaks
               ? snapshots_begin(&s->writer, s->alone ? a->session->context : NULL, s->files, count,
                                 options_every(o, EVERY_SNAPSHOT))
               : code;
}

int run_snapshots_end(run_snapshots *s) {
    const int code = snapshots_end(s->writer);
    s->writer = NULL;
    return code;
}

bool run_snapshots_due(const run_snapshots *s, const options *o, int64_t made) {
    return s->count > 0 && made > 0 && made % options_every(o, EVERY_SNAPSHOT) == 0;
}

void run_snapshots_report(const run_snapshots *s, const arrays *a, json *j, text *out) {
    json_add(j, "snapshots [");
    for (int i = 0; i < s->count; i++) {
        const snapshot_files *f = &s->files[i];
        const char *name = a->items[f->item].info.name;
        char last[SNAPSHOT_NAME] = "";
        if (f->written > 0)
            snapshot_name(f->pattern, f->last, last);
        text_printf(out, "  snapshot %s: %" PRId64 " file%s%s%s\n", name, f->written,
                    f->written == 1 ? "" : "s", f->written > 0 ? ", the last one " : "", last);
        json_add(j, "{ array %s files %" PRId64 " last %s", name, f->written,
                 f->written > 0 ? new_copy(last) : NULL);
        if (f->is_image && f->has_scale) {
            text_printf(out, "           %s .. %s\n", element_text(DTYPE_DOUBLE, &f->scale.low),
                        element_text(DTYPE_DOUBLE, &f->scale.high));
            json_add(j, "low %g high %g", f->scale.low, f->scale.high);
        }
        json_add(j, "}");
    }
    json_add(j, "]");
}
