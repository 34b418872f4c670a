/* NumPy's .npy files: the header is a Python dictionary of three keys in any order. */
#include "cli/files/datafile.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "elements are read as they lie");

enum {
    MAGIC = 6,
    LONGEST_HEADER = 65536, /* NumPy itself writes hundreds of bytes */
    PIECE = 4 << 20,        /* bytes of elements read at once */
};

typedef struct scanner {
    const char *at; /* ends with a NUL */
    text *error;
} scanner;

static bool refuse(scanner *s, const char *what) {
    text_printf(s->error, "%s in the .npy header", what);
    return false;
}

static bool accept(scanner *s, const char *word) {
    s->at += strspn(s->at, " \t\r\n");
    const bool found = strncmp(s->at, word, strlen(word)) == 0;
    s->at += found ? strlen(word) : 0;
    return found;
}

/* A quoted string without escapes; points into the header. */
static bool scan_string(scanner *s, const char **start, size_t *length) {
    const char *ends = accept(s, "'") ? "'\\" : accept(s, "\"") ? "\"\\" : NULL;
    if (ends == NULL)
        return false;
    *start = s->at;
    *length = strcspn(s->at, ends);
    const bool ended = s->at[*length] == ends[0];
    s->at += *length + ended;
    return ended;
}

/* The known types, for messages. */
static void add_types(text *out) {
    for (dtype type = 0; type < DTYPE_COUNT; type++)
        text_printf(out, "%s%s ('<%s')",
                    type == 0                 ? ""
                    : type + 1 == DTYPE_COUNT ? " or "
                                              : ", ",
                    element_words[type].numpy, element_words[type].code);
    text_add(out, " is needed");
}

static dtype find_code(const char *code, size_t length) {
    dtype type = 0;
    while (type < DTYPE_COUNT && (strlen(element_words[type].code) != length ||
                                  memcmp(element_words[type].code, code, length) != 0))
        type++;
    return type;
}

static bool scan_type(scanner *s, npy *out) {
    const char *name;
    size_t length;
    if (!scan_string(s, &name, &length)) {
        if (!accept(s, "["))
            return refuse(s, "no type after 'descr'");
        text_add(s->error, "a record type; ");
        add_types(s->error);
        return false;
    }
    const bool ordered = length > 0 && strchr("<>=|", name[0]) != NULL;
    out->type = find_code(name + ordered, length - ordered);
    if (out->type == DTYPE_COUNT || name[0] == '>') {
        text_add(s->error, "type '");
        text_add_bytes(s->error, name, length < 32 ? length : 32);
        text_printf(s->error, "'%s; ", out->type != DTYPE_COUNT ? " is big endian" : "");
        add_types(s->error);
        text_add(s->error, ", as NumPy's astype('float32') makes it");
        return false;
    }
    return true;
}

static bool scan_extent(scanner *s, int64_t *out) {
    char *end;
    accept(s, "");
    if (*s->at < '0' || *s->at > '9')
        return refuse(s, "no extent in 'shape'");
    *out = strtoll(s->at, &end, 10);
    if (*out == INT64_MAX)
        return refuse(s, "an extent too large");
    s->at = end + (*end == 'L'); /* as Python 2 wrote long integers */
    return true;
}

static bool scan_shape(scanner *s, npy *out) {
    int64_t extents[NPY_DIMS];
    int count = 0;
    bool comma = true;
    if (!accept(s, "("))
        return refuse(s, "no tuple after 'shape'");
    while (!accept(s, ")")) {
        if (!comma)
            return refuse(s, "no comma between extents");
        if (count == NPY_DIMS) {
            text_add(s->error, "more than 4 dimensions");
            return false;
        }
        if (!scan_extent(s, &extents[count]))
            return false;
        count++;
        comma = accept(s, ",");
    }
    if (count == 1 && !comma)
        return refuse(s, "a shape that is no tuple");
    if (count == 0) {
        text_add(s->error, "an array without dimensions; 1 to 4 are needed");
        return false;
    }
    out->dims = count;
    for (int axis = 0; axis < NPY_DIMS; axis++)
        out->size[axis] = axis < count ? extents[count - 1 - axis] : 1;
    return true;
}

static bool scan_order(scanner *s, npy *out) {
    out->fortran = accept(s, "True");
    return out->fortran || accept(s, "False") || refuse(s, "no True or False");
}

