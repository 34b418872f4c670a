/* The command's string builder, and its numbers for people. */
#include "cli/buffer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"

static void out_of_memory(void) {
    fputs("stencilgen: error: out of memory\n", stderr);
    exit(EXIT_DEVICE);
}

void *must_alloc(size_t count, size_t element) {
    void *memory = calloc(count > 0 ? count : 1, element);
    if (memory == NULL)
        out_of_memory();
    return memory;
}

static void reserve(buffer *b, size_t more) {
    if (b->capacity - b->length > more)
        return;
    if (more > SIZE_MAX / 4 - b->length)
        out_of_memory();
    const size_t capacity = 2 * (b->length + more) + 64;
    char *data = realloc(b->data, capacity);
    if (data == NULL)
        out_of_memory();
    b->data = data;
    b->capacity = capacity;
}

void buffer_add_bytes(buffer *b, const void *bytes, size_t count) {
    reserve(b, count);
    if (count > 0)
        memcpy(b->data + b->length, bytes, count);
    b->length += count;
    b->data[b->length] = '\0';
}

void buffer_add(buffer *b, const char *string) {
    buffer_add_bytes(b, string, strlen(string));
}

void buffer_vprintf(buffer *b, const char *format, va_list arguments) {
    va_list again;
    va_copy(again, arguments);
    const int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    reserve(b, (size_t)length);
    vsnprintf(b->data + b->length, (size_t)length + 1, format, arguments);
    b->length += (size_t)length;
}

void buffer_printf(buffer *b, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    buffer_vprintf(b, format, arguments);
    va_end(arguments);
}

const char *buffer_text(const buffer *b) {
    return b->data != NULL ? b->data : "";
}

void buffer_free(buffer *b) {
    free(b->data);
    *b = (buffer){0};
}

void buffer_wrap(buffer *b, const char *text, int indent, int width) {
    int column = indent;
    while (*text != '\0') {
        const int word = (int)strcspn(text, " \n");
        if (column > indent && column + 1 + word > width) {
            buffer_printf(b, "\n%*s", indent, "");
            column = indent;
        } else if (column > indent) {
            buffer_add(b, " ");
            column++;
        }
        buffer_add_bytes(b, text, (size_t)word);
        column += word;
        text += word;
        text += strspn(text, " \n");
    }
}

typedef struct unit {
    double one;
    const char *name;
} unit;

static void add_in_unit(buffer *b, double value, const unit *units, size_t count) {
    size_t i = 0;
    while (i + 1 < count && value < units[i].one)
        i++;
    buffer_printf(b, "%.3g %s", value / units[i].one, units[i].name);
}

void buffer_seconds(buffer *b, double seconds) {
    static const unit units[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}};
    add_in_unit(b, seconds, units, sizeof units / sizeof units[0]);
}

void buffer_bytes(buffer *b, double bytes) {
    static const unit units[] = {{1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}, {1, "B"}};
    add_in_unit(b, bytes, units, sizeof units / sizeof units[0]);
}

void buffer_size(buffer *b, const int64_t size[3], int dims) {
    for (int axis = 0; axis < dims; axis++)
        buffer_printf(b, "%s%" PRId64, axis > 0 ? "x" : "", size[axis]);
}
