/* Images. Grey ones, .pgm: "P5", width, height, maxval, one white-space character, samples. Colour
   maps, and images as PNG: 8-bit numbers of colours and a palette. */
#include "cli/files/datafile.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- .pgm ------------------------------------------------------------------------------------ */

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
    text_printf(error, "the file is %s than its header says (%s)",
                left < least ? "shorter" : "longer", text_count(error->job, samples, "sample"));
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

/* ---- colour maps ----------------------------------------------------------------------------- */

/* Colour maps of perceptually uniform lightness, and greys. viridis, plasma, magma and inferno are
   those of matplotlib (N. Smith and S. van der Walt, 2015, CC0), by Matt Zucker's polynomials of
   degree 6 (https://www.shadertoy.com/view/WlfXRN, CC0), which are within 0.02 of them. */
enum { TERMS = 7 };

static const struct {
    const char *name;
    double terms[TERMS][3]; /* of t^0 … t^6 for t from 0 to 1: red, green, blue */
} maps[] = {
    {"viridis",
     {{0.2777273272234177, 0.005407344544966578, 0.3340998053353061},
      {0.1050930431085774, 1.404613529898575, 1.384590162594685},
      {-0.3308618287255563, 0.214847559468213, 0.09509516302823659},
      {-4.634230498983486, -5.799100973351585, -19.33244095627987},
      {6.228269936347081, 14.17993336680509, 56.69055260068105},
      {4.776384997670288, -13.74514537774601, -65.35303263337234},
      {-5.435455855934631, 4.645852612178535, 26.3124352495832}}},
    {"plasma",
     {{0.05873234392399702, 0.02333670892565664, 0.5433401826748754},
      {2.176514634195958, 0.2383834171260182, 0.7539604599784036},
      {-2.689460476458034, -7.455851135738909, 3.110799939717086},
      {6.130348345893603, 42.3461881477227, -28.51885465332158},
      {-11.10743619062271, -82.66631109428045, 60.13984767418263},
      {10.02306557647065, 71.41361770095349, -54.07218655560067},
      {-3.658713842777788, -22.93153465461149, 18.19190778539828}}},
    {"magma",
     {{-0.002136485053939582, -0.000749655052795221, -0.005386127855323933},
      {0.2516605407371642, 0.6775232436837668, 2.494026599312351},
      {8.353717279216625, -3.577719514958484, 0.3144679030132573},
      {-27.66873308576866, 14.26473078096533, -13.64921318813922},
      {52.17613981234068, -27.94360607168351, 12.94416944238394},
      {-50.76852536473588, 29.04658282127291, 4.23415299384598},
      {18.65570506591883, -11.48977351997711, -5.601961508734096}}},
    {"inferno",
     {{0.0002189403691192265, 0.001651004631001012, -0.01948089843709184},
      {0.1065134194856116, 0.5639564367884091, 3.932712388889277},
      {11.60249308247187, -3.972853965665698, -15.9423941062914},
      {-41.70399613139459, 17.43639888205313, 44.35414519872813},
      {77.162935699427, -33.40235894210092, -81.80730925738993},
      {-71.31942824499214, 32.62606426397723, 73.20951985803202},
      {25.13112622477341, -12.24266895238567, -23.07032500287172}}},
    {"grey", {{0, 0, 0}, {1, 1, 1}}},
};
enum { MAPS = sizeof maps / sizeof maps[0] };

const char *colours_name(int index) {
    return index >= 0 && index < MAPS ? maps[index].name : NULL;
}

bool colours_of(const char *map, unsigned char out[COLOURS][3]) {
    int m = 0;
    while (m < MAPS && strcmp(maps[m].name, map) != 0)
        m++;
    for (int i = 0; i < COLOURS && m < MAPS; i++)
        for (int c = 0; c < 3; c++) {
            const double t = (double)i / (COLOURS - 1);
            double sum = 0;
            for (int term = TERMS - 1; term >= 0; term--)
                sum = sum * t + maps[m].terms[term][c];
            out[i][c] = (unsigned char)lround(fmin(fmax(sum, 0), 1) * 255);
        }
    return m < MAPS;
}

/* ---- PNG ------------------------------------------------------------------------------------- */

#ifdef SG_PNG

#include <png.h>
#include <setjmp.h>

enum { COMPRESSION = 3 }; /* of 9: half the time of the usual 6, for a few per cent more bytes */

typedef struct sink {
    picture_put put;
    void *user;
} sink;

const char *picture_missing(void) {
    return NULL;
}

static void put_bytes(png_structp png, png_bytep bytes, size_t count) {
    const sink *s = png_get_io_ptr(png);
    if (!s->put(s->user, bytes, count))
        png_error(png, "");
}

static void put_nothing(png_structp png) {
    (void)png;
}

/* libpng ends by longjmp, to the frame that png_set_longjmp_fn names. */
static void fail(png_structp png, png_const_charp text) {
    (void)text;
    png_longjmp(png, 1);
}

static void ignore(png_structp png, png_const_charp text) {
    (void)png;
    (void)text;
}

/* Holds nothing that a jump out of it would lose. */
static void write_all(png_structp png, png_infop info, int64_t width, int64_t height,
                      const unsigned char *samples, unsigned char colours[COLOURS][3]) {
    png_color palette[COLOURS];
    for (int i = 0; i < COLOURS; i++)
        palette[i] = (png_color){colours[i][0], colours[i][1], colours[i][2]};
    png_set_user_limits(png, PICTURE_MOST, PICTURE_MOST);
    png_set_IHDR(png, info, (png_uint_32)width, (png_uint_32)height, 8, PNG_COLOR_TYPE_PALETTE,
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_set_PLTE(png, info, palette, COLOURS);
    png_set_compression_level(png, COMPRESSION);
    png_write_info(png, info);
    for (int64_t y = 0; y < height; y++)
        png_write_row(png, samples + y * width);
    png_write_end(png, info);
}

bool picture_write(int64_t width, int64_t height, const unsigned char *samples,
                   unsigned char colours[COLOURS][3], picture_put put, void *user) {
    sink s = {put, user};
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, fail, ignore);
    png_infop info = png != NULL ? png_create_info_struct(png) : NULL;
    volatile bool good = false; /* read after a jump */
    if (info != NULL && setjmp(png_jmpbuf(png)) == 0) {
        png_set_write_fn(png, &s, put_bytes, put_nothing);
        write_all(png, info, width, height, samples, colours);
        good = true;
    }
    png_destroy_write_struct(&png, &info);
    return good;
}

#else

const char *picture_missing(void) {
    return "this stencilgen was built without libpng; name a .pgm file, or install libpng-dev and "
           "build again";
}

bool picture_write(int64_t width, int64_t height, const unsigned char *samples,
                   unsigned char colours[COLOURS][3], picture_put put, void *user) {
    (void)width, (void)height, (void)samples, (void)colours, (void)put, (void)user;
    return false;
}

#endif
