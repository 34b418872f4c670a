/* The reader takes a line at a time and cuts it into words. The writer makes the file whole. */
#include "matrix/format.h"

#include "base/io.h"
#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    PIECE = 1 << 16,        /* bytes read, or written, at once */
    LONGEST_LINE = 1 << 16, /* a comment's bytes beyond this are skipped */
    WORDS = 5,              /* the most that a line has */
    SHOWN = 40,             /* the most characters of a word in a message */
};

typedef enum kind { COORDINATE, ARRAY } kind;
typedef enum field { REAL, DOUBLE, INTEGER, PATTERN, COMPLEX } field;
typedef enum symmetry { GENERAL, SYMMETRIC, SKEW, HERMITIAN } symmetry;
static const char *const kind_words[] = {"coordinate", "array", NULL};
static const char *const field_words[] = {"real", "double", "integer", "pattern", "complex", NULL};
static const char *const symmetry_words[] = {"general", "symmetric", "skew-symmetric", "hermitian",
                                             NULL};

typedef struct reader {
    job *job;
    FILE *file;
    const char *name;
    assembly *out;
    locale_t plain;
    char *piece;
    size_t at, end; /* the unread bytes of the piece */
    text line;
    int number; /* the line's number, from 1 */
    int count;  /* of the line's words */
    char *words[WORDS + 1];
    kind kind;
    field field;
    symmetry symmetry;
    int64_t promised; /* entries or values that the file must have */
    int promised_at;  /* the line that says so */
} reader;

/* ---- lines ----------------------------------------------------------------------------------- */

static noreturn void refuse(const reader *r, const char *format, ...) SG_PRINTF(2, 3);
static noreturn void refuse(const reader *r, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    job_vfail(r->job, FAULT_DATA, r->name, r->number, format, arguments);
}

/* A word for a message: short, and no control characters. */
static const char *show(const reader *r, const char *word) {
    const size_t length = strlen(word);
    char *copy = job_print(r->job, "%.*s%s", SHOWN, word, length > SHOWN ? "…" : "");
    for (size_t i = 0; i < length && i < SHOWN; i++)
        if (!isprint((unsigned char)copy[i]) || (unsigned char)copy[i] > 126)
            copy[i] = '?';
    return copy;
}

static bool fill_piece(reader *r) {
    r->at = 0;
    r->end = fread(r->piece, 1, PIECE, r->file);
    if (ferror(r->file))
        job_fail(r->job, FAULT_IO, r->name, 0, "cannot read: %s", strerror(errno));
    return r->end > 0;
}

static bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

/* Files of public collections indent their comments too. */
static bool is_comment(const text *line) {
    size_t at = 0;
    while (at < line->length && is_space(line->data[at]))
        at++;
    return at < line->length && line->data[at] == '%';
}

static void add_to_line(reader *r, const char *bytes, size_t count) {
    const size_t room = LONGEST_LINE - r->line.length;
    text_add_bytes(&r->line, bytes, count < room ? count : room);
    if (count > room && !is_comment(&r->line))
        refuse(r, "a line of more than %d characters", LONGEST_LINE);
}

/* Reads the next line, without its newline; false after the last line. */
static bool read_line(reader *r) {
    bool any = false;
    r->line.length = 0;
    r->line.data[0] = '\0';
    if (r->number < INT_MAX)
        r->number++;
    while (r->at < r->end || fill_piece(r)) {
        any = true;
        const char *start = r->piece + r->at;
        const char *newline = memchr(start, '\n', r->end - r->at);
        const size_t count = newline != NULL ? (size_t)(newline - start) : r->end - r->at;
        add_to_line(r, start, count);
        r->at += count + (newline != NULL);
        if (newline != NULL)
            break;
    }
    if (!any && r->number > 1)
        r->number--; /* an error at the end names the last line */
    return any;
}

/* Cuts the line into words. Of words beyond WORDS only the first counts, to show that there are too
   many. */
static void cut_line(reader *r) {
    char *at = r->line.data, *end = at + r->line.length;
    if (memchr(at, '\0', r->line.length) != NULL)
        refuse(r, "a zero byte; this is not a text file");
    for (r->count = 0; r->count <= WORDS; r->count++) {
        while (at < end && is_space(*at))
            at++;
        if (at == end)
            return;
        r->words[r->count] = at;
        while (at < end && !is_space(*at))
            at++;
        if (at < end)
            *at++ = '\0';
    }
}

