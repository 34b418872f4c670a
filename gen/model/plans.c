/* The reader of plans.h: a line at a time, fields between bars. */
#include "gen/model/plans.h"

#include <math.h>
#include <string.h>

static const double same = 0.05; /* facts of a board that differ by less are the same */
#define GIB 1073741824.0

typedef struct piece {
    const char *at;
    size_t length;
} piece;

typedef struct reader {
    job *job;
    plans *to;
    const char *file;
    int line;
    const plans_board *board; /* the board of the lines to come; NULL: none was read */
    const plans_listener *listener;
} reader;

static void skip(const reader *r, const char *why) {
    if (r->listener != NULL)
        r->listener->damaged(r->listener->user, r->file, r->line, why);
}

/* ---- pieces -------------------------------------------------------------------------------- */

static piece trim(piece p) {
    while (p.length > 0 && (p.at[0] == ' ' || p.at[0] == '\t'))
        p.at++, p.length--;
    while (p.length > 0 && strchr(" \t\r", p.at[p.length - 1]) != NULL)
        p.length--;
    return p;
}

/* The text before the first `end`; both go from the rest. All of it where there is no `end`. */
static piece cut(piece *rest, char end) {
    const char *found = rest->length > 0 ? memchr(rest->at, end, rest->length) : NULL;
    const size_t length = found != NULL ? (size_t)(found - rest->at) : rest->length;
    const piece out = {rest->at, length};
    const size_t taken = length + (found != NULL);
    rest->at += taken;
    rest->length -= taken;
    return trim(out);
}

static piece cut_last_word(piece *rest) {
    size_t at = rest->length;
    while (at > 0 && rest->at[at - 1] != ' ' && rest->at[at - 1] != '\t')
        at--;
    const piece out = {rest->at + at, rest->length - at};
    rest->length = at;
    *rest = trim(*rest);
    return out;
}

static bool begins(piece *p, const char *with) {
    const size_t length = strlen(with);
    if (p->length < length || memcmp(p->at, with, length) != 0)
        return false;
    p->at += length;
    p->length -= length;
    return true;
}

static bool ends(piece *p, const char *with) {
    const size_t length = strlen(with);
    if (p->length < length || memcmp(p->at + p->length - length, with, length) != 0)
        return false;
    p->length -= length;
    return true;
}

static const char *keep(const reader *r, piece p) {
    return job_copy(r->job, p.at, p.length);
}

/* ---- numbers, whatever the locale ------------------------------------------------------------ */

static bool read_whole(piece p, int64_t *out) {
    int64_t number = 0;
    if (p.length == 0 || p.length > 18) /* which an int64 always holds */
        return false;
    for (size_t i = 0; i < p.length; i++) {
        if (p.at[i] < '0' || p.at[i] > '9')
            return false;
        number = 10 * number + (p.at[i] - '0');
    }
    *out = number;
    return true;
}

/* At most 15 digits, so that one division rounds as a compiler's literal does. */
static bool read_decimal(piece p, double *out) {
    enum { MOST_DIGITS = 15 };
    const piece whole = cut(&p, '.');
    char digits[MOST_DIGITS];
    int64_t number;
    if (whole.length + p.length > MOST_DIGITS || whole.length == 0)
        return false;
    memcpy(digits, whole.at, whole.length);
    memcpy(digits + whole.length, p.at, p.length);
    if (!read_whole((piece){digits, whole.length + p.length}, &number))
        return false;
    *out = (double)number / pow(10, (double)p.length);
    return true;
}

/* ---- the head ------------------------------------------------------------------------------ */

/* Without the letter of a variant, "sm_90a". */
static bool read_arch(const reader *r, piece p, const char **out) {
    int64_t number;
    if (!ends(&p, "a"))
        ends(&p, "f");
    *out = keep(r, p);
    return begins(&p, "sm_") && read_whole(p, &number) && number > 0;
}

static bool read_memory(piece p, plans_board *b) {
    double number;
    const bool rate = ends(&p, "GB/s");
    if ((!rate && !ends(&p, "GiB")) || !read_decimal(p, &number) || number <= 0)
        return false;
    if (rate)
        b->memory_rate = number * 1e9;
    else
        b->memory = number * GIB;
    return true;
}

