/* What the examples share: the options of the command line, and leaving at the first call that
   fails. Takes: argc, argv, the status of a call. Needs: stencilgen.h and the C library. */
#ifndef EXAMPLE_H
#define EXAMPLE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <stencilgen.h>

/* Leaves a function that returns an sg_status at the first call that fails. */
#define TRY(call)                                                                                  \
    do {                                                                                           \
        const sg_status status_ = (call);                                                          \
        if (status_ != SG_OK)                                                                      \
            return status_;                                                                        \
    } while (0)

/* An option takes its value as a text, or as `count` whole numbers with x between them. */
typedef struct option {
    const char *name; /* "--size" */
    const char **text;
    int64_t *numbers;
    int count;
    int64_t least, most; /* the range of each number */
} option;

static inline int read_numbers(const option *o, const char *text) {
    for (int i = 0; i < o->count; i++) {
        char *end;
        const long long n = strtoll(text, &end, 10);
        if (end == text || *end != (i + 1 < o->count ? 'x' : '\0') || n < o->least || n > o->most)
            return 0;
        o->numbers[i] = n;
        text = end + 1;
    }
    return 1;
}

/* Reads the command line; ends the program if it asks for help or is wrong. */
static inline void read_options(int argc, char **argv, const char *usage, const option *options,
                                int count) {
    for (int i = 1; i < argc; i += 2) {
        const option *o = options;
        if (strcmp(argv[i], "--help") == 0) {
            puts(usage);
            exit(0);
        }
        while (o < options + count && strcmp(argv[i], o->name) != 0)
            o++;
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (o == options + count || value == NULL || (o->text == NULL && !read_numbers(o, value))) {
            fprintf(stderr, "%s: %s '%s'\n%s\n", argv[0],
                    o == options + count ? "unknown option" : "bad or missing value of", argv[i],
                    usage);
            exit(2);
        }
        if (o->text != NULL)
            *o->text = value;
    }
}

/* Prints what failed, if anything did; if the library has no error, malloc failed.
   Returns main's exit code: 0 only if everything went well and the result is right. Call this
   before the context is closed. */
static inline int conclude(const char *program, const sg_context *context, sg_status status,
                           int right) {
    const char *text = sg_error(context);
    if (status != SG_OK)
        fprintf(stderr, "%s: %s\n", program, *text != '\0' ? text : "out of memory");
    else if (!right)
        fprintf(stderr, "%s: the result is wrong\n", program);
    return status == SG_OK && right ? 0 : 1;
}

#endif
