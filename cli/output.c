/* Files that appear whole or not at all. */
#include "cli/output.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/command.h"

struct output {
    whole_file file;
    char *path; /* as the user said it, for messages */
    output *volatile next;
};

/* ---- what is unfinished -------------------------------------------------------------------- */

/* All open outputs, for the handler of signals that end the command. */
static output *volatile unfinished;

static void take_unfinished_away(void) {
    for (const output *o = unfinished; o != NULL; o = o->next)
        if (o->file.temporary[0] != '\0')
            unlinkat(o->file.folder, o->file.temporary, 0);
}

static void clean_and_die(int number) {
    take_unfinished_away();
    sg_abandon();
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
        /* nohup and background jobs ignore some of them; they stay ignored. */
        if (sigaction(ends[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            sigaction(ends[i], &(struct sigaction){.sa_handler = clean_and_die}, NULL);
    }
    /* A handler rather than SIG_IGN: programs that we start do not inherit it. */
    for (size_t i = 0; i < sizeof fails / sizeof fails[0]; i++)
        sigaction(fails[i], &(struct sigaction){.sa_handler = let_the_write_fail}, NULL);
    atexit(take_unfinished_away); /* out of memory */
}

static sigset_t block_signals(void) {
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    return before;
}

/* In the list before the temporary file is made, and out of it when that is gone. */
static int begin_listed(output *o) {
    const sigset_t before = block_signals();
    o->next = unfinished;
    unfinished = o;
    const int error = whole_file_begin(&o->file, AT_FDCWD, o->path, WHOLE_FILE_USUAL);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return error;
}

static void release(output *o) {
    const sigset_t before = block_signals();
    output *volatile *link = &unfinished;
    while (*link != o)
        link = &(*link)->next;
    *link = o->next;
    sigprocmask(SIG_SETMASK, &before, NULL);
}

/* ---- sets ---------------------------------------------------------------------------------- */

static int join_set(output_set *set, const output *o) {
    const whole_place *place = &o->file.place;
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

char *output_path(const char *folder, const char *name, const char *suffix) {
    if (folder == NULL)
        return job_print(command_memory(), "%s%s", name, suffix);
    const char *slash = folder[strlen(folder) - 1] == '/' ? "" : "/";
    return job_print(command_memory(), "%s%s%s%s", folder, slash, name, suffix);
}
