/* Whether a text is HTML, as far as a page of ours goes: elements begin and end in turn. */
#ifndef TESTS_HTML_READER_H
#define TESTS_HTML_READER_H

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* The tag at `at`, which begins with '<': its name, and where it ends. */
static inline const char *read_tag(const char *at, char name[32], bool *closes, bool *alone) {
    size_t n = 0;
    *closes = at[1] == '/';
    for (at += 1 + *closes; isalnum((unsigned char)*at) || *at == '!'; at++)
        if (n < 31)
            name[n++] = *at;
    name[n] = '\0';
    for (bool quoted = false; *at != '\0' && (quoted || *at != '>'); at++) {
        quoted ^= *at == '"';
        if (*at == '<')
            return NULL;
    }
    *alone = at[-1] == '/';
    return *at == '>' ? at + 1 : NULL;
}

/* Whether all elements that are begun are ended, in turn. */
static inline bool is_html(const char *text, char *why) {
    static char open[64][32];
    int depth = 0;
    for (const char *at = text; *at != '\0';) {
        char name[32];
        bool closes, alone;
        if (*at != '<') {
            at++;
            continue;
        }
        sprintf(why, "%.60s", at);
        if ((at = read_tag(at, name, &closes, &alone)) == NULL)
            return false;
        if (strcmp(name, "!DOCTYPE") == 0 || strcmp(name, "meta") == 0 || alone)
            continue;
        if (!closes && depth < 64)
            strcpy(open[depth++], name);
        else if (depth == 0 || strcmp(open[--depth], name) != 0)
            return false;
        if (!closes && (strcmp(name, "script") == 0 || strcmp(name, "style") == 0))
            at = strstr(at, "</");
    }
    return depth == 0;
}

#endif
