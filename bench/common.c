/* See common.h. */
#include "common.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void *must_have(void *memory) {
    if (memory != NULL)
        return memory;
    fprintf(stderr, "%s: out of memory\n", bench_program);
    exit(4);
}

double seconds_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

bool listed(const char *list, const char *word) {
    const size_t length = strlen(word);
    for (const char *at = list; at != NULL && *at != '\0'; at += *at == ',') {
        const size_t item = strcspn(at, ",");
        if (item == length && memcmp(at, word, length) == 0)
            return true;
        at += item;
    }
    return list == NULL;
}

bool read_whole(const char *text, int64_t least, int64_t most, int64_t *out) {
    char *end;
    const long long n = strtoll(text, &end, 10);
    if (end == text || *end != '\0' || n < least || n > most)
        return false;
    *out = n;
    return true;
}

void schedules_read(const char *path, schedules *out) {
    FILE *in = fopen(path, "r");
    char *line = NULL;
    size_t room = 0;
    if (in == NULL) {
        perror(path);
        exit(2);
    }
    while (getline(&line, &room, in) >= 0) {
        line[strcspn(line, "#\r\n")] = '\0';
        char *first = line + strspn(line, " \t");
        size_t length = strlen(first);
        while (length > 0 && (first[length - 1] == ' ' || first[length - 1] == '\t'))
            first[--length] = '\0';
        if (length == 0)
            continue;
        out->items = must_have(realloc(out->items, (size_t)(out->count + 1) * sizeof *out->items));
        out->items[out->count++] = must_have(strdup(first));
    }
    free(line);
    fclose(in);
    if (out->count > 0)
        return;
    fprintf(stderr, "%s: %s has no schedules\n", bench_program, path);
    exit(2);
}

void schedules_free(schedules *s) {
    for (int i = 0; i < s->count; i++)
        free(s->items[i]);
    free(s->items);
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double median(double *values, int count) {
    qsort(values, (size_t)count, sizeof *values, ascending);
    return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

void json_text(FILE *out, const char *key, const char *value) {
    fprintf(out, "\"%s\": ", key);
    if (value == NULL) {
        fputs("null, ", out);
        return;
    }
    fputc('"', out);
    for (const unsigned char *c = (const unsigned char *)value; *c != '\0'; c++)
        if (*c < ' ')
            fprintf(out, "\\u%04x", *c);
        else
            fprintf(out, *c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
    fputs("\", ", out);
}

void json_number(FILE *out, const char *key, double value, bool known) {
    if (known && isfinite(value))
        fprintf(out, "\"%s\": %.9g, ", key, value);
    else
        fprintf(out, "\"%s\": null, ", key);
}
