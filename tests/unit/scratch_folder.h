/* A folder for one test, which fails if the test leaves a descriptor open; and checks in children,
   where cmocka's cannot be used. */
#ifndef TESTS_SCRATCH_FOLDER_H
#define TESTS_SCRATCH_FOLDER_H

#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char scratch_root[sizeof "/tmp/sg-test-folder-XXXXXX"];
static int scratch_descriptors;

/* Entries of a folder whose names begin with `start`. */
static inline int count_files(const char *folder, const char *start) {
    int count = 0;
    DIR *d = opendir(folder);
    for (const struct dirent *e; d != NULL && (e = readdir(d)) != NULL;)
        count += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 &&
                 strncmp(e->d_name, start, strlen(start)) == 0;
    if (d != NULL)
        closedir(d);
    return count;
}

static inline int scratch_enter(void **state) {
    (void)state;
    strcpy(scratch_root, "/tmp/sg-test-folder-XXXXXX");
    scratch_descriptors = count_files("/proc/self/fd", "");
    /* Everybody may enter: some tests go on as another user. */
    return mkdtemp(scratch_root) == NULL || chmod(scratch_root, 0755) != 0;
}

static inline int scratch_leave(void **state) {
    (void)state;
    char command[sizeof "chmod -R u+rwx  && rm -rf " + 2 * sizeof scratch_root];
    sprintf(command, "chmod -R u+rwx %s && rm -rf %s", scratch_root, scratch_root);
    assert_int_equal(system(command), 0);
    assert_int_equal(count_files("/proc/self/fd", ""), scratch_descriptors);
    return 0;
}

/* A path below the folder, for the caller to free. */
static inline char *scratch_path(const char *name) {
    char *path = malloc(sizeof scratch_root + strlen(name) + 1);
    sprintf(path, "%s/%s", scratch_root, name);
    return path;
}

/* In a child, in place of an assertion. */
#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                        \
            return 1;                                                                              \
        }                                                                                          \
    } while (0)

static inline pid_t start_child(int (*body)(void *), void *argument) {
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0)
        _exit(body(argument));
    assert_true(child > 0);
    return child;
}

/* Its exit code, or 128 + the signal that ended it. */
static inline int wait_for(pid_t child) {
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static inline int in_child(int (*body)(void *), void *argument) {
    return wait_for(start_child(body, argument));
}

/* What a file holds, and the same laid down again; for damaging files. */
typedef struct content {
    unsigned char bytes[1 << 17];
    size_t size;
} content;

static inline void read_content(const char *path, content *out) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    out->size = fread(out->bytes, 1, sizeof out->bytes, file);
    assert_true(out->size < sizeof out->bytes);
    fclose(file);
}

static inline void write_content(const char *path, const void *bytes, size_t size) {
    unlink(path);
    const int file = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    assert_true(file >= 0);
    assert_int_equal(write(file, bytes, size), size);
    close(file);
}

#endif