static bool scan_dictionary(scanner *s, npy *out) {
    static const struct {
        const char *name;
        bool (*scan)(scanner *, npy *);
    } keys[] = {{"descr", scan_type}, {"fortran_order", scan_order}, {"shape", scan_shape}};
    enum { KEYS = sizeof keys / sizeof keys[0] };
    bool seen[KEYS] = {false}, comma = true;
    if (!accept(s, "{"))
        return refuse(s, "no dictionary");
    while (!accept(s, "}")) {
        const char *name;
        size_t length;
        if (!comma || !scan_string(s, &name, &length))
            return refuse(s, "a damaged dictionary");
        int key = 0;
        while (key < KEYS &&
               (strlen(keys[key].name) != length || memcmp(keys[key].name, name, length) != 0))
            key++;
        if (key == KEYS || seen[key])
            return refuse(s, "an unknown or repeated key");
        seen[key] = true;
        if (!accept(s, ":") || !keys[key].scan(s, out))
            return s->error->length > 0 ? false : refuse(s, "a missing colon");
        comma = accept(s, ",");
    }
    for (int key = 0; key < KEYS; key++)
        if (!seen[key])
            return refuse(s, "a missing key");
    accept(s, "");
    return *s->at == '\0' || refuse(s, "something after the dictionary");
}

