/* Reads JSON for tests, strictly as RFC 8259 has it but for numbers, which are strtod's. Aborts the
   test where it is none. What it makes is freed as a whole. */
#ifndef TESTS_JSON_READER_H
#define TESTS_JSON_READER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef enum value_type {
    JSON_NULL,
    JSON_BOOL,
    JSON_NUMBER,
    JSON_STRING,
    JSON_ARRAY,
    JSON_OBJECT
} value_type;

typedef struct value {
    value_type type;
    char *key; /* in an object */
    char *text;
    double number;
    struct value *first, *next; /* its children; the next of its parent's */
    int count;
} value;

typedef struct reader {
    const char *at, *start;
} reader;

static inline void expect_json(const reader *r, bool good) {
    if (!good)
        fail_msg("no JSON at byte %d: %.40s", (int)(r->at - r->start), r->at);
}

static inline void skip_space(reader *r) {
    r->at += strspn(r->at, " \t\r\n");
}

static inline char *read_string(reader *r) {
    expect_json(r, *r->at == '"');
    const char *begin = ++r->at;
    char *out = malloc(strlen(begin) + 1), *to = out;
    for (; *r->at != '"'; r->at++) {
        expect_json(r, (unsigned char)*r->at >= 0x20);
        if (*r->at == '\\') {
            static const char escapes[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
            const char *e = *++r->at != '\0' ? strchr(escapes, *r->at) : NULL;
            expect_json(r, e != NULL); /* no test needs \u */
            *to++ = meant[e - escapes];
        } else {
            *to++ = *r->at;
        }
    }
    *to = '\0';
    r->at++;
    return out;
}

static inline value *read_value(reader *r);

static inline void read_children(reader *r, value *v, char end) {
    value **link = &v->first;
    r->at++;
    for (skip_space(r); *r->at != end; skip_space(r)) {
        char *key = NULL;
        if (v->count > 0) {
            expect_json(r, *r->at++ == ',');
            skip_space(r);
        }
        if (v->type == JSON_OBJECT) {
            key = read_string(r);
            for (const value *c = v->first; c != NULL; c = c->next)
                if (strcmp(c->key, key) == 0)
                    fail_msg("the key %s stands twice in an object", key);
            skip_space(r);
            expect_json(r, *r->at++ == ':');
        }
        *link = read_value(r);
        (*link)->key = key;
        link = &(*link)->next;
        v->count++;
    }
    r->at++;
}

static inline value *read_value(reader *r) {
    static const char *const words[] = {"null", "true", "false"};
    value *v = calloc(1, sizeof *v);
    skip_space(r);
    if (*r->at == '{' || *r->at == '[') {
        v->type = *r->at == '{' ? JSON_OBJECT : JSON_ARRAY;
        read_children(r, v, *r->at == '{' ? '}' : ']');
        return v;
    }
    if (*r->at == '"') {
        v->type = JSON_STRING;
        v->text = read_string(r);
        return v;
    }
    for (int i = 0; i < 3; i++)
        if (strncmp(r->at, words[i], strlen(words[i])) == 0) {
            v->type = i == 0 ? JSON_NULL : JSON_BOOL;
            v->number = i == 1;
            r->at += strlen(words[i]);
            return v;
        }
    char *end;
    v->type = JSON_NUMBER;
    expect_json(r, strchr("-0123456789", *r->at) != NULL && *r->at != '\0');
    v->number = strtod(r->at, &end);
    r->at = end;
    return v;
}

static inline value *read_json(const char *text) {
    reader r = {text, text};
    value *v = read_value(&r);
    skip_space(&r);
    expect_json(&r, *r.at == '\0');
    return v;
}

static inline void free_json(value *v) {
    while (v != NULL) {
        value *next = v->next;
        free_json(v->first);
        free(v->key);
        free(v->text);
        free(v);
        v = next;
    }
}

/* NULL where the object has no such key, or is none. */
static inline const value *get(const value *v, const char *key) {
    const value *c = v != NULL && v->type == JSON_OBJECT ? v->first : NULL;
    while (c != NULL && strcmp(c->key, key) != 0)
        c = c->next;
    return c;
}

static inline const value *at(const value *v, int index) {
    const value *c = v != NULL ? v->first : NULL;
    while (c != NULL && index-- > 0)
        c = c->next;
    return c;
}

#endif