static bool read_count(piece p, const char *what, int *out) {
    enum { MOST = 1 << 20 };
    int64_t number;
    if (!begins(&p, what) || !read_whole(p, &number) || number < 1 || number > MOST)
        return false;
    *out = (int)number;
    return true;
}

/* "gpu NAME sm_90 multiprocessors=132 memory=3352GB/s": the name may have spaces. */
static const char *read_gpu(const reader *r, piece p, plans_board *b) {
    piece memory = cut_last_word(&p), count = cut_last_word(&p), arch = cut_last_word(&p);
    if (!begins(&memory, "memory=") || !read_memory(memory, b))
        return "a gpu ends with its memory, memory=3352GB/s or memory=80GiB";
    if (!read_count(count, "multiprocessors=", &b->multiprocessors))
        return "a gpu has multiprocessors=132 before its memory";
    if (!read_arch(r, arch, &b->arch))
        return "a gpu has its architecture, sm_90, before its multiprocessors";
    b->name = keep(r, p);
    return p.length > 0 ? NULL : "a gpu has a name";
}

/* "cpu NAME cores=16". */
static const char *read_cpu(const reader *r, piece p, plans_board *b) {
    const piece count = cut_last_word(&p);
    if (!read_count(count, "cores=", &b->multiprocessors))
        return "a cpu ends with its cores=16";
    b->arch = "cpu";
    b->name = keep(r, p);
    return p.length > 0 ? NULL : "a cpu has a name";
}

/* Lines after a damaged head are of no board. */
static void read_head(reader *r, piece p) {
    plans_board *b = job_alloc(r->job, sizeof *b);
    const char *why = begins(&p, "gpu ")   ? read_gpu(r, trim(p), b)
                      : begins(&p, "cpu ") ? read_cpu(r, trim(p), b)
                                           : "it has no bars, and begins with neither gpu nor cpu";
    r->board = why == NULL ? b : NULL;
    if (why != NULL)
        skip(r, why);
}

/* ---- a plan -------------------------------------------------------------------------------- */

/* "512x512x512", "512x512x512, 10 steps", "..32768"; "any" is up to the largest. */
static bool read_size(piece p, plans_line *l) {
    piece numbers = cut(&p, ',');
    l->steps = 1;
    if (p.length > 0) {
        p = trim(p);
        if (!ends(&p, "steps") || !read_whole(trim(p), &l->steps) || l->steps < 1)
            return false;
    }
    if (numbers.length == 3 && memcmp(numbers.at, "any", 3) == 0) {
        l->size[0] = INT64_MAX;
        l->size_count = 1;
        l->up_to = true;
        return true;
    }
    l->up_to = begins(&numbers, "..");
    do {
        const piece number = cut(&numbers, 'x');
        if (l->size_count == PLANS_NUMBERS || !read_whole(number, &l->size[l->size_count++]))
            return false;
    } while (numbers.length > 0);
    return numbers.at[-1] != 'x' && (!l->up_to || l->size_count == 1);
}

static bool is_any(piece p) {
    return p.length == 3 && memcmp(p.at, "any", 3) == 0;
}

static const char *read_fields(const reader *r, piece p, plans_line *l) {
    const piece class = cut(&p, '|'), type = cut(&p, '|'), size = cut(&p, '|'), rate = cut(&p, '|');
    const piece plan = trim(p);
    if (plan.length == 0 || class.length == 0)
        return "it takes five fields: class | dtype | size | rate | plan";
    if (memchr(plan.at, '|', plan.length) != NULL)
        return "it has more than five fields";
    l->class = keep(r, class);
    l->dtype = keep(r, type);
    l->plan = keep(r, plan);
    const dtype found = dtype_find(l->dtype);
    if (!is_any(type) && (found == DTYPE_COUNT || dtype_is_narrow(found)))
        return job_print(r->job, "'%s' is no dtype", l->dtype);
    if (!read_size(size, l))
        return job_print(r->job, "'%s' is no size", keep(r, size));
    if (!(rate.length == 1 && rate.at[0] == '-') && (!read_decimal(rate, &l->rate) || l->rate <= 0))
        return job_print(r->job, "'%s' is no rate", keep(r, rate));
    return NULL;
}

