/* The string builder and the numbers it writes. */
#include "base/text.h"

#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

text text_new(job *j) {
    text t = {.job = j, .data = job_alloc(j, 64), .length = 0, .capacity = 64};
    return t;
}

static void reserve(text *t, size_t more) {
    if (t->capacity - t->length > more)
        return;
    size_t capacity = 2 * t->capacity;
    if (capacity - t->length <= more)
        capacity = t->length + more + 1;
    char *data = job_alloc(t->job, capacity);
    memcpy(data, t->data, t->length);
    t->data = data;
    t->capacity = capacity;
}

void text_add_bytes(text *t, const void *bytes, size_t count) {
    reserve(t, count);
    memcpy(t->data + t->length, bytes, count);
    t->length += count;
    t->data[t->length] = '\0';
}

void text_add(text *t, const char *string) {
    text_add_bytes(t, string, strlen(string));
}

void text_vprintf(text *t, const char *format, va_list arguments) {
    va_list again;
    va_copy(again, arguments);
    const int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    assert(length >= 0);
    reserve(t, (size_t)length);
    vsnprintf(t->data + t->length, (size_t)length + 1, format, arguments);
    t->length += (size_t)length;
}

void text_printf(text *t, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    text_vprintf(t, format, arguments);
    va_end(arguments);
}

/* printf writes the locale's decimal point, which may be several bytes: from `start` on, whatever
   is neither digit, sign nor exponent becomes one '.'. */
static void plain_decimal(text *t, size_t start) {
    bool in_point = false;
    size_t to = start;
    for (size_t from = start; from < t->length; from++) {
        const char c = t->data[from];
        const bool plain = isdigit((unsigned char)c) || c == '+' || c == '-' || c == 'e';
        if (plain)
            t->data[to++] = c;
        else if (!in_point)
            t->data[to++] = '.';
        in_point = !plain;
    }
    t->data[to] = '\0';
    t->length = to;
}

/* strtod reads what printf wrote under the same locale, so the round trip is fair. */
void text_shortest(text *t, double value, bool is_float) {
    assert(isfinite(value));
    const size_t start = t->length;
    for (int precision = 1; precision <= 17; precision++) {
        t->length = start;
        text_printf(t, "%.*g", precision, value);
        const char *digits = t->data + start;
        if (is_float ? strtof(digits, NULL) == (float)value : strtod(digits, NULL) == value)
            break;
    }
    plain_decimal(t, start);
}

static void add_floating(text *t, double value, bool is_float) {
    const size_t start = t->length;
    text_shortest(t, value, is_float);
    if (strpbrk(t->data + start, ".e") == NULL)
        text_add(t, ".0");
}

void text_double(text *t, double value) {
    add_floating(t, value, false);
}

void text_float(text *t, float value) {
    add_floating(t, (double)value, true);
}

void text_number(text *t, double value, int digits) {
    const size_t start = t->length;
    if (isnan(value) || isinf(value)) {
        text_add(t, isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
        return;
    }
    text_printf(t, "%.*g", digits, value);
    plain_decimal(t, start);
}

const char *text_count(job *j, int64_t count, const char *noun) {
    const size_t length = strlen(noun);
    const bool y =
        length > 1 && noun[length - 1] == 'y' && strchr("aeiou", noun[length - 2]) == NULL;
    return count == 1 ? job_print(j, "1 %s", noun)
                      : job_print(j, "%lld %.*s%s", (long long)count, (int)(length - y), noun,
                                  y ? "ies" : "s");
}

/* Levenshtein's distance, one row at a time; words are short. */
static size_t distance(const char *a, const char *b) {
    enum { LONGEST = 63 };
    const size_t n = strlen(a), m = strlen(b);
    if (n > LONGEST || m > LONGEST)
        return SIZE_MAX;
    size_t row[LONGEST + 1];
    for (size_t j = 0; j <= m; j++)
        row[j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            const size_t above = row[j];
            size_t best =
                diagonal + (tolower((unsigned char)a[i - 1]) != tolower((unsigned char)b[j - 1]));
            if (above + 1 < best)
                best = above + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            row[j] = best;
            diagonal = above;
        }
    }
    return row[m];
}

const char *text_nearest(const char *word, const char *const *words, size_t count) {
    const char *nearest = NULL;
    size_t best = strlen(word) / 2 + 1;
    for (size_t i = 0; i < count; i++) {
        const size_t d = distance(word, words[i]);
        if (d < best) {
            best = d;
            nearest = words[i];
        }
    }
    return nearest;
}

int text_whole(const char *digits, size_t length, int most) {
    int64_t value = length > 0 ? 0 : -1;
    for (size_t i = 0; i < length && value >= 0; i++) {
        value = digits[i] >= '0' && digits[i] <= '9' ? 10 * value + (digits[i] - '0') : -1;
        if (value > most)
            value = -1;
    }
    return (int)value;
}

const char *text_next_word(job *j, const char **line) {
    static const char blanks[] = " \t\r\n";
    const char *word = *line != NULL ? *line + strspn(*line, blanks) : "";
    const size_t length = strcspn(word, blanks);
    *line = word + length;
    return length > 0 ? job_copy(j, word, length) : NULL;
}

/* ---- names of components --------------------------------------------------------------------- */

int component_number(const char *name, const char *whole) {
    const size_t head = strcspn(name, "[");
    if (name[head] == '\0' || strncmp(name, whole, head) != 0)
        return 0;
    char *end;
    const long number = strtol(name + head + 1, &end, 10);
    return *end == ']' && strcmp(end + 1, whole + head) == 0 ? (int)number : 0;
}

int component_compare(const char *a, const char *b) {
    const size_t head = strcspn(a, "[");
    if (a[head] == '\0' || strncmp(a, b, head + 1) != 0)
        return strcmp(a, b);
    const long one = strtol(a + head + 1, NULL, 10), other = strtol(b + head + 1, NULL, 10);
    return one != other ? (one > other) - (one < other) : strcmp(a, b);
}

int text_compare(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}
