/* Errors, standard output and progress of the command. */
#include "cli/command.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

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

static char *first_complaint;

char *complaint_take(void) {
    char *taken = first_complaint;
    first_complaint = NULL;
    return taken;
}

static void print_complaint(buffer *text) {
    progress_end();
    fprintf(stderr, "%s\n", text->data);
    if (first_complaint == NULL)
        first_complaint = text->data;
    else
        buffer_free(text);
}

int complain(int code, const char *file, const char *format, ...) {
    buffer text = {0};
    buffer_printf(&text, "%s: error: ", file != NULL ? file : "stencilgen");
    va_list arguments;
    va_start(arguments, format);
    buffer_vprintf(&text, format, arguments);
    va_end(arguments);
    print_complaint(&text);
    return code;
}

void warn(const char *file, const char *format, ...) {
    buffer text = {0};
    va_list arguments;
    va_start(arguments, format);
    buffer_vprintf(&text, format, arguments);
    va_end(arguments);
    progress_end();
    fprintf(stderr, "%s: warning: %s\n", file, text.data);
    buffer_free(&text);
}

void warn_library(void *unused, sg_log_level level, const char *line) {
    (void)unused;
    if (level == SG_LOG_WARNING)
        warn("stencilgen", "%s", line);
}

int complain_library(const sg_context *context, sg_status status) {
    const char *error = context != NULL ? sg_error(context) : "error: out of memory";
    size_t length = strlen(error);
    while (length > 0 && error[length - 1] == '\n')
        length--;
    buffer text = {0};
    buffer_add(&text, strncmp(error, "error: ", 7) == 0 ? "stencilgen: " : "");
    buffer_add_bytes(&text, error, length);
    print_complaint(&text);
    return exit_code(status);
}

int say(const buffer *text) {
    progress_end();
    if (text->length == 0 ||
        (fwrite(text->data, 1, text->length, stdout) == text->length && fflush(stdout) == 0))
        return EXIT_DONE;
    return complain(EXIT_DATA, "standard output", "%s", strerror(errno));
}

int first_failure(int code, int later) {
    return code != EXIT_DONE ? code : later;
}

static bool progress_shown;

void progress(const char *format, ...) {
    if (!isatty(STDERR_FILENO))
        return;
    progress_shown = true;
    struct winsize window;
    buffer line = {0};
    va_list arguments;
    va_start(arguments, format);
    buffer_vprintf(&line, format, arguments);
    va_end(arguments);
    size_t length = line.length;
    /* Of what goes on in a second line of the terminal, the first could not be replaced. */
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 1 &&
        length >= window.ws_col)
        length = (size_t)window.ws_col - 1;
    fprintf(stderr, "\r\033[K%.*s", (int)length, buffer_text(&line));
    fflush(stderr);
    buffer_free(&line);
}

void progress_end(void) {
    if (progress_shown)
        fputs("\r\033[K", stderr);
    progress_shown = false;
}

/* Levenshtein's distance, one row at a time; `row` has room for strlen(b) + 1. */
static size_t distance(const char *a, const char *b, size_t *row) {
    const size_t n = strlen(a), m = strlen(b);
    for (size_t j = 0; j <= m; j++)
        row[j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t best = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            row[j] = best;
        }
    }
    return row[m];
}

const char *nearest_word(const char *word, const char *const *words, size_t count) {
    enum { LONGEST = 63 }; /* of our words and of names in specs */
    const char *nearest = NULL;
    size_t best = strlen(word) / 2 + 1;
    for (size_t i = 0; i < count && strlen(word) <= LONGEST; i++) {
        size_t row[LONGEST + 1];
        const size_t d = strlen(words[i]) <= LONGEST ? distance(word, words[i], row) : best;
        if (d < best) {
            best = d;
            nearest = words[i];
        }
    }
    return nearest;
}