void plans_add(job *j, plans *to, const plans_line *l) {
    to->list = job_grow(j, to->list, (size_t)to->count, sizeof *to->list);
    to->list[to->count++] = *l;
}

static void read_line(reader *r, piece p) {
    for (size_t i = 0; i < p.length; i++)
        if ((unsigned char)p.at[i] < ' ' && p.at[i] != '\t' &&
            !(p.at[i] == '\r' && i + 1 == p.length)) {
            skip(r, "it holds a control character");
            return;
        }
    p = trim(p);
    if (p.length == 0 || p.at[0] == '#')
        return;
    if (memchr(p.at, '|', p.length) == NULL) {
        read_head(r, p);
        return;
    }
    plans_line l = {.file = r->file, .line = r->line, .board = r->board};
    const char *why = r->board == NULL ? "no line before it says of which gpu or cpu it is"
                                       : read_fields(r, p, &l);
    if (why != NULL)
        skip(r, why);
    else
        plans_add(r->job, r->to, &l);
}

void plans_read(job *j, plans *to, const char *file, const char *text, size_t length,
                const plans_listener *listener) {
    static const char mark[] = "\xef\xbb\xbf"; /* a mark that some editors begin a file with */
    reader r = {.job = j, .to = to, .file = file, .listener = listener};
    piece rest = {text, length};
    begins(&rest, mark);
    while (rest.length > 0) {
        const char *end = memchr(rest.at, '\n', rest.length);
        const size_t line = end != NULL ? (size_t)(end - rest.at) : rest.length;
        r.line++;
        read_line(&r, (piece){rest.at, line});
        rest.at += line + (end != NULL);
        rest.length -= line + (end != NULL);
    }
}

/* ---- those of a GPU ------------------------------------------------------------------------ */

void plans_read_shipped(job *j, plans *to) {
    const int first = to->count;
    for (const plans_file *f = plans_files; f->file != NULL; f++)
        plans_read(j, to, f->file, f->text, strlen(f->text), NULL);
    for (int i = first; i < to->count; i++)
        to->list[i].shipped = true;
}

static bool is_near(double said, double is) {
    return said == 0 || (is > 0 && fabs(said / is - 1) < same);
}

bool plans_board_is(const plans_board *b, const gpu *g) {
    return gpu_same_arch(b->arch, g->arch) && b->multiprocessors == g->multiprocessors &&
           is_near(b->memory_rate, g->memory_rate) && is_near(b->memory, g->memory);
}

plans plans_of(job *j, const plans *all, const gpu *g) {
    plans out = {0};
    for (int i = 0; i < all->count; i++)
        if (plans_board_is(all->list[i].board, g))
            plans_add(j, &out, &all->list[i]);
    return out;
}

const plans *plans_known(job *j, const gpu *g) {
    if (g->plans != NULL)
        return g->plans;
    plans all = {0}, *out = job_alloc(j, sizeof *out);
    plans_read_shipped(j, &all);
    *out = plans_of(j, &all, g);
    return out;
}

bool plans_line_is_of(const plans_line *l, const char *class, dtype type) {
    return strcmp(l->class, class) == 0 &&
           (strcmp(l->dtype, "any") == 0 || strcmp(l->dtype, dtype_words[type].name) == 0);
}

bool plans_line_has_key(const plans_line *l) {
    const char *key = strchr(l->class, ' ');
    return key != NULL && strlen(key + 1) == PLANS_KEY &&
           strspn(key + 1, "0123456789abcdef") == PLANS_KEY;
}

const plans_line *plans_for_list(const plans *p, const char *class, dtype type, int64_t count) {
    for (int i = 0; i < p->count; i++) {
        const plans_line *l = &p->list[i];
        if (plans_line_is_of(l, class, type) && l->size_count == 1 && l->steps == 1 &&
            (l->up_to ? count <= l->size[0] : count == l->size[0]))
            return l;
    }
    return NULL;
}
