/* What all commands share: memory, errors and progress. */
#include "cli/command.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* ---- memory -------------------------------------------------------------------------------- */

static job *memory;

static noreturn void out_of_memory(void *unused) {
    (void)unused;
    fputs("stencilgen: error: out of memory\n", stderr);
    exit(EXIT_DEVICE);
}

static void begin(job *j, void *unused) {
    job_set_escape(j, out_of_memory, unused);
}

job *command_memory(void) {
    if (memory == NULL && job_run(&allocator_libc, begin, NULL, &memory) != FAULT_NONE)
        out_of_memory(NULL);
    return memory;
}

text new_text(void) {
    return text_new(command_memory());
}

char *new_copy(const char *string) {
    return job_string(command_memory(), string);
}

void *new_array(size_t count, size_t element) {
    return job_array(command_memory(), count, element);
}

/* The room is always a power of two. */
void *longer_list(void *list, int count, size_t element) {
    if ((count & (count - 1)) != 0)
        return list;
    char *longer = new_array(count > 0 ? 2 * (size_t)count : 1, element);
    if (count > 0)
        memcpy(longer, list, (size_t)count * element);
    return longer;
}

void forget_everything(void) {
    complaint_take();
    job_end(memory);
    memory = NULL;
}

void *must_alloc(size_t count, size_t element) {
    void *bytes = calloc(count > 0 ? count : 1, element);
    if (bytes == NULL)
        out_of_memory(NULL);
    return bytes;
}

/* ---- errors and output --------------------------------------------------------------------- */

int exit_code(sg_status status) {
    switch (status) {
    case SG_OK:
        return EXIT_DONE;
    case SG_ERROR_CHECK:
        return EXIT_WRONG;
    case SG_ERROR_USAGE:
    case SG_ERROR_SPEC:
    case SG_ERROR_PLAN:
        return EXIT_USAGE;
    case SG_ERROR_DATA:
    case SG_ERROR_IO:
        return EXIT_DATA;
    case SG_ERROR_DEVICE:
    case SG_ERROR_COMPILER:
    case SG_ERROR_MEMORY:
        break;
    }
    return EXIT_DEVICE;
}

static const char *first_complaint;
static bool is_silent;

void complain_silently(void) {
    is_silent = true;
}

const char *complaint_take(void) {
    const char *taken = first_complaint;
    first_complaint = NULL;
    return taken;
}

static void print_complaint(const text *out) {
    progress_end();
    if (!is_silent)
        fprintf(stderr, "%s\n", out->data);
    if (first_complaint == NULL)
        first_complaint = out->data;
}

int complain(int code, const char *file, const char *format, ...) {
    text out = new_text();
    text_printf(&out, "%s: error: ", file != NULL ? file : "stencilgen");
    va_list arguments;
    va_start(arguments, format);
    text_vprintf(&out, format, arguments);
    va_end(arguments);
    print_complaint(&out);
    return code;
}

void warn(const char *file, const char *warning) {
    progress_end();
    if (!is_silent)
        fprintf(stderr, "%s: warning: %s\n", file, warning);
}

/* Any thread of a context may call this, so it uses no memory of the command. */
void warn_library(void *unused, sg_log_level level, const char *line) {
    (void)unused;
    if (level != SG_LOG_WARNING)
        return;
    if (is_silent)
        return;
    flockfile(stderr);
    progress_end();
    fprintf(stderr, "stencilgen: warning: %s\n", line);
    funlockfile(stderr);
}

int complain_library(const sg_context *context, sg_status status) {
    if (status == SG_OK)
        return EXIT_DONE;
    const char *error = context != NULL ? sg_error(context) : "error: out of memory";
    size_t length = strlen(error);
    while (length > 0 && error[length - 1] == '\n')
        length--;
    text out = new_text();
    text_add(&out, strncmp(error, "error: ", 7) == 0 ? "stencilgen: " : "");
    text_add_bytes(&out, error, length);
    print_complaint(&out);
    return exit_code(status);
}

int say(const text *out) {
    progress_end();
    if (out->length == 0 ||
        (fwrite(out->data, 1, out->length, stdout) == out->length && fflush(stdout) == 0))
        return EXIT_DONE;
    return complain(EXIT_DATA, "standard output", "%s", strerror(errno));
}

int first_failure(int code, int later) {
    return code != EXIT_DONE ? code : later;
}

static atomic_bool progress_shown;

void progress(const char *format, ...) {
    if (!isatty(STDERR_FILENO))
        return;
    progress_shown = true;
    struct winsize window;
    char line[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    /* A line that wraps could not be replaced. */
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 1 &&
        window.ws_col <= sizeof line)
        line[window.ws_col - 1] = '\0';
    fprintf(stderr, "\r\033[K%s", line);
    fflush(stderr);
}

void progress_end(void) {
    if (atomic_exchange(&progress_shown, false))
        fputs("\r\033[K", stderr);
}