/* Reads the next line that is neither blank nor a comment. */
static bool read_words(reader *r) {
    while (read_line(r)) {
        if (is_comment(&r->line))
            continue;
        cut_line(r);
        if (r->count > 0)
            return true;
    }
    return false;
}

/* ---- numbers --------------------------------------------------------------------------------- */

static bool market_number(char *token, void *plain, double *out, bool *large) {
    char *end, *d = strpbrk(token, "dD"); /* Fortran writes 1.5D+00 */
    if (strpbrk(token, "xX(") != NULL)    /* strtod takes more than decimals */
        return false;
    const char letter = d != NULL ? *d : 'e';
    if (d != NULL)
        *d = 'e';
    const locale_t before = uselocale((locale_t)plain);
    errno = 0;
    *out = strtod(token, &end);
    *large = errno == ERANGE && isinf(*out);
    uselocale(before);
    const bool good = end != token && *end == '\0';
    if (d != NULL)
        *d = letter; /* messages show the word as it was */
    return good;
}

static double read_real(const reader *r, char *word) {
    double value;
    bool large;
    if (!market_number(word, (void *)r->plain, &value, &large))
        refuse(r, "'%s' is not a number", show(r, word));
    if (large)
        refuse(r, "%s is too large for a double", show(r, word));
    return value;
}

/* Decimal digits, and a sign where `sign` allows one. */
static int64_t read_whole(const reader *r, const char *word, const char *what) {
    const bool negative = *word == '-';
    const char *at = word + (*word == '-' || *word == '+');
    int64_t value = 0;
    if (*at == '\0' || strspn(at, "0123456789") != strlen(at))
        refuse(r, "%s '%s' is not a whole number", what, show(r, word));
    for (; *at != '\0'; at++)
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_sub_overflow(value, *at - '0', &value))
            refuse(r, "%s %s does not fit into 64 bits", what, show(r, word));
    if (!negative && value == INT64_MIN)
        refuse(r, "%s %s does not fit into 64 bits", what, show(r, word));
    return negative ? value : -value;
}

static double read_value(const reader *r, char *word) {
    return r->field == INTEGER ? (double)read_whole(r, word, "the value") : read_real(r, word);
}

/* ---- the header ------------------------------------------------------------------------------ */

static int find_word(const reader *r, const char *word, const char *what,
                     const char *const *known) {
    for (int i = 0; known[i] != NULL; i++)
        if (strcasecmp(word, known[i]) == 0)
            return i;
    text all = text_new(r->job);
    for (int i = 0; known[i] != NULL; i++)
        text_printf(&all, "%s%s", i == 0 ? "" : ", ", known[i]);
    refuse(r, "the %s '%s' is unknown; known are %s", what, show(r, word), all.data);
}

static void read_banner(reader *r) {
    static const char wanted[] =
        "not a Matrix Market file: its first line must be "
        "'%%MatrixMarket matrix', coordinate or array, real, integer or pattern, general, "
        "symmetric or skew-symmetric";
    static const char byte_order_mark[] = "\xEF\xBB\xBF"; /* some editors begin files with it */
    if (!read_line(r))
        refuse(r, "the file is empty");
    cut_line(r);
    if (r->count > 0 && strncmp(r->words[0], byte_order_mark, sizeof byte_order_mark - 1) == 0)
        r->words[0] += sizeof byte_order_mark - 1;
    if (r->count == 0 || strcasecmp(r->words[0], "%%MatrixMarket") != 0)
        refuse(r, "%s", wanted);
    if (r->count > 1 && strcasecmp(r->words[1], "matrix") != 0)
        refuse(r, "the object '%s' is not supported; matrix is", show(r, r->words[1]));
    if (r->count != WORDS)
        refuse(r, "%s", wanted);
    r->kind = (kind)find_word(r, r->words[2], "format", kind_words);
    r->field = (field)find_word(r, r->words[3], "field", field_words);
    r->symmetry = (symmetry)find_word(r, r->words[4], "symmetry", symmetry_words);
    if (r->field == COMPLEX)
        refuse(r, "complex matrices are not supported; real, integer and pattern are");
    if (r->field == PATTERN && r->kind == ARRAY)
        refuse(r, "an array has values and cannot be a pattern");
    if (r->field == PATTERN && r->symmetry == SKEW)
        refuse(r, "a pattern has no signs and cannot be skew-symmetric");
}

