/* The thread that writes snapshots. The command's memory and messages belong to the thread that
   called snapshots_begin, which also says what went wrong. */
#include "cli/files/records.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = 2, IMAGE_MAXVAL = 255 };

/* ---- names ----------------------------------------------------------------------------------- */

/* The only conversion: its length, with its width, or 0. */
static size_t find_conversion(const char *pattern, const char **at, int *width) {
    *at = strchr(pattern, '%');
    *width = 0;
    if (*at == NULL)
        return 0;
    size_t length = 1;
    if ((*at)[1] == '0') {
        for (length = 2; (*at)[length] >= '0' && (*at)[length] <= '9' && length < 4; length++)
            *width = 10 * *width + (*at)[length] - '0';
        if (*width == 0)
            return 0;
    }
    return (*at)[length] == 'd' && strchr(*at + 1, '%') == NULL ? length + 1 : 0;
}

void snapshot_name(const char *pattern, int64_t step, char out[SNAPSHOT_NAME]) {
    const char *at;
    int width;
    const size_t length = find_conversion(pattern, &at, &width);
    snprintf(out, SNAPSHOT_NAME, "%.*s%0*" PRId64 "%s", (int)(at - pattern), pattern,
             width > 0 ? width : 1, step, at + length);
}

static const char *extension_of(const char *path) {
    const char *dot = strrchr(path, '.');
    return dot != NULL && strchr(dot, '/') == NULL ? dot : "";
}

bool snapshot_is_png(const char *path) {
    return strcmp(extension_of(path), ".png") == 0;
}

int snapshot_judge(const char *pattern) {
    static const char *const known[] = {".npy", ".vti", ".pvti", ".pgm", ".png"};
    const char *at;
    int width;
    size_t k = 0;
    if (find_conversion(pattern, &at, &width) == 0)
        return complain(EXIT_USAGE, NULL,
                        "--snapshot %s: the name needs one %%06d (or %%d) for the step, and no "
                        "other %%",
                        pattern);
    while (k < sizeof known / sizeof known[0] && strcmp(extension_of(pattern), known[k]) != 0)
        k++;
    if (k == sizeof known / sizeof known[0])
        return complain(EXIT_USAGE, NULL,
                        "--snapshot %s: snapshots are .npy, .vti, .pvti, .pgm and .png files",
                        pattern);
    if (strlen(pattern) > SNAPSHOT_NAME - 128)
        return complain(EXIT_USAGE, NULL, "--snapshot %s: the name is too long", pattern);
    return snapshot_is_png(pattern) && picture_missing() != NULL
               ? complain(EXIT_USAGE, NULL, "--snapshot %s: %s", pattern, picture_missing())
               : EXIT_DONE;
}

/* ---- the thread ------------------------------------------------------------------------------ */

typedef struct slot {
    int64_t step;
    unsigned char *elements; /* of all files, one after the other */
    sg_capture *capture;     /* that brings them; NULL: none */
} slot;

struct snapshots {
    snapshot_files *files;
    int count;
    uint64_t *bytes; /* of the elements of each file */
    output *output;
    unsigned char *samples; /* of an image */
    pthread_t thread;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t changed;
    slot slots[SLOTS];
    int first, full; /* the oldest slot to be written, and how many there are */
    bool ended;
    int error; /* errno of the first failure, */
    char failed[SNAPSHOT_NAME];
    bool told; /* which has been printed */
};

static bool put(void *user, const void *bytes, size_t count) {
    snapshots *s = user;
    s->error = output_add(s->output, bytes, count);
    return s->error == 0;
}

static void find_scale(snapshot_files *f, const unsigned char *elements, uint64_t count) {
    const dtype type = f->array.type;
    values v = {.type = type};
    values_add(&v, elements, (size_t)count);
    f->scale = v.any ? (pgm_scale){dtype_value(type, v.minimum), dtype_value(type, v.maximum)}
                     : (pgm_scale){0, 1};
    f->has_scale = true;
}

