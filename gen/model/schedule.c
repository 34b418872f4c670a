/* Schedules as one line of text: `register tile=32x8 coarsen=z16 vec=4 time=1`.
   Takes: a schedule, or such a line. Makes: the other. Sizes are x first; an entry left empty
   (`tile=x8`) is free. Fails with FAULT_USAGE. */
#include "gen/model/model.h"

#include <string.h>

enum { LARGEST = 65536 };

typedef enum part {
    PART_METHOD,
    PART_TILE,
    PART_COARSEN,
    PART_VECTOR,
    PART_TIME,
    PART_PASSES,
    PART_LANE,
    PART_STAGES,
    PARTS
} part;

static const struct {
    const char *name;
    part part;
} keys[] = {
    {"method", PART_METHOD}, {"tile", PART_TILE}, {"coarsen", PART_COARSEN},
    {"vec", PART_VECTOR},    {"time", PART_TIME}, {"vector", PART_VECTOR},
    {"passes", PART_PASSES}, {"lane", PART_LANE}, {"stages", PART_STAGES},
};
enum { KEYS = sizeof keys / sizeof keys[0] };

typedef struct parser {
    job *job;
    const char *where; /* or NULL */
    schedule *out;
    bool given[PARTS];
} parser;

static void print_sizes(const char *key, const int *sizes, int axes, text *out) {
    while (axes > 0 && sizes[axes - 1] == 0)
        axes--;
    for (int axis = 0; axis < axes; axis++) {
        text_printf(out, axis == 0 ? " %s=" : "x", key);
        if (sizes[axis] != 0)
            text_printf(out, "%d", sizes[axis]);
    }
}

static void print_coarsen(const int coarsen[AXES], text *out) {
    const char *before = " coarsen=";
    for (int axis = AXES; axis-- > 0;)
        if (coarsen[axis] != 0) {
            text_printf(out, "%s%c%d", before, axis_names[axis], coarsen[axis]);
            before = ",";
        }
}

void schedule_print(const schedule *s, int dims, text *out) {
    int tile[AXES] = {0}, coarsen[AXES] = {0};
    memcpy(tile, s->tile, (size_t)dims * sizeof *tile);
    memcpy(coarsen, s->coarsen, (size_t)dims * sizeof *coarsen);
    text_add(out, method_words[s->method].name);
    print_sizes("tile", tile, AXES, out);
    print_coarsen(coarsen, out);
    if (s->vector != 0)
        text_printf(out, " vec=%d", s->vector);
    if (s->time != 0)
        text_printf(out, " time=%d", s->time);
    if (s->passes != 0)
        text_printf(out, " passes=%d", s->passes);
    print_sizes("lane", s->lane, dims < LANE_AXES ? dims : LANE_AXES, out);
    if (s->stages != 0)
        text_printf(out, " stages=%d", s->stages);
}

SG_PRINTF(2, 3) static noreturn void fail(const parser *p, const char *format, ...) {
    text t = text_new(p->job);
    if (p->where != NULL)
        text_printf(&t, "%s: ", p->where);
    va_list arguments;
    va_start(arguments, format);
    text_vprintf(&t, format, arguments);
    va_end(arguments);
    job_fail(p->job, FAULT_USAGE, NULL, 0, "%s", t.data);
}

/* Which words could have stood there: what comes before '=' is a key, after `method=` a method. */
typedef enum expected { EXPECTED_ANY, EXPECTED_KEY, EXPECTED_METHOD } expected;

static noreturn void fail_unknown(const parser *p, const char *word, expected kind) {
    const char *words[METHOD_COUNT + KEYS];
    size_t count = 0;
    for (int m = 0; m < METHOD_COUNT && kind != EXPECTED_KEY; m++)
        words[count++] = method_words[m].name;
    for (int k = 0; k < KEYS && kind != EXPECTED_METHOD; k++)
        words[count++] = keys[k].name;
    const char *nearest = text_nearest(word, words, count);
    if (nearest != NULL)
        fail(p, "unknown word '%s' in a schedule; did you mean '%s'?", word, nearest);
    text methods = text_new(p->job);
    for (int m = 0; m < METHOD_COUNT; m++)
        text_printf(&methods, "%s%s", m > 0 ? ", " : "", method_words[m].name);
    fail(p,
         "unknown word '%s' in a schedule; it takes a method (%s), tile=32x8, coarsen=z16, "
         "vec=4, time=1, passes=2, lane=4x4, stages=4",
         word, methods.data);
}

