/* The snapshots of run: which array goes to which files, and how it is drawn. */
#include "cli/commands/run.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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
    if (f->item < 0 && arrays_find_output(a, components_name(b->name, 1)) >= 0)
        return complain(EXIT_USAGE, a->spec, "--snapshot '%s': it has components; name one: %s[1]",
                        b->name, b->name);
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
    int code = match_all(s, a);
    for (int i = 0; i < s->count && code == EXIT_DONE && speaks; i++)
        code = snapshot_try(&s->files[i], options_every(o, EVERY_SNAPSHOT));
    s->alone = alone;
    for (int i = 0; i < s->count; i++)
        s->alone &= !s->files[i].has_pieces;
    const int count = s->alone ? s->count : s->image_count;
    return code == EXIT_DONE && count > 0 && speaks
               ? snapshots_begin(&s->writer, s->alone ? a->session->context : NULL, s->files, count)
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
        text_printf(out, "  snapshot %s: %s%s%s\n", name, counted(f->written, "file"),
                    f->written > 0 ? ", the last one " : "", last);
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

/* ---- what they must not replace -------------------------------------------------------------- */

static bool is_folder_same(const char *a, const char *b) {
    const char *const end[] = {strrchr(a, '/'), strrchr(b, '/')}, *const path[] = {a, b};
    struct stat folder[2];
    for (int i = 0; i < 2; i++)
        if (stat(end[i] == NULL ? "." : phrase("%.*s", (int)(end[i] - path[i]) + 1, path[i]),
                 &folder[i]) != 0)
            return false;
    return folder[0].st_dev == folder[1].st_dev && folder[0].st_ino == folder[1].st_ino &&
           strcmp(end[0] == NULL ? a : end[0] + 1, end[1] == NULL ? b : end[1] + 1) == 0;
}

/* Also of files that are still to be written. Devices and pipes are not replaced. */
static bool is_same(const char *a, const char *b) {
    struct stat one, other;
    const bool exists = stat(a, &one) == 0;
    if (exists != (stat(b, &other) == 0))
        return false;
    return exists ? S_ISREG(one.st_mode) && one.st_dev == other.st_dev && one.st_ino == other.st_ino
                  : is_folder_same(a, b);
}

/* The step after which a snapshot goes to `path`, or 0: some digits of the path are its number. */
static int64_t step_of(const options *o, const char *pattern, const char *path) {
    enum { DIGITS = 18 };
    char name[SNAPSHOT_NAME];
    for (const char *from = path; *from != '\0'; from++) {
        int64_t step = 0;
        for (int i = 0; i < DIGITS && isdigit((unsigned char)from[i]); i++) {
            step = 10 * step + (from[i] - '0');
            if (step == 0 || step > o->steps || step % options_every(o, EVERY_SNAPSHOT) != 0)
                continue;
            snapshot_name(pattern, step, name);
            if (is_same(name, path))
                return step;
        }
    }
    return 0;
}

/* `restart` is replaced by the checkpoint of a run that goes on. */
static int keep(const options *o, const char *path, const char *what, bool restart) {
    if (path == NULL)
        return EXIT_DONE;
    if (o->checkpoint != NULL && !restart && is_same(o->checkpoint, path))
        return complain(EXIT_USAGE, path, "this is %s, which the checkpoint would replace", what);
    for (int i = 0; i < o->snapshots.count; i++) {
        const int64_t step = step_of(o, o->snapshots.items[i].value, path);
        if (step > 0)
            return complain(EXIT_USAGE, path,
                            "this is %s, which the snapshot after step %" PRId64 " would replace",
                            what, step);
    }
    return EXIT_DONE;
}

/* Names may differ and yet lead to one file, after some step. */
static int keep_apart(const options *o) {
    char name[2][SNAPSHOT_NAME];
    const int64_t n = options_every(o, EVERY_SNAPSHOT);
    const int64_t ends[] = {n, n > 0 ? o->steps / n * n : 0};
    for (int i = 0; i < o->snapshots.count; i++)
        for (int k = 0; k < i; k++)
            for (int end = 0; end < 2 && ends[1] > 0; end++) {
                snapshot_name(o->snapshots.items[i].value, ends[end], name[0]);
                snapshot_name(o->snapshots.items[k].value, ends[end], name[1]);
                if (is_same(name[0], name[1]))
                    return complain(EXIT_USAGE, o->snapshots.items[i].value,
                                    "two snapshots go to these files, and would replace each "
                                    "other");
            }
    return EXIT_DONE;
}

/* POSITIONS:FILE. */
static int keep_points(const options *o, const char *both) {
    char *positions = new_copy(both), *colon = strrchr(positions, ':');
    if (colon == NULL)
        return EXIT_DONE;
    *colon = '\0';
    const int code = keep(o, positions, "a file of points", false);
    return code == EXIT_DONE ? keep(o, colon + 1, "a file of points", false) : code;
}

int keep_files(const arrays *a) {
    const options *o = a->session->options;
    if (o->checkpoint == NULL && o->snapshots.count == 0)
        return EXIT_DONE;
    int code = keep(o, a->spec, "the spec", false);
    for (int i = 0; i < a->count && code == EXIT_DONE; i++)
        code = keep(o, a->items[i].input, "an input", false);
    for (int i = 0; i < a->output_count && code == EXIT_DONE; i++)
        code = keep(o, a->outputs[i].path, "an output", false);
    for (int i = 0; i < o->points.count && code == EXIT_DONE; i++)
        code = keep_points(o, o->points.items[i].value);
    for (int i = 0; i < o->monitors.count && code == EXIT_DONE; i++)
        code = keep(o, o->monitors.items[i].value, "a file of samples", false);
    if (code == EXIT_DONE)
        code = keep(o, o->restart, "the checkpoint of the run before", true);
    if (code == EXIT_DONE)
        code = keep(o, o->checkpoint, "the checkpoint", true);
    return code == EXIT_DONE ? keep_apart(o) : code;
}