/* The length of the whole header, by its first 12 bytes (10 for version 1); 0 with an error. */
static size_t header_length(const unsigned char *bytes, size_t count, text *error) {
    if (count < MAGIC || memcmp(bytes, "\x93NUMPY", MAGIC) != 0) {
        text_add(error, "not a .npy file");
        return 0;
    }
    const int version = count > MAGIC + 1 && bytes[MAGIC + 1] == 0 ? bytes[MAGIC] : 0;
    if (count > MAGIC + 1 && (version < 1 || version > 3)) {
        text_printf(error, ".npy version %d.%d; 1.0, 2.0 and 3.0 are known", bytes[MAGIC],
                    bytes[MAGIC + 1]);
        return 0;
    }
    const size_t start = version == 1 ? 10 : 12;
    if (count < start) {
        text_add(error, "the .npy header is cut short");
        return 0;
    }
    size_t length = bytes[8] | (size_t)bytes[9] << 8;
    if (version > 1)
        length |= (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
    if (length > LONGEST_HEADER) {
        text_printf(error, "a .npy header of %zu bytes; this reader takes %d at most", length,
                    LONGEST_HEADER);
        return 0;
    }
    return start + length;
}

bool npy_parse(const unsigned char *bytes, size_t count, npy *out, text *error) {
    const size_t length = header_length(bytes, count, error);
    if (length == 0)
        return false;
    if (length > count) {
        text_add(error, "the .npy header is cut short");
        return false;
    }
    npy header = {.data_offset = length};
    const size_t start = bytes[MAGIC] == 1 ? 10 : 12;
    scanner s = {job_copy(command_memory(), (const char *)bytes + start, length - start), error};
    if (strlen(s.at) < length - start)
        return refuse(&s, "a byte 0");
    if (!scan_dictionary(&s, &header))
        return false;
    if (header.fortran && header.dims == NPY_DIMS) {
        text_add(error, "4 dimensions in Fortran order; C order is needed");
        return false;
    }
    bool empty = false;
    for (int axis = 0; axis < NPY_DIMS; axis++)
        empty |= header.size[axis] == 0;
    header.data_bytes = dtype_words[header.type].bytes;
    for (int axis = 0; axis < NPY_DIMS; axis++) {
        const uint64_t size = header.size[axis] > 0 ? (uint64_t)header.size[axis] : 1;
        if (size > INT64_MAX / header.data_bytes) {
            text_add(error, "an array of more than 2^63 bytes");
            return false;
        }
        header.data_bytes *= size;
    }
    if (empty)
        header.data_bytes = 0;
    *out = header;
    return true;
}

static bool wrong_length(const npy *header, text *error, const char *how) {
    text_printf(error, "the file is %s than its header says (%" PRIu64 " bytes of elements)", how,
                header->data_bytes);
    return false;
}

/* Says why a read failed. */
static bool read_failed(FILE *file, const npy *header, text *error) {
    if (!ferror(file))
        return wrong_length(header, error, "shorter");
    text_printf(error, "cannot read: %s", strerror(errno));
    return false;
}

bool npy_read_header(FILE *file, npy *out, text *error) {
    unsigned char start[12];
    /* The shortest file is longer than this. */
    const size_t got = fread(start, 1, sizeof start, file);
    if (ferror(file)) {
        text_printf(error, "cannot read: %s", strerror(errno));
        return false;
    }
    const size_t length = header_length(start, got, error);
    if (length == 0)
        return false;
    if (length < sizeof start) {
        text_add(error, "an empty .npy header");
        return false;
    }
    unsigned char *bytes = must_alloc(length, 1);
    memcpy(bytes, start, got);
    const size_t rest = got == sizeof start ? fread(bytes + got, 1, length - got, file) : 0;
    const bool parsed = npy_parse(bytes, got + rest, out, error);
    free(bytes);
    struct stat status;
    if (!parsed || fstat(fileno(file), &status) != 0 || !S_ISREG(status.st_mode))
        return parsed;
    const uint64_t declared = out->data_offset + out->data_bytes;
    if ((uint64_t)status.st_size != declared)
        return wrong_length(out, error, (uint64_t)status.st_size < declared ? "shorter" : "longer");
    return true;
}

/* Elements whose first index varies fastest: the whole array is read, then gathered in pieces. */
static bool read_reversed(FILE *file, const npy *h, element_take take, void *user, text *error) {
    const size_t bytes = dtype_words[h->type].bytes;
    const int64_t nx = h->size[0], ny = h->dims > 1 ? h->size[1] : 1;
    const int64_t nz = h->dims > 2 ? h->size[2] : 1;
    unsigned char *whole = must_alloc(h->data_bytes, 1);
    unsigned char *row = must_alloc((size_t)nx, bytes);
    bool good =
        fread(whole, 1, h->data_bytes, file) == h->data_bytes || read_failed(file, h, error);
    uint64_t offset = 0;
    for (int64_t z = 0; z < nz && good; z++)
        for (int64_t y = 0; y < ny && good; y++) {
            for (int64_t x = 0; x < nx; x++)
                memcpy(row + (size_t)x * bytes, whole + (size_t)(z + nz * (y + ny * x)) * bytes,
                       bytes);
            good = take(user, offset, row, (size_t)nx * bytes);
            offset += (uint64_t)nx * bytes;
        }
    free(row);
    free(whole);
    return good;
}

static bool read_in_order(FILE *file, const npy *h, element_take take, void *user, text *error) {
    unsigned char *piece = must_alloc(PIECE, 1);
    bool good = true;
    for (uint64_t offset = 0; offset < h->data_bytes && good;) {
        const uint64_t left = h->data_bytes - offset;
        const size_t count = left < PIECE ? (size_t)left : PIECE;
        good = fread(piece, 1, count, file) == count ? take(user, offset, piece, count)
                                                     : read_failed(file, h, error);
        offset += count;
    }
    free(piece);
    return good;
}

bool npy_read_data(FILE *file, const npy *header, element_take take, void *user, text *error) {
    const bool good = header->fortran && header->dims > 1 && header->data_bytes > 0
                          ? read_reversed(file, header, take, user, error)
                          : read_in_order(file, header, take, user, error);
    if (good && !header->is_part && fgetc(file) != EOF)
        return wrong_length(header, error, "longer");
    return good;
}

void npy_header(text *out, dtype type, int dims, const int64_t size[NPY_DIMS]) {
    enum { PREFIX = 10, ALIGNMENT = 64 };
    text line = new_text();
    text_printf(&line, "{'descr': '<%s', 'fortran_order': False, 'shape': (",
                element_words[type].code);
    for (int axis = dims - 1; axis >= 0; axis--)
        text_printf(&line, "%" PRId64 "%s", size[axis], axis > 0 ? ", " : dims == 1 ? "," : "");
    text_add(&line, "), }");
    while ((PREFIX + line.length + 1) % ALIGNMENT != 0)
        text_add(&line, " ");
    text_add(&line, "\n");
    const unsigned char prefix[PREFIX] = {
        0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, line.length & 0xFF, line.length >> 8 & 0xFF};
    text_add_bytes(out, prefix, PREFIX);
    text_add_bytes(out, line.data, line.length);
}