static bool write_image(snapshots *s, snapshot_files *f, const unsigned char *elements) {
    const int64_t *size = f->array.size;
    const size_t count = (size_t)(size[0] * size[1]);
    if (!f->has_scale)
        find_scale(f, elements, count);
    const size_t bytes =
        pgm_samples(f->array.type, elements, count, IMAGE_MAXVAL, &f->scale, s->samples);
    if (f->is_png)
        return picture_write(size[0], size[1], s->samples, f->colours, put, s);
    return put(s, f->head.data, f->head.length) && put(s, s->samples, bytes);
}

/* Numbers of 16 bits as floats. */
static bool put_widened(snapshots *s, dtype type, const uint16_t *elements, uint64_t count) {
    enum { PIECE = 1024 };
    float wide[PIECE];
    bool good = true;
    for (uint64_t at = 0; at < count && good; at += PIECE) {
        const size_t now = count - at < PIECE ? (size_t)(count - at) : PIECE;
        datafile_widen(type, elements + at, now, wide);
        good = put(s, wide, now * sizeof *wide);
    }
    return good;
}

static bool write_elements(snapshots *s, const snapshot_files *f, const unsigned char *elements,
                           uint64_t bytes) {
    const dtype type = f->array.type;
    const bool widens = datafile_widens(f->pattern, &f->array);
    return put(s, f->head.data, f->head.length) &&
           (widens ? put_widened(s, type, (const uint16_t *)(const void *)elements, bytes / 2)
                   : put(s, elements, (size_t)bytes)) &&
           put(s, f->tail.data, f->tail.length);
}

static void fail(snapshots *s, int error, const char *path) {
    pthread_mutex_lock(&s->lock);
    s->error = error;
    snprintf(s->failed, sizeof s->failed, "%s", path);
    pthread_mutex_unlock(&s->lock);
}

/* Notes the error in s->error, which this thread alone sets until the run has ended. */
static void write_file(snapshots *s, snapshot_files *f, int64_t step, const unsigned char *elements,
                       uint64_t bytes) {
    char path[SNAPSHOT_NAME];
    snapshot_name(f->pattern, step, path);
    int error = output_open(s->output, path);
    if (error == 0) {
        s->error = 0;
        const bool good =
            f->is_image ? write_image(s, f, elements) : write_elements(s, f, elements, bytes);
        error = output_close(s->output, good);
        if (!good)
            error = s->error != 0 ? s->error : ENOMEM;
    }
    if (error == 0) {
        f->written++;
        f->last = step;
        return;
    }
    fail(s, error, path);
}

static void write_slot(snapshots *s, const slot *of) {
    const unsigned char *at = of->elements;
    if (of->capture != NULL && sg_capture_wait(of->capture) != SG_OK)
        fail(s, EIO, s->files[0].pattern);
    for (int i = 0; i < s->count && s->failed[0] == '\0'; i++) {
        write_file(s, &s->files[i], of->step, at, s->bytes[i]);
        at += s->bytes[i];
    }
}

