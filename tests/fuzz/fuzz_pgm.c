/* .pgm images: the bytes are one. Read as a file and as a stream the samples arrive once each, in
   order and up to the maxval; a file is refused at once where its size is wrong; and what we write
   of the samples reads as the same image. */
#define _GNU_SOURCE /* memfd_create */
#include "tests/fuzz/fuzz.h"

#include "cli/files/datafile.h"

#include <stdbool.h>
#include <string.h>

typedef struct collected {
    const pgm *image;
    float *samples; /* NULL: only counted */
    uint64_t count;
} collected;

static bool take(void *user, uint64_t offset, const void *bytes, size_t count) {
    collected *c = user;
    const float *samples = bytes;
    DEMAND(offset == c->count * sizeof *samples && count > 0 && count % sizeof *samples == 0);
    for (size_t i = 0; i < count / sizeof *samples; i++) {
        DEMAND(samples[i] >= 0 && samples[i] <= (float)c->image->maxval &&
               samples[i] == (float)(int)samples[i]);
        if (c->samples != NULL)
            c->samples[c->count + i] = samples[i];
    }
    c->count += count / sizeof *samples;
    return true;
}

/* Written raw, whatever it was. */
static void write_and_read(const pgm *image, const float *samples, uint64_t count) {
    text file = new_text(), error = new_text();
    unsigned char *raw = must_alloc(count, 2);
    float *again = must_alloc(count, sizeof *again);
    pgm_header(&file, image);
    const pgm_scale own = {0, image->maxval};
    text_add_bytes(&file, raw, pgm_samples(DTYPE_FLOAT, samples, count, image->maxval, &own, raw));
    FILE *stream = fmemopen(file.data, file.length, "rb");
    DEMAND(stream != NULL);
    pgm header;
    collected c = {&header, again, 0};
    DEMAND(pgm_read_header(stream, &header, &error) && !header.plain);
    DEMAND(header.width == image->width && header.height == image->height &&
           header.maxval == image->maxval);
    DEMAND(pgm_read_data(stream, &header, DTYPE_FLOAT, take, &c, &error));
    DEMAND(c.count == count && memcmp(samples, again, count * sizeof *samples) == 0);
    fclose(stream);
    free(raw);
    free(again);
}

/* Whether it is an image; `sized` of a file whose size is known. */
static bool read_all(const uint8_t *bytes, size_t count, bool sized) {
    FILE *file = sized ? fdopen(dup(file_of(bytes, count)), "rb")
                       : fmemopen((void *)(uintptr_t)bytes, count, "rb");
    DEMAND(file != NULL);
    pgm image;
    text error = new_text();
    bool good = pgm_read_header(file, &image, &error);
    DEMAND(good == (error.length == 0));
    if (good) {
        DEMAND(image.width >= 1 && image.height >= 1);
        DEMAND(image.maxval >= 1 && image.maxval <= PGM_MAXVAL);
        const uint64_t samples = (uint64_t)image.width * (uint64_t)image.height;
        DEMAND(!sized || samples <= count);
        /* More samples than there are bytes cannot all come. */
        collected c = {&image, samples <= count ? must_alloc(samples, sizeof(float)) : NULL, 0};
        good = pgm_read_data(file, &image, DTYPE_FLOAT, take, &c, &error);
        DEMAND(good == (error.length == 0) && (!good || c.count == samples));
        if (good)
            write_and_read(&image, c.samples, samples);
        free(c.samples);
    }
    fclose(file);
    return good;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    if (count > 0) {
        const bool sized = read_all(bytes, count, true);
        DEMAND(read_all(bytes, count, false) == sized);
    }
    forget_everything();
    return 0;
}
