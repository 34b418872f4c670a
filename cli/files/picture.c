/* Images as PNG: 8-bit numbers of colours and a palette. */
#include "cli/files/picture.h"

#ifdef SG_PNG

#include <png.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

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
