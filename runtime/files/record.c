/* Values to bytes and back. */
#include "runtime/files/record.h"

#include <string.h>

enum { INT_BYTES = 8 };

static const int64_t no_text = -1; /* the length of NULL */

/* ---- writing ------------------------------------------------------------------------------- */

void record_put_int(text *t, int64_t value) {
    char bytes[INT_BYTES];
    for (int i = 0; i < INT_BYTES; i++)
        bytes[i] = (char)((uint64_t)value >> (8 * i) & 255);
    text_add_bytes(t, bytes, sizeof bytes);
}

void record_put_double(text *t, double value) {
    int64_t bits;
    memcpy(&bits, &value, sizeof bits);
    record_put_int(t, bits);
}

void record_put_text(text *t, const char *string) {
    if (string == NULL)
        record_put_int(t, no_text);
    else
        record_put_bytes(t, string, strlen(string));
}

void record_put_bytes(text *t, const void *data, size_t size) {
    record_put_int(t, (int64_t)size);
    if (size > 0)
        text_add_bytes(t, data, size);
}

/* ---- reading ------------------------------------------------------------------------------- */

record record_of(const void *data, size_t size) {
    /* No arithmetic on NULL, which no bytes may be. */
    return (record){.at = data, .end = size > 0 ? (const unsigned char *)data + size : data};
}

size_t record_left(const record *r) {
    return (size_t)(r->end - r->at);
}

/* NULL where there are fewer. */
static const unsigned char *take(record *r, size_t size) {
    if (r->bad || size > record_left(r)) {
        r->bad = true;
        return NULL;
    }
    const unsigned char *taken = r->at;
    r->at += size;
    return taken;
}

int64_t record_int(record *r) {
    const unsigned char *bytes = take(r, INT_BYTES);
    uint64_t value = 0;
    for (int i = 0; bytes != NULL && i < INT_BYTES; i++)
        value |= (uint64_t)bytes[i] << (8 * i);
    return (int64_t)value;
}

int record_small(record *r, int least, int most) {
    const int64_t value = record_int(r);
    if (value >= least && value <= most && !r->bad)
        return (int)value;
    r->bad = true;
    return 0;
}

double record_double(record *r) {
    const int64_t bits = record_int(r);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static blob take_bytes(record *r, int64_t size) {
    r->bad |= size < 0;
    const unsigned char *bytes = take(r, (size_t)size);
    return (blob){.data = bytes, .size = bytes != NULL ? (size_t)size : 0};
}

const char *record_text(record *r, job *j) {
    const int64_t size = record_int(r);
    if (size == no_text && !r->bad)
        return NULL;
    const blob b = take_bytes(r, size);
    if (b.size > 0 && memchr(b.data, '\0', b.size) != NULL)
        r->bad = true;
    return r->bad || b.size == 0 ? "" : job_copy(j, b.data, b.size);
}

blob record_bytes(record *r) {
    return take_bytes(r, record_int(r));
}

bool record_done(const record *r) {
    return !r->bad && r->at == r->end;
}
