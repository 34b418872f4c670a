/* The files that commands write: each appears whole or not at all, those of a set do not replace
   one another, and a signal that ends the command removes what is unfinished. */
#include "cli/command.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct output {
    whole_file file;
    const char *path; /* as the user said it, for messages */
    output *volatile next;
};

/* ---- what is unfinished ------------------------------------------------------------ */

/* All open outputs, for the handler of signals that end the command. */
static output *volatile unfinished;
static pthread_mutex_t unfinished_lock = PTHREAD_MUTEX_INITIALIZER; /* of those who change it */

static void take_unfinished_away(void) {
    for (const output *o = unfinished; o != NULL; o = o->next)
        for (int i = 0; i < 2; i++) {
            const char *name = i == 0 ? o->file.temporary : o->file.aside;
            if (name[0] != '\0')
                unlinkat(o->file.folder, name, 0);
        }
}

static volatile sig_atomic_t is_ending; /* another thread begins no more files */

static void clean_and_die(int number) {
    is_ending = 1;
    take_unfinished_away();
    sg_abandon();
    take_unfinished_away(); /* one that was just being made */
    signal(number, SIG_DFL);
    raise(number);
}

static void let_the_write_fail(int number) {
    (void)number;
}

void output_guard_signals(void) {
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
    static const int fails[] = {SIGPIPE, SIGXFSZ};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        struct sigaction now;
        /* Signals that nohup or a shell's background jobs ignore stay ignored. */
        if (sigaction(ends[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            sigaction(ends[i], &(struct sigaction){.sa_handler = clean_and_die}, NULL);
    }
    /* A handler rather than SIG_IGN: programs that we start do not inherit it. */
    for (size_t i = 0; i < sizeof fails / sizeof fails[0]; i++)
        sigaction(fails[i], &(struct sigaction){.sa_handler = let_the_write_fail}, NULL);
    atexit(take_unfinished_away); /* out of memory */
}

/* The handler, which takes no lock, does not run meanwhile in this thread. */
static sigset_t lock_unfinished(void) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    pthread_mutex_lock(&unfinished_lock);
    return before;
}

static void unlock_unfinished(const sigset_t *before) {
    pthread_mutex_unlock(&unfinished_lock);
    pthread_sigmask(SIG_SETMASK, before, NULL);
}

/* Lists the output before its temporary file is made; release() takes it off the list when the file
   is gone. */
static int begin_listed(output *o) {
    const sigset_t before = lock_unfinished();
    o->next = unfinished;
    unfinished = o;
    const int error =
        is_ending ? EINTR : whole_file_begin(&o->file, AT_FDCWD, o->path, WHOLE_FILE_USUAL);
    unlock_unfinished(&before);
    return error;
}

static void release(output *o) {
    const sigset_t before = lock_unfinished();
    output *volatile *link = &unfinished;
    while (*link != o)
        link = &(*link)->next;
    *link = o->next;
    unlock_unfinished(&before);
}

/* ---- sets ---------------------------------------------------------------------------------- */

static bool is_at(const char *path, const whole_place *place) {
    struct stat file;
    return place->regular && place->existed && stat(path, &file) == 0 &&
           file.st_dev == place->device && file.st_ino == place->inode;
}

static int refuse_replacing(const char *path, const char *what) {
    return complain(EXIT_USAGE, path, "this is %s, which the output would replace", what);
}

static const char kept[] = "a file that the run reads";

/* A spec in a folder for outputs may have the name of one, or be what a link there leads to. */
static const char *what_is_at(const output_set *set, const whole_place *place) {
    for (int i = 0; i < set->spec_count; i++)
        if (is_at(set->specs[i], place))
            return "the spec";
    for (int i = 0; i < set->kept_count; i++)
        if (is_at(set->kept[i], place))
            return kept;
    return NULL;
}

int output_keep(output_set *set, const char *path) {
    for (int i = 0; i < set->count; i++)
        if (is_at(path, &set->places[i]))
            return refuse_replacing(path, kept);
    set->kept = longer_list(set->kept, set->kept_count, sizeof *set->kept);
    set->kept[set->kept_count++] = path;
    return EXIT_DONE;
}

static int join_set(output_set *set, const output *o) {
    const whole_place *place = &o->file.place;
    const char *there = what_is_at(set, place);
    if (there != NULL)
        return refuse_replacing(o->path, there);
    for (int i = 0; i < set->count; i++)
        if (whole_place_same(&set->places[i], place))
            return complain(EXIT_USAGE, o->path,
                            "two outputs go to this file, and would replace each other");
    set->places = longer_list(set->places, set->count, sizeof *set->places);
    set->places[set->count++] = *place;
    return EXIT_DONE;
}

/* ---- one output ---------------------------------------------------------------------------- */

static int fail(const char *path, const char *what, int error) {
    return complain(EXIT_DATA, path, "%s: %s", what, whole_file_error(error));
}

static bool judge(const output *o, int error) {
    return error == 0 || fail(o->path, "cannot write", error) == EXIT_DONE;
}

int output_begin(output **out, output_set *set, const char *path) {
    output *o = new_array(1, sizeof *o);
    o->path = new_copy(path);
    const int error = begin_listed(o);
    const int code = error != 0 ? fail(path, "cannot write", error) : join_set(set, o);
    *out = code == EXIT_DONE ? o : NULL;
    if (code != EXIT_DONE)
        output_drop(o);
    return code;
}

bool output_write(output *o, const void *bytes, size_t count) {
    return judge(o, whole_file_write(&o->file, bytes, count));
}

bool output_read(const output *o, uint64_t offset, void *to, size_t count) {
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", o->file.file);
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    const bool good = file >= 0 && pread(file, to, count, (off_t)offset) == (ssize_t)count;
    if (file >= 0)
        close(file);
    return good;
}

const char *output_stretch(output *o, uint64_t bytes, const void *tail, size_t tail_bytes) {
    enum { MOST_PATH = 4096 };
    char *path = new_array(MOST_PATH, 1);
    if (!o->file.place.regular) {
        complain(EXIT_USAGE, o->path, "ranks write their parts of a file, and this is none");
        return NULL;
    }
    /* Disks without room are found before the work. */
    const int error = posix_fallocate(o->file.file, 0, (off_t)(bytes > 0 ? bytes : 1));
    if (error != 0 && error != EOPNOTSUPP && error != EINVAL) {
        fail(o->path, "cannot write", error);
        return NULL;
    }
    if (ftruncate(o->file.file, (off_t)bytes) != 0 || lseek(o->file.file, 0, SEEK_END) < 0 ||
        !output_write(o, tail, tail_bytes) ||
        readlink(phrase("/proc/self/fd/%d", o->file.file), path, MOST_PATH - 1) < 0) {
        fail(o->path, "cannot write", errno);
        return NULL;
    }
    return path;
}

void output_drop(output *o) {
    if (o == NULL)
        return;
    whole_file_drop(&o->file);
    release(o);
}

bool output_commit(output *o) {
    const bool good = judge(o, whole_file_commit(&o->file));
    release(o);
    return good;
}

output *output_spare(void) {
    return new_array(1, sizeof(output));
}

int output_open(output *o, const char *path) {
    o->path = path;
    const int error = begin_listed(o);
    if (error != 0)
        release(o);
    return error;
}

int output_add(output *o, const void *bytes, size_t count) {
    return whole_file_write(&o->file, bytes, count);
}

int output_close(output *o, bool keep) {
    int error = 0;
    if (keep)
        error = whole_file_commit(&o->file);
    else
        whole_file_drop(&o->file);
    release(o);
    return error;
}

int output_place(output *o) {
    return whole_file_place(&o->file);
}

const char *output_name(const output *o) {
    return o->path;
}

void output_settle(output *o, bool keep) {
    whole_file_settle(&o->file, keep);
    release(o);
}

bool output_finish(output *o, const void *bytes, size_t count) {
    if (output_write(o, bytes, count))
        return output_commit(o);
    output_drop(o);
    return false;
}

bool output_folder(const char *folder) {
    struct stat status;
    if (mkdir(folder, 0777) == 0 || (stat(folder, &status) == 0 && S_ISDIR(status.st_mode)))
        return true;
    fail(folder, "cannot make the folder", errno);
    return false;
}

const char *output_path(const char *folder, const char *name, const char *suffix) {
    const bool bare = folder == NULL || folder[strlen(folder) - 1] == '/';
    return phrase("%s%s%s%s", folder != NULL ? folder : "", bare ? "" : "/", name, suffix);
}