/* n(n + 1)/2 or n(n − 1)/2, and how many values an array has; −1: too many. */
static int64_t count_values(const reader *r, int64_t rows, int64_t columns) {
    int64_t product;
    if (r->symmetry == GENERAL)
        return __builtin_mul_overflow(rows, columns, &product) ? -1 : product;
    const int64_t other = r->symmetry == SKEW ? rows - 1 : rows + 1;
    const int64_t half = rows % 2 == 0 ? rows / 2 : rows, whole = rows % 2 == 0 ? other : other / 2;
    return __builtin_mul_overflow(half, whole, &product) ? -1 : product;
}

static void read_size(reader *r) {
    const int wanted = r->kind == COORDINATE ? 3 : 2;
    int64_t size[3];
    if (!read_words(r))
        refuse(r, "the file ends before its size line");
    if (r->count != wanted)
        refuse(r, "the size line must have %s",
               wanted == 3 ? "rows, columns and entries" : "rows and columns");
    for (int i = 0; i < wanted; i++) {
        static const char *const what[] = {"the number of rows", "the number of columns",
                                           "the number of entries"};
        size[i] = read_whole(r, r->words[i], what[i]);
        if (size[i] < 0)
            refuse(r, "%s is negative", what[i]);
        if (size[i] > MATRIX_MOST)
            refuse(r, "%s is more than 2^61", what[i]);
    }
    if (r->symmetry != GENERAL && size[0] != size[1])
        refuse(r, "a %s matrix of %lld x %lld; it must be square", symmetry_words[r->symmetry],
               (long long)size[0], (long long)size[1]);
    r->promised = r->kind == COORDINATE ? size[2] : count_values(r, size[0], size[1]);
    r->promised_at = r->number;
    if (r->promised < 0)
        refuse(r, "an array of %lld x %lld values is more than can be counted", (long long)size[0],
               (long long)size[1]);
    r->out->rows = size[0];
    r->out->columns = size[1];
}

/* ---- entries --------------------------------------------------------------------------------- */

static void add(reader *r, int64_t row, int64_t column, double value) {
    if (assembly_append(r->out, row, column, value) != FAULT_NONE)
        job_fail(r->job, FAULT_MEMORY, NULL, 0, "out of memory");
}

static void add_entry(reader *r, int64_t row, int64_t column, double value) {
    if (row == column && r->symmetry == SKEW)
        refuse(r, "an entry on the diagonal of a skew-symmetric matrix, where all entries are 0");
    add(r, row, column, value);
    if (row != column && r->symmetry != GENERAL)
        add(r, column, row, r->symmetry == SKEW ? -value : value);
}

static int64_t read_place(const reader *r, int word, const char *what, int64_t most) {
    const int64_t place = read_whole(r, r->words[word], what);
    if (place < 1 || place > most)
        refuse(r, "%s %lld is not in 1 to %lld", what, (long long)place, (long long)most);
    return place - 1;
}

static const char *promised(const reader *r) {
    return text_count(r->job, r->promised, r->kind == COORDINATE ? "entry" : "value");
}

static void read_line_of(reader *r, int least, int most, const char *what, int64_t done) {
    if (!read_words(r))
        refuse(r, "the file ends after %lld of the %s that line %d promises", (long long)done,
               promised(r), r->promised_at);
    if (r->count < least || r->count > most)
        refuse(r, "a line must have %s", what);
}

/* Public collections have patterns whose entries carry a value. Other readers ignore such a value,
   and so does this one, but what stands there must be a number. */
static void read_entries(reader *r) {
    const bool pattern = r->field == PATTERN;
    for (int64_t i = 0; i < r->promised; i++) {
        double value = 1;
        bool large;
        read_line_of(r, pattern ? 2 : 3, 3,
                     pattern ? "a row and a column" : "a row, a column and a value", i);
        const int64_t row = read_place(r, 0, "row", r->out->rows);
        const int64_t column = read_place(r, 1, "column", r->out->columns);
        if (!pattern)
            value = read_value(r, r->words[2]);
        else if (r->count == 3 && !market_number(r->words[2], (void *)r->plain, &value, &large))
            refuse(r, "'%s' is not a number", show(r, r->words[2]));
        add_entry(r, row, column, pattern ? 1 : value);
    }
}

