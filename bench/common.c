/* See common.h. */
#include "common.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

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

/* ---- options --------------------------------------------------------------------------------- */

_Noreturn void options_refuse(const char *option, const char *value, const char *usage) {
    fprintf(stderr, "%s: bad or unknown: %s %s\n%s", bench_program, option,
            value != NULL ? value : "", usage);
    exit(2);
}

int64_t cores_here(void) {
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores > 0 ? cores : 1;
}

static bool read_whole(const char *text, int64_t most, int64_t *out) {
    char *end;
    const long long n = strtoll(text, &end, 10);
    if (end == text || *end != '\0' || n < 1 || n > most)
        return false;
    *out = n;
    return true;
}

static bool take(const bench_option *o, void *options, const char *value) {
    if (o->number != NULL)
        return read_whole(value, o->most, o->number);
    if (o->read != NULL)
        return o->read(options, value);
    *o->text = value;
    return true;
}

void options_read(int count, char **arguments, const bench_option *table, void *options,
                  const char *usage) {
    for (int i = 1; i < count; i++) {
        const char *name = arguments[i];
        if (strcmp(name, "--help") == 0) {
            fputs(usage, stdout);
            exit(0);
        }
        const bench_option *o = table;
        while (o->name != NULL && strcmp(o->name, name) != 0)
            o++;
        if (o->name != NULL && o->flag != NULL) {
            *o->flag = true;
            continue;
        }
        const char *value = i + 1 < count ? arguments[++i] : NULL;
        if (o->name == NULL || value == NULL || !take(o, options, value))
            options_refuse(name, value, usage);
    }
}

/* ---- files ----------------------------------------------------------------------------------- */

void prove_writable(const char *path) {
    FILE *out = path != NULL ? fopen(path, "a") : NULL;
    if (path == NULL || (out != NULL && fclose(out) == 0))
        return;
    perror(path);
    exit(3);
}

/* ---- schedules ------------------------------------------------------------------------------- */

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

double plan_estimate(sg_context *context, const char *spec, const sg_build_options *o,
                     const char *plan) {
    sg_explanation *e;
    double seconds = 0;
    if (sg_explain(context, spec, o, &e) != SG_OK)
        return 0;
    for (int i = 0; i < e->row_count; i++)
        if (e->rows[i].plan != NULL && strcmp(e->rows[i].plan, plan) == 0)
            seconds = e->rows[i].estimated_seconds;
    sg_explanation_free(e);
    return seconds;
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