static void *write_all(void *argument) {
    snapshots *s = argument;
    pthread_mutex_lock(&s->lock);
    for (;;) {
        while (s->full == 0 && !s->ended)
            pthread_cond_wait(&s->changed, &s->lock);
        if (s->full == 0)
            break;
        const slot *next = &s->slots[s->first];
        pthread_mutex_unlock(&s->lock);
        write_slot(s, next);
        pthread_mutex_lock(&s->lock);
        s->first = (s->first + 1) % SLOTS;
        s->full--;
        pthread_cond_broadcast(&s->changed);
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

/* ---- the run's side -------------------------------------------------------------------------- */

int snapshot_try(const snapshot_files *f, int64_t step) {
    char path[SNAPSHOT_NAME];
    output *spare = output_spare();
    snapshot_name(f->pattern, step, path);
    int error = output_open(spare, path);
    if (error == 0)
        error = output_close(spare, false);
    return error == 0
               ? EXIT_DONE
               : complain(EXIT_DATA, new_copy(path), "cannot write: %s", whole_file_error(error));
}

void snapshot_frame(snapshot_files *f) {
    f->head = new_text();
    f->tail = new_text();
    f->array.maxval = IMAGE_MAXVAL;
    if (!f->is_png)
        datafile_frame(f->pattern, &f->array, &f->head, &f->tail);
}

/* Signals end the command in the caller's thread. */
static bool start(snapshots *s) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    const bool good = pthread_create(&s->thread, NULL, write_all, s) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return good;
}

/* The memory of a slot. */
static int make_room(sg_context *context, slot *of, size_t bytes) {
    void *memory;
    if (context == NULL) {
        of->elements = must_alloc(bytes, 1);
        return EXIT_DONE;
    }
    if (sg_capture_open(context, bytes, &of->capture, &memory) != SG_OK)
        return complain(EXIT_DEVICE, NULL, "%s", sg_error(context));
    of->elements = memory;
    return EXIT_DONE;
}

static void free_room(slot *of) {
    if (of->capture != NULL)
        sg_capture_close(of->capture);
    else
        free(of->elements);
}

int snapshots_begin(snapshots **out, sg_context *context, snapshot_files *files, int count) {
    snapshots *s = new_array(1, sizeof *s);
    uint64_t all = 0, most = 1;
    *s = (snapshots){.files = files, .count = count, .output = output_spare()};
    s->bytes = new_array((size_t)count, sizeof *s->bytes);
    for (int i = 0; i < count; i++) {
        const datafile_array *a = &files[i].array;
        s->bytes[i] = datafile_bytes(a);
        all += s->bytes[i];
        const uint64_t cells = s->bytes[i] / dtype_words[a->type].bytes;
        most = files[i].is_image && cells > most ? cells : most;
    }
    for (int i = 0; i < SLOTS; i++) {
        const int code = make_room(context, &s->slots[i], (size_t)all);
        if (code != EXIT_DONE) {
            for (int k = 0; k < i; k++)
                free_room(&s->slots[k]);
            return code;
        }
    }
    s->samples = must_alloc((size_t)most, 1);
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->changed, NULL);
    if (!start(s))
        return complain(EXIT_DEVICE, NULL, "no thread can be started to write snapshots");
    *out = s;
    return EXIT_DONE;
}

/* With the lock held. */
static int tell(snapshots *s) {
    if (s->failed[0] == '\0' || s->told)
        return s->told ? EXIT_DATA : EXIT_DONE;
    s->told = true;
    return complain(EXIT_DATA, new_copy(s->failed), "cannot write: %s", whole_file_error(s->error));
}

int snapshots_take(snapshots *s, int64_t step, snapshot_give give, void *user) {
    pthread_mutex_lock(&s->lock);
    while (s->full == SLOTS)
        pthread_cond_wait(&s->changed, &s->lock);
    slot *next = &s->slots[(s->first + s->full) % SLOTS];
    int code = tell(s);
    pthread_mutex_unlock(&s->lock);
    snapshot_room to = {next->elements, next->capture, 0};
    for (int i = 0; i < s->count && code == EXIT_DONE; i++) {
        const snapshot_files *f = &s->files[i];
        const size_t cells = (size_t)(s->bytes[i] / dtype_words[f->array.type].bytes);
        code = give(user, f->item, f->first, cells, &to);
        to.memory += s->bytes[i];
        to.at += s->bytes[i];
    }
    if (code != EXIT_DONE)
        return code;
    next->step = step;
    pthread_mutex_lock(&s->lock);
    s->full++;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    return EXIT_DONE;
}

int snapshots_end(snapshots *s) {
    if (s == NULL)
        return EXIT_DONE;
    pthread_mutex_lock(&s->lock);
    s->ended = true;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    pthread_join(s->thread, NULL);
    for (int i = 0; i < SLOTS; i++)
        free_room(&s->slots[i]);
    free(s->samples);
    return tell(s);
}
