/* Colour maps, and images as PNG: 8-bit numbers of colours and a palette. */
#include "cli/files/datafile.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

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

/* ---- images ---------------------------------------------------------------------------------- */

#ifdef SG_PNG

#include <png.h>
#include <setjmp.h>
#include <stdlib.h>

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
