/* Grey images: "P5", width, height, maxval, one white-space character, samples. */
#include "cli/files/datafile.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { SAMPLES = 1 << 16 }; /* handed on at once */

static bool refuse(text *error, const char *what) {
    text_add(error, what);
    return false;
}

/* Says why a stream ended. */
static bool ended(FILE *file, text *error, const char *what) {
    if (!ferror(file))
        return refuse(error, what);
    text_printf(error, "cannot read: %s", strerror(errno));
    return false;
}

static bool is_space(int c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* The next character that is neither white space nor in a comment, or EOF. A comment goes from # to
   the end of its line. */
static int next_character(FILE *file) {
    int c = fgetc(file);
    while (is_space(c) || c == '#') {
        while (c == '#' && (c = fgetc(file)) != EOF && c != '\n' && c != '\r')
            c = '#';
        if (c != EOF)
            c = fgetc(file);
    }
    return c;
}

/* Reads a whole number up to `most`, called `what` in errors. The character after it is read too
   and is white space, a comment that is skipped with its line's end, or, where `last`, the end. */
static bool read_number(FILE *file, const char *what, int64_t most, bool last, int64_t *out,
                        text *error) {
    int c = next_character(file);
    if (c == EOF) {
        text_printf(error, "the file ends where %s is to come", what);
        return ferror(file) ? ended(file, error, "") : false;
    }
    if (c < '0' || c > '9') {
        text_printf(error, "%s is no number", what);
        return false;
    }
    *out = 0;
    for (; c >= '0' && c <= '9'; c = fgetc(file)) {
        const int digit = c - '0';
        if (digit > most || *out > (most - digit) / 10) {
            text_printf(error, "%s is more than %" PRId64, what, most);
            return false;
        }
        *out = 10 * *out + digit;
    }
    while (c == '#' && (c = fgetc(file)) != EOF && c != '\n' && c != '\r')
        c = '#';
    if (is_space(c) || (c == EOF && last && !ferror(file)))
        return true;
    if (c == EOF && ferror(file))
        return ended(file, error, "");
    text_printf(error, c == EOF ? "the file ends after %s" : "no white space after %s", what);
    return false;
}

static size_t sample_bytes(const pgm *image) {
    return image->maxval > 255 ? 2 : 1;
}

/* A file of a known size says at once that it is cut short, and a raw one that it goes on. A plain
   sample takes two characters, the last one its digit. */
static bool judge_size(FILE *file, const pgm *image, text *error) {
    struct stat status;
    const off_t at = ftello(file);
    if (at < 0 || fstat(fileno(file), &status) != 0 || !S_ISREG(status.st_mode))
        return true;
    const int64_t samples = image->width * image->height; /* below 2^62 */
    const int64_t least = image->plain ? 2 * samples - 1 : samples * (int64_t)sample_bytes(image);
    const int64_t left = (int64_t)status.st_size - (int64_t)at;
    if (left == least || (image->plain && left > least))
        return true;
    text_printf(error, "the file is %s than its header says (%" PRId64 " samples)",
                left < least ? "shorter" : "longer", samples);
    return false;
}

bool pgm_read_header(FILE *file, pgm *out, text *error) {
    int64_t maxval;
    const int p = fgetc(file), kind = p == 'P' ? fgetc(file) : EOF;
    if (ferror(file))
        return ended(file, error, "");
    if (p == 'P' && (kind == '1' || kind == '3' || kind == '4' || kind == '6' || kind == '7')) {
        text_printf(error, "a P%c image; a grey one, P2 or P5, is needed", kind);
        return false;
    }
    if (kind != '2' && kind != '5')
        return refuse(error, "not a .pgm file");
    const int after = fgetc(file);
    if (!is_space(after) && after != '#')
        return refuse(error, "not a .pgm file");
    if (after == '#')
        ungetc(after, file);
    pgm image = {.plain = kind == '2'};
    if (!read_number(file, "the width", INT32_MAX, false, &image.width, error) ||
        !read_number(file, "the height", INT32_MAX, false, &image.height, error) ||
        !read_number(file, "the maxval", PGM_MAXVAL, false, &maxval, error))
        return false;
    if (image.width == 0 || image.height == 0)
        return refuse(error, "an image without samples");
    if (maxval == 0)
        return refuse(error, "the maxval is 0; 1 to 65535 is needed");
    image.maxval = (int)maxval;
    *out = image;
    return judge_size(file, out, error);
}

/* The next `count` samples. */
static bool read_plain(FILE *file, const pgm *image, size_t count, bool last, uint16_t *out,
                       text *error) {
    for (size_t i = 0; i < count; i++) {
        int64_t sample;
        if (!read_number(file, "a sample", image->maxval, last && i + 1 == count, &sample, error))
            return false;
        out[i] = (uint16_t)sample;
    }
    return true;
}

static bool read_raw(FILE *file, const pgm *image, size_t count, uint16_t *out, text *error) {
    const size_t bytes = sample_bytes(image);
    unsigned char *raw = (unsigned char *)out; /* from the front, so that samples grow behind it */
    if (fread(raw, bytes, count, file) != count)
        return ended(file, error, "the file is shorter than its header says");
    for (size_t i = count; i-- > 0;) {
        const unsigned high = bytes == 2 ? raw[2 * i] : 0,
                       low = bytes == 2 ? raw[2 * i + 1] : raw[i];
        out[i] = (uint16_t)(high << 8 | low);
        if (out[i] > image->maxval) {
            text_printf(error, "a sample is %u, more than the maxval %d", out[i], image->maxval);
            return false;
        }
    }
    return true;
}

bool pgm_read_data(FILE *file, const pgm *image, dtype type, element_take take, void *user,
                   text *error) {
    const uint64_t all = (uint64_t)image->width * (uint64_t)image->height;
    const size_t bytes = dtype_words[type].bytes;
    uint16_t *samples = must_alloc(SAMPLES, sizeof *samples);
    unsigned char *elements = must_alloc(SAMPLES, bytes);
    bool good = true;
    for (uint64_t at = 0; at < all && good;) {
        const size_t count = all - at < SAMPLES ? (size_t)(all - at) : SAMPLES;
        good = image->plain ? read_plain(file, image, count, at + count == all, samples, error)
                            : read_raw(file, image, count, samples, error);
        for (size_t i = 0; i < count && good; i++)
            element_put(type, samples[i], elements + i * bytes);
        good = good && take(user, at * bytes, elements, count * bytes);
        at += count;
    }
    free(elements);
    free(samples);
    if (good && (image->plain ? next_character(file) : fgetc(file)) != EOF)
        return refuse(error, "the file is longer than its header says");
    return good && (!ferror(file) || ended(file, error, ""));
}

void pgm_header(text *out, const pgm *image) {
    text_printf(out, "P5\n%" PRId64 " %" PRId64 "\n%d\n", image->width, image->height,
                image->maxval);
}

/* On an image's own scale, whole numbers stay exactly the same. */
static double place_in(const pgm_scale *scale, double value, int maxval) {
    if (scale->low == 0 && scale->high == maxval)
        return value;
    const double span = scale->high - scale->low;
    if (isinf(span)) /* the halves are in range */
        return (value / 2 - scale->low / 2) / (scale->high / 2 - scale->low / 2) * maxval;
    return (value - scale->low) / span * maxval;
}

size_t pgm_samples(dtype type, const void *from, size_t count, int maxval, const pgm_scale *scale,
                   unsigned char *out) {
    const size_t bytes = maxval > 255 ? 2 : 1;
    for (size_t i = 0; i < count; i++) {
        const double element = dtype_value(type, (const char *)from + i * dtype_words[type].bytes);
        const double value = place_in(scale, element, maxval);
        const unsigned sample = value >= maxval ? (unsigned)maxval
                                : value > 0     ? (unsigned)lround(value)
                                                : 0; /* also for NaN */
        if (bytes == 2)
            out[2 * i] = (unsigned char)(sample >> 8);
        out[bytes * i + bytes - 1] = (unsigned char)(sample & 0xFF);
    }
    return bytes * count;
}
