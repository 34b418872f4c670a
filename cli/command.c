/* Memory, errors, standard output and progress of the command. */
#include "cli/command.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
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
    return string != NULL ? job_copy(command_memory(), string, strlen(string)) : NULL;
}

void *new_array(size_t count, size_t element) {
    return job_array(command_memory(), count, element);
}

/* Lists have room for a power of two. */
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

const char *complaint_take(void) {
    const char *taken = first_complaint;
    first_complaint = NULL;
    return taken;
}

static void print_complaint(const text *out) {
    progress_end();
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

void warn(const char *file, const char *format, ...) {
    text out = new_text();
    va_list arguments;
    va_start(arguments, format);
    text_vprintf(&out, format, arguments);
    va_end(arguments);
    progress_end();
    fprintf(stderr, "%s: warning: %s\n", file, out.data);
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

static bool progress_shown;

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
    /* A line that went on in a second one of the terminal could not be replaced. */
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 1 &&
        window.ws_col <= sizeof line)
        line[window.ws_col - 1] = '\0';
    fprintf(stderr, "\r\033[K%s", line);
    fflush(stderr);
}

void progress_end(void) {
    if (progress_shown)
        fputs("\r\033[K", stderr);
    progress_shown = false;
}

/* ---- text for people ----------------------------------------------------------------------- */

void add_wrapped(text *b, const char *string, int indent, int width) {
    int column = indent;
    while (*string != '\0') {
        const int word = (int)strcspn(string, " \n");
        if (column > indent && column + 1 + word > width) {
            text_printf(b, "\n%*s", indent, "");
            column = indent;
        } else if (column > indent) {
            text_add(b, " ");
            column++;
        }
        text_add_bytes(b, string, (size_t)word);
        column += word;
        string += word;
        string += strspn(string, " \n");
    }
}

typedef struct unit {
    double one;
    const char *name;
} unit;

static void add_in_unit(text *b, double value, const unit *units, size_t count) {
    size_t i = 0;
    while (i + 1 < count && value < units[i].one)
        i++;
    text_printf(b, "%.3g %s", value / units[i].one, units[i].name);
}

void add_seconds(text *b, double seconds) {
    static const unit units[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}};
    add_in_unit(b, seconds, units, sizeof units / sizeof units[0]);
}

void add_bytes(text *b, double bytes) {
    static const unit units[] = {{1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}, {1, "B"}};
    add_in_unit(b, bytes, units, sizeof units / sizeof units[0]);
}

void add_extents(text *b, const int64_t size[3], int dims) {
    for (int axis = 0; axis < dims; axis++)
        text_printf(b, "%s%" PRId64, axis > 0 ? "x" : "", size[axis]);
}