/* Values by columns. A symmetric matrix has those on and below the diagonal. */
static void read_array(reader *r) {
    int64_t row = r->symmetry == SKEW, column = 0;
    for (int64_t i = 0; i < r->promised; i++) {
        read_line_of(r, 1, 1, "one value", i);
        const double value = read_value(r, r->words[0]);
        if (value != 0)
            add_entry(r, row, column, value);
        if (++row == r->out->rows) {
            column++;
            row = r->symmetry == GENERAL ? 0 : column + (r->symmetry == SKEW);
        }
    }
}

static void drop_locale(void *plain) {
    freelocale((locale_t)plain);
}

/* The locale "C", which is freed when the job fails. */
static locale_t plain_locale(job *j) {
    const locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (plain == (locale_t)0)
        job_fail(j, FAULT_MEMORY, NULL, 0, "out of memory");
    job_defer(j, drop_locale, (void *)plain);
    return plain;
}

static void end_locale(job *j, locale_t plain) {
    job_undo(j, (void *)plain);
}

void market_read(job *j, FILE *file, const char *name, assembly *out) {
    reader r = {.job = j, .file = file, .name = name, .out = out, .line = text_new(j)};
    assembly_begin(out, job_allocator(j), 0, 0);
    r.piece = job_alloc(j, PIECE);
    r.plain = plain_locale(j);
    read_banner(&r);
    read_size(&r);
    if (r.kind == ARRAY)
        read_array(&r);
    else
        read_entries(&r);
    if (read_words(&r))
        refuse(&r, "there are more than the %s that line %d promises", promised(&r), r.promised_at);
    end_locale(j, r.plain);
    assembly_settle(j, out);
}

/* ---- writing --------------------------------------------------------------------------------- */

/* A temporary file that is removed unless it is finished. */
typedef struct writer {
    job *job;
    const char *path;
    whole_file file;
    locale_t plain;
    text text;
} writer;

static void drop(void *what) {
    whole_file_drop(&((writer *)what)->file);
}

static noreturn void cannot_write(const writer *w, int error) {
    job_fail(w->job, FAULT_IO, w->path, 0, "cannot write: %s", whole_file_error(error));
}

static void write_text(writer *w) {
    const int error = whole_file_write(&w->file, w->text.data, w->text.length);
    if (error != 0)
        cannot_write(w, error);
    w->text.length = 0;
}

/* Writes 15 digits where they read back as the same number, else 17. */
static void add_number(writer *w, double value) {
    const size_t start = w->text.length;
    double back = 0;
    bool large;
    text_number(&w->text, value, 15);
    if (isfinite(value) &&
        (!market_number(w->text.data + start, (void *)w->plain, &back, &large) || back != value)) {
        w->text.length = start;
        text_number(&w->text, value, 17);
    }
}

static void write_entries(writer *w, const matrix *m) {
    text_printf(&w->text, "%%%%MatrixMarket matrix coordinate real general\n%lld %lld %lld\n",
                (long long)m->rows, (long long)m->columns, (long long)m->entries);
    for (int64_t i = 0; i < m->entries; i++) {
        text_printf(&w->text, "%lld %lld ", (long long)m->row[i] + 1, (long long)m->column[i] + 1);
        add_number(w, m->value[i]);
        text_add(&w->text, "\n");
        if (w->text.length >= PIECE)
            write_text(w);
    }
    write_text(w);
}

void market_write(job *j, const matrix *m, const char *path) {
    writer *w = job_alloc(j, sizeof *w);
    *w = (writer){.job = j, .path = path, .text = text_new(j)};
    w->plain = plain_locale(j);
    int error = whole_file_begin(&w->file, AT_FDCWD, path, WHOLE_FILE_USUAL);
    if (error != 0)
        cannot_write(w, error);
    job_defer(j, drop, w);
    write_entries(w, m);
    error = whole_file_commit(&w->file);
    if (error != 0)
        cannot_write(w, error);
    job_keep(j, w);
    end_locale(j, w->plain);
}
