/* .npy files: the bytes are one. The header as parsed from memory and as read from a file agree,
   the elements arrive once each, in order and where the header says, and a header that we write for
   the same array says the same. */
#define _GNU_SOURCE /* memfd_create */
#include "tests/fuzz/fuzz.h"

#include "cli/files/datafile.h"

#include <stdbool.h>
#include <string.h>

typedef struct collected {
    const npy *header;
    const uint8_t *file; /* its elements */
    uint64_t at;
} collected;

/* Where an element that comes as number `index` lies in the file, in elements. */
static uint64_t place(const npy *h, uint64_t index) {
    if (!h->fortran)
        return index;
    const uint64_t nx = (uint64_t)h->size[0], ny = (uint64_t)h->size[1], nz = (uint64_t)h->size[2];
    const uint64_t x = index % nx, y = index / nx % ny, z = index / nx / ny;
    return z + nz * (y + ny * x);
}

static bool take(void *user, uint64_t offset, const void *bytes, size_t count) {
    collected *c = user;
    const size_t element = dtype_words[c->header->type].bytes;
    DEMAND(offset == c->at && count > 0 && count % element == 0);
    DEMAND(offset + count <= c->header->data_bytes);
    for (size_t i = 0; i < count; i += element)
        DEMAND(memcmp((const char *)bytes + i,
                      c->file + place(c->header, (offset + i) / element) * element, element) == 0);
    c->at += count;
    return true;
}

static bool same_array(const npy *a, const npy *b) {
    return a->type == b->type && a->dims == b->dims &&
           memcmp(a->size, b->size, sizeof a->size) == 0 && a->data_bytes == b->data_bytes;
}

static void check_header(const npy *h, size_t count) {
    DEMAND(h->type < DTYPE_COUNT);
    uint64_t product = dtype_words[h->type].bytes;
    bool empty = false;
    DEMAND(h->dims >= 1 && h->dims <= NPY_DIMS && h->data_offset <= count);
    for (int axis = 0; axis < NPY_DIMS; axis++) {
        DEMAND(h->size[axis] >= 0 && (axis < h->dims || h->size[axis] == 1));
        empty |= h->size[axis] == 0;
    }
    for (int axis = 0; axis < NPY_DIMS; axis++)
        DEMAND(!__builtin_mul_overflow(product, empty ? 0 : (uint64_t)h->size[axis], &product));
    DEMAND(h->data_bytes == product && product <= INT64_MAX);

    text written = new_text(), error = new_text();
    npy again;
    npy_header(&written, h->type, h->dims, h->size);
    DEMAND(npy_parse((const unsigned char *)written.data, written.length, &again, &error));
    DEMAND(same_array(h, &again) && !again.fortran && again.data_offset == written.length);
    DEMAND(written.length % 64 == 0);
}

/* From a stream that is a file with a size, where a header cannot promise more than there is, and
   from one that has none. */
static void read_all(const uint8_t *bytes, size_t count, const npy *parsed, bool sized) {
    FILE *file = sized ? fdopen(dup(file_of(bytes, count)), "rb")
                       : fmemopen((void *)(uintptr_t)bytes, count, "rb");
    DEMAND(file != NULL);
    npy header;
    text error = new_text();
    const bool fits = parsed != NULL && parsed->data_offset + parsed->data_bytes == count;
    const bool read = npy_read_header(file, &header, &error);
    DEMAND(read == (parsed != NULL && (fits || !sized)));
    DEMAND(read == (error.length == 0));
    if (read && parsed->data_bytes <= 2 * count) { /* else it is only memory that is tried */
        DEMAND(same_array(&header, parsed) && header.fortran == parsed->fortran &&
               header.data_offset == parsed->data_offset);
        collected c = {&header, bytes + header.data_offset, 0};
        DEMAND(npy_read_data(file, &header, take, &c, &error) == fits);
        DEMAND(!fits || c.at == header.data_bytes);
        DEMAND(fits == (error.length == 0));
    }
    fclose(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    npy header;
    text error = new_text();
    const bool parsed = npy_parse(bytes, count, &header, &error);
    DEMAND(parsed == (error.length == 0));
    if (parsed)
        check_header(&header, count);
    if (count > 0) {
        read_all(bytes, count, parsed ? &header : NULL, true);
        read_all(bytes, count, parsed ? &header : NULL, false);
    }
    forget_everything();
    return 0;
}
