/* Reads and writes grey images, Netpbm's .pgm: plain (P2) or raw (P5), one or two bytes a sample.
   Takes: a path. Makes: numbers from 0 (black) to maxval (white), the top row first. Needs: the C
   library. The format is described at https://netpbm.sourceforge.net/doc/pgm.html. */
#ifndef PGM_H
#define PGM_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct grey {
    int64_t width, height;
    int maxval;
    float *samples; /* to be freed by the caller */
} grey;

/* A whole number from `least` to `most` after white space and comments; -1 if there is none. */
static inline long read_pgm_number(FILE *file, long least, long most) {
    int c = fgetc(file);
    while (c == ' ' || (c >= '\t' && c <= '\r') || c == '#') {
        if (c == '#')
            while (c != '\n' && c != '\r' && c != EOF)
                c = fgetc(file);
        c = c == EOF ? EOF : fgetc(file);
    }
    long number = c >= '0' && c <= '9' ? 0 : -1;
    for (; c >= '0' && c <= '9' && number <= most; c = fgetc(file))
        number = 10 * number + (c - '0');
    /* One character after the number has been read too. */
    return number >= least && number <= most ? number : -1;
}

static inline const char *read_pgm_from(FILE *file, grey *out) {
    const int first = fgetc(file), kind = fgetc(file);
    if (first != 'P' || (kind != '2' && kind != '5'))
        return "not a .pgm file";
    const long width = read_pgm_number(file, 1, 1 << 20);
    const long height = width < 0 ? -1 : read_pgm_number(file, 1, 1 << 20);
    const long maxval = height < 0 ? -1 : read_pgm_number(file, 1, 65535);
    if (maxval < 0)
        return "its header is damaged";
    out->width = width;
    out->height = height;
    out->maxval = (int)maxval;
    out->samples = (float *)malloc((size_t)(out->width * out->height) * sizeof *out->samples);
    if (out->samples == NULL)
        return "it is too large";
    for (int64_t i = 0; i < out->width * out->height; i++) {
        long sample = kind == '2' ? read_pgm_number(file, 0, maxval) : fgetc(file);
        if (kind == '5' && maxval > 255 && sample != EOF) {
            const int low = fgetc(file); /* the more significant byte comes first */
            sample = low == EOF ? -1 : sample << 8 | low;
        }
        if (sample < 0 || sample > maxval)
            return "its samples are damaged, or some are missing";
        out->samples[i] = (float)sample;
    }
    return NULL;
}

/* Returns what is wrong, or NULL. The samples are the caller's to free in either case. */
static inline const char *read_pgm(const char *path, grey *out) {
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return "cannot be opened";
    const char *wrong = read_pgm_from(file, out);
    fclose(file);
    return wrong;
}

/* Writes a raw image; numbers are rounded and kept in range. */
static inline void write_pgm(FILE *file, const grey *i) {
    fprintf(file, "P5\n%lld %lld\n%d\n", (long long)i->width, (long long)i->height, i->maxval);
    for (int64_t at = 0; at < i->width * i->height; at++) {
        const float value = i->samples[at];
        const long sample = value >= (float)i->maxval ? i->maxval : value > 0 ? lroundf(value) : 0;
        if (i->maxval > 255)
            fputc((int)(sample >> 8), file);
        fputc((int)(sample & 255), file);
    }
}

#endif
