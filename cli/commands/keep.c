#include "cli/commands/keep.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/files/snapshot.h"

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
