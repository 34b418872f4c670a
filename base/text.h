/* The one string builder. Takes: pieces of text. Makes: one NUL-terminated string in a job's
   memory. Numbers are written so that they read back exactly, whatever the locale. */
#ifndef SG_BASE_TEXT_H
#define SG_BASE_TEXT_H

#include "base/job.h"

typedef struct text {
    job *job;
    char *data; /* NUL-terminated; "" from the start */
    size_t length;
    size_t capacity;
} text;

text text_new(job *);
void text_add(text *, const char *string);
void text_add_bytes(text *, const void *bytes, size_t count);
void text_printf(text *, const char *format, ...)
    SG_PRINTF(2, 3); /* %f, %g and %e follow the locale */
void text_vprintf(text *, const char *format, va_list) SG_PRINTF(2, 0);

/* The shortest decimal that reads back as this double, or as this float, whatever the locale. Not
   for NaN or infinity. Databases and plans files know specs by such text: another form would lose
   what they have. */
void text_shortest(text *, double value, bool is_float);

/* The same with a '.' or an exponent, so that C reads a floating type. */
void text_double(text *, double value);
void text_float(text *, float value);

/* A number for people: `digits` significant digits, '.' whatever the locale. */
void text_number(text *, double value, int digits);

/* "1 step", "0 steps", "2 entries". */
const char *text_count(job *, int64_t count, const char *noun);

/* Of `count` candidate words the one nearest to `word` by edit distance, or NULL where none
   is near enough to be a likely slip of the pen. */
const char *text_nearest(const char *word, const char *const *words, size_t count);

/* The whole number that is all of `length` digits, if it is at most `most`; else −1. */
int text_whole(const char *digits, size_t length, int most);

/* The next of a line's words, which *line begins after then; NULL: there is none. *line may be
   NULL. */
const char *text_next_word(job *, const char **line);

/* ---- names of components --------------------------------------------------------------------- */

/* The number, from 1, of the component of `whole` that has this name; 0: it is none. */
int component_number(const char *name, const char *whole);

/* Orders names, those of components by their numbers. */
int component_compare(const char *a, const char *b);

/* Orders strings, by pointers to them, for qsort. */
int text_compare(const void *, const void *);

#endif