/* The whole number that is all of `digits` up to `length`; anything else is an error. */
static int number(const parser *p, const char *key, const char *digits, size_t length) {
    int value = 0;
    bool good = length > 0;
    for (size_t i = 0; i < length && good; i++) {
        good = digits[i] >= '0' && digits[i] <= '9';
        if (good)
            value = 10 * value + (digits[i] - '0');
        good = good && value <= LARGEST;
    }
    if (!good || value == 0)
        fail(p, "%s takes whole numbers from 1 to %d, not '%s'", key, LARGEST,
             job_copy(p->job, digits, length));
    return value;
}

static void parse_sizes(const parser *p, const char *key, const char *sizes, int axes, int *out) {
    for (int axis = 0;; axis++) {
        const size_t length = strcspn(sizes, "x");
        const bool last = sizes[length] == '\0';
        if (axis == axes)
            fail(p, "%s takes at most %d sizes, x first", key, axes);
        if (length > 0 || last)
            out[axis] = number(p, key, sizes, length);
        if (last)
            return;
        sizes += length + 1;
    }
}

static void parse_coarsen(const parser *p, const char *factors) {
    for (bool seen[AXES] = {false};; factors++) {
        int axis = 0;
        while (axis < AXES && *factors != axis_names[axis])
            axis++;
        if (axis == AXES)
            fail(p, "coarsen takes an axis and a factor, such as z16 or z16,y2, not '%s'", factors);
        if (seen[axis])
            fail(p, "coarsen names the axis %c twice", axis_names[axis]);
        seen[axis] = true;
        const size_t length = strcspn(++factors, ",");
        p->out->coarsen[axis] = number(p, "coarsen", factors, length);
        factors += length;
        if (*factors == '\0')
            return;
    }
}

static bool parse_method(const parser *p, const char *name) {
    for (int m = 0; m < METHOD_COUNT; m++)
        if (strcmp(name, method_words[m].name) == 0) {
            p->out->method = (method)m;
            return true;
        }
    return false;
}

static void once(parser *p, part part, const char *name) {
    if (p->given[part])
        fail(p, "a schedule gives its %s once", name);
    p->given[part] = true;
}

static void parse_value(parser *p, part part, const char *name, const char *value) {
    once(p, part, name);
    switch (part) {
    case PART_METHOD:
        if (!parse_method(p, value))
            fail_unknown(p, value, EXPECTED_METHOD);
        break;
    case PART_TILE:
        parse_sizes(p, name, value, AXES, p->out->tile);
        break;
    case PART_COARSEN:
        parse_coarsen(p, value);
        break;
    case PART_VECTOR:
        p->out->vector = number(p, name, value, strlen(value));
        break;
    case PART_PASSES:
        p->out->passes = number(p, name, value, strlen(value));
        break;
    case PART_LANE:
        parse_sizes(p, name, value, LANE_AXES, p->out->lane);
        break;
    case PART_STAGES:
        p->out->stages = number(p, name, value, strlen(value));
        break;
    default:
        p->out->time = number(p, name, value, strlen(value));
        break;
    }
}

static void parse_word(parser *p, const char *word) {
    const char *equals = strchr(word, '=');
    if (equals == NULL) {
        if (!parse_method(p, word))
            fail_unknown(p, word, EXPECTED_ANY);
        once(p, PART_METHOD, "method");
        return;
    }
    const char *key = job_copy(p->job, word, (size_t)(equals - word));
    for (int k = 0; k < KEYS; k++)
        if (strcmp(key, keys[k].name) == 0) {
            parse_value(p, keys[k].part, key, equals + 1);
            return;
        }
    fail_unknown(p, key, EXPECTED_KEY);
}

void schedule_parse(job *j, const char *line, const char *where, schedule *out) {
    static const char blanks[] = " \t\r\n";
    parser p = {.job = j, .where = where, .out = out};
    for (line = line != NULL ? line : ""; *(line += strspn(line, blanks)) != '\0';) {
        const size_t length = strcspn(line, blanks);
        parse_word(&p, job_copy(j, line, length));
        line += length;
    }
}
