/* Values to bytes and back, and files with a header. */
#include "runtime/files/sealed.h"

#include <errno.h>
#include <string.h>

#include "base/hash.h"
#include "base/io.h"

enum { INT_BYTES = 8 };

static const int64_t no_text = -1; /* the length of NULL */

static void put(unsigned char *at, uint64_t value) {
    for (int i = 0; i < INT_BYTES; i++)
        at[i] = (unsigned char)(value >> (8 * i));
}

static uint64_t get(const unsigned char *at) {
    uint64_t value = 0;
    for (int i = 0; i < INT_BYTES; i++)
        value |= (uint64_t)at[i] << (8 * i);
    return value;
}

/* ---- writing --------------------------------------------------------------------------------- */

void record_put_int(text *t, int64_t value) {
    unsigned char bytes[INT_BYTES];
    put(bytes, (uint64_t)value);
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

/* ---- reading --------------------------------------------------------------------------------- */

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
    return bytes != NULL ? (int64_t)get(bytes) : 0;
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

/* ---- both ------------------------------------------------------------------------------------ */

/* What is written is only read: other threads may write the same kernel. */

void code_int(coder *c, int *value, int least, int most) {
    if (c->out != NULL)
        record_put_int(c->out, *value);
    else
        *value = record_small(&c->in, least, most);
}

void code_bool(coder *c, bool *value) {
    int number = *value;
    code_int(c, &number, 0, 1);
    if (c->out == NULL)
        *value = number;
}

void code_long(coder *c, int64_t *value) {
    if (c->out != NULL)
        record_put_int(c->out, *value);
    else
        *value = record_int(&c->in);
}

void code_size(coder *c, size_t *value, size_t most) {
    int64_t number = (int64_t)*value;
    code_long(c, &number);
    if (c->out != NULL)
        return;
    c->in.bad |= number < 0 || (uint64_t)number > most;
    *value = c->in.bad ? 0 : (size_t)number;
}

void code_double(coder *c, double *value) {
    if (c->out != NULL)
        record_put_double(c->out, *value);
    else
        *value = record_double(&c->in);
}

void code_text(coder *c, const char **value) {
    if (c->out != NULL)
        record_put_text(c->out, *value);
    else
        *value = record_text(&c->in, c->job);
}

void code_words(coder *c, const char **value) {
    code_text(c, value);
    if (c->out != NULL || *value != NULL)
        return;
    c->in.bad = true;
    *value = "";
}

void code_bytes(coder *c, blob *value) {
    if (c->out != NULL)
        record_put_bytes(c->out, value->data, value->size);
    else
        *value = record_bytes(&c->in);
}

void *code_list(coder *c, void *list, int *count, int most, size_t size) {
    code_int(c, count, 0, most);
    return c->out != NULL ? list : job_array(c->job, (size_t)*count, size);
}

/* The header of sealed files, and how they are written and read. All numbers are little-endian:

       0  magic
       8  version, 32 bits, and 32 bits that are 0
      16  key
      48  length of the payload
      56  checksum of the payload, seeded with that of all before it */

enum { VERSION_AT = 8, KEY_AT = 16, LENGTH_AT = 48, CHECKSUM_AT = 56 };

/* ---- the header ------------------------------------------------------------------------------ */

static uint64_t seal_of(const unsigned char *header, const void *payload, size_t size) {
    return checksum_of(payload, size, checksum_of(header, CHECKSUM_AT, 0));
}

/* Why the header of a file of `size` bytes cannot be that of a good one; NULL where it can. */
static const char *judge_header(job *j, const unsigned char *header, size_t have, size_t size,
                                const sealed_kind *kind, const digest *key) {
    if (have < SEALED_HEADER || size < SEALED_HEADER)
        return job_print(j, "it is too short to be %s", kind->title);
    if (memcmp(header, kind->magic, sizeof kind->magic) != 0)
        return job_print(j, "it is not %s", kind->title);
    const uint64_t version = get(header + VERSION_AT);
    if (version != kind->version)
        return job_print(j, "it is of format %llu; this version of stencilgen has format %llu",
                         (unsigned long long)version, (unsigned long long)kind->version);
    const uint64_t length = get(header + LENGTH_AT);
    if (length != size - SEALED_HEADER)
        return job_print(j, "it is %s than it says",
                         length > size - SEALED_HEADER ? "shorter" : "longer");
    if (key != NULL && memcmp(header + KEY_AT, key->bytes, sizeof key->bytes) != 0)
        return "it holds what belongs to another key";
    return NULL;
}

static void find_key(const unsigned char *header, digest *found) {
    if (found != NULL)
        memcpy(found->bytes, header + KEY_AT, sizeof found->bytes);
}

static const char *judge_payload(const unsigned char *header, blob payload) {
    if (get(header + CHECKSUM_AT) != seal_of(header, payload.data, payload.size))
        return "it is damaged: its checksum is not that of its content";
    return NULL;
}

blob sealed_bytes(job *j, const sealed_kind *kind, const digest *key, blob payload) {
    unsigned char *whole = job_alloc(j, SEALED_HEADER + payload.size);
    memcpy(whole, kind->magic, sizeof kind->magic);
    put(whole + VERSION_AT, kind->version);
    if (key != NULL)
        memcpy(whole + KEY_AT, key->bytes, sizeof key->bytes);
    put(whole + LENGTH_AT, payload.size);
    put(whole + CHECKSUM_AT, seal_of(whole, payload.data, payload.size));
    if (payload.size > 0)
        memcpy(whole + SEALED_HEADER, payload.data, payload.size);
    return (blob){.data = whole, .size = SEALED_HEADER + payload.size};
}

blob sealed_glance(job *j, blob start, size_t size, const sealed_kind *kind, const digest *key,
                   digest *found, const char **why) {
    const unsigned char *header = start.data;
    *why = judge_header(j, header, start.size, size, kind, key);
    if (*why != NULL)
        return (blob){0};
    find_key(header, found);
    return (blob){.data = header + SEALED_HEADER, .size = start.size - SEALED_HEADER};
}

blob sealed_open(job *j, blob whole, const sealed_kind *kind, const digest *key, digest *found,
                 const char **why) {
    const blob payload = sealed_glance(j, whole, whole.size, kind, key, found, why);
    if (*why == NULL)
        *why = judge_payload(whole.data, payload);
    return *why == NULL ? payload : (blob){0};
}

/* ---- reading --------------------------------------------------------------------------------- */

static const char *cannot_read(job *j) {
    return job_print(j, "it cannot be read: %s", strerror(errno));
}

/* The header is judged before there is memory for the rest, which a foreign file may lack. */
blob sealed_read(job *j, int file, size_t size, const sealed_kind *kind, const digest *key,
                 digest *found, const char **why) {
    unsigned char header[SEALED_HEADER] = {0};
    const ssize_t have = io_read_all(file, header, sizeof header);
    *why = have < 0 ? cannot_read(j) : judge_header(j, header, (size_t)have, size, kind, key);
    if (*why != NULL)
        return (blob){0};
    find_key(header, found);
    const size_t length = size - SEALED_HEADER;
    char *data = job_alloc(j, length + 1);
    const ssize_t got = io_read_all(file, data, length);
    if (got < 0)
        *why = cannot_read(j);
    else if ((size_t)got < length)
        *why = "it is shorter than it says";
    else
        *why = judge_payload(header, (blob){.data = data, .size = length});
    return *why == NULL ? (blob){.data = data, .size = length} : (blob){0};
}

/* ---- writing --------------------------------------------------------------------------------- */

/* A file that is gone again unless it is finished. */
static void drop(void *what) {
    whole_file_drop(what);
}

static const char *cannot_write(job *j, const char *name, int error) {
    return job_print(j, "cannot write %s: %s", name, whole_file_error(error));
}

const char *sealed_write(job *j, int folder, const char *name, const sealed_kind *kind,
                         const digest *key, blob payload) {
    const blob whole = sealed_bytes(j, kind, key, payload);
    whole_file *w = job_alloc(j, sizeof *w);
    int error =
        whole_file_begin(w, folder, name, kind->secret ? WHOLE_FILE_PRIVATE : WHOLE_FILE_USUAL);
    if (error != 0)
        return cannot_write(j, name, error);
    job_defer(j, drop, w);
    error = whole_file_write(w, whole.data, whole.size);
    if (error == 0)
        error = whole_file_commit(w);
    job_undo(j, w);
    return error == 0 ? NULL : cannot_write(j, name, error);
}
