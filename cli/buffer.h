/* The command's string builder, and its numbers for people. Running out of memory ends the command
   with exit code 4, so that nobody tests for it. */
#ifndef SG_CLI_BUFFER_H
#define SG_CLI_BUFFER_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define CLI_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define CLI_PRINTF(text, first)
#endif

typedef struct buffer {
    char *data; /* NUL-terminated once something was added; NULL before */
    size_t length, capacity;
} buffer;

void buffer_add(buffer *, const char *string);
void buffer_add_bytes(buffer *, const void *bytes, size_t count);
void buffer_printf(buffer *, const char *format, ...) CLI_PRINTF(2, 3);
void buffer_vprintf(buffer *, const char *format, va_list) CLI_PRINTF(2, 0);
const char *buffer_text(const buffer *); /* "" where nothing was added */
void buffer_free(buffer *);

/* `text` broken between words so that no line goes beyond `width` columns, lines after the first
   indented by `indent`. The first line is taken to begin in column `indent`. */
void buffer_wrap(buffer *, const char *text, int indent, int width);

/* "12.3 ms", "1.36 GB" (powers of 1000), "128x128x128". */
void buffer_seconds(buffer *, double seconds);
void buffer_bytes(buffer *, double bytes);
void buffer_size(buffer *, const int64_t size[3], int dims);

/* Never NULL, zeroed. */
void *must_alloc(size_t count, size_t element);

#endif
