/* The table of schedule keys, and the lines. Sizes are x first; an entry left empty (`tile=x8`) is
   free. */

#include <string.h>

#include "gen/stencil/method.h"

enum { LARGEST = 65536 };

#define AT(member) offsetof(schedule, member)
const schedule_key schedule_keys[SCHEDULE_KEYS] = {
    {"method", "method", SCHEDULE_WORD, 1, 0, AT(method), "register",
     "how the grid is walked; auto by default"},
    {"tile", "tile", SCHEDULE_SIZES, AXES, 0, AT(tile), "32x8",
     "points a block computes at once, by axis: { x = 32, y = 8 }"},
    {"coarsen", "coarsen", SCHEDULE_FACTORS, AXES, SCHEDULE_COARSEN, AT(coarsen), "z16",
     "times a block repeats its tile, by axis: { z = 16 }"},
    {"vector", "vec", SCHEDULE_NUMBER, 1, SCHEDULE_VECTOR, AT(vector), "4",
     "points along x that a thread loads and stores at once"},
    {"time", "time", SCHEDULE_NUMBER, 1, SCHEDULE_TIME, AT(time), "1",
     "time steps fused into one launch"},
    {"passes", "passes", SCHEDULE_NUMBER, 1, 0, AT(passes), "2",
     "kernels that a convolution is made by: 1, or one an axis"},
    {"lane", "lane", SCHEDULE_SIZES, LANE_AXES, SCHEDULE_LANE, AT(lane), "4x4",
     "points that a thread holds where steps are fused, by axis: { x = 4, y = 4 }"},
    {"stages", "stages", SCHEDULE_NUMBER, 1, SCHEDULE_LANE, AT(stages), "4",
     "warps in the pipeline of time, where steps are fused in 2D"},
};

int *schedule_numbers(schedule *s, const schedule_key *key) {
    return (int *)(void *)((char *)s + key->offset);
}

const char *schedule_who_has(job *j, unsigned who) {
    text t = text_new(j);
    int count = 0, seen = 0;
    for (int m = 1; m < METHODS; m++)
        count += (methods[m]->keys & who) != 0;
    for (int m = 1; m < METHODS; m++)
        if ((methods[m]->keys & who) != 0) {
            const bool last = ++seen == count;
            text_printf(&t, "%s%s", seen == 1 ? "" : last ? " and " : ", ", methods[m]->name);
        }
    return count == 1 ? job_print(j, "the method %s has", t.data)
                      : job_print(j, "the methods %s have", t.data);
}

typedef struct parser {
    job *job;
    const char *where; /* or NULL */
    schedule *out;
    bool given[SCHEDULE_KEYS];
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
    text_add(out, methods[s->method]->name);
    schedule copy = *s;
    for (int k = 1; k < SCHEDULE_KEYS; k++) {
        const schedule_key *key = &schedule_keys[k];
        const int *numbers = schedule_numbers(&copy, key);
        if (key->kind == SCHEDULE_FACTORS) {
            int shown[AXES] = {0};
            memcpy(shown, numbers, (size_t)dims * sizeof *shown);
            print_coarsen(shown, out);
        } else if (key->kind == SCHEDULE_SIZES) {
            print_sizes(key->line, numbers, dims < key->axes ? dims : key->axes, out);
        } else if (numbers[0] != 0) {
            text_printf(out, " %s=%d", key->line, numbers[0]);
        }
    }
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

/* Which words could have stood there: before '=' a key, after `method=` a method. */
typedef enum expected { EXPECTED_ANY, EXPECTED_KEY, EXPECTED_METHOD } expected;

static noreturn void fail_unknown(const parser *p, const char *word, expected kind) {
    const char *words[METHODS + SCHEDULE_KEYS];
    size_t count = 0;
    for (int m = 0; m < METHODS && kind != EXPECTED_KEY; m++)
        words[count++] = methods[m]->name;
    for (int k = 0; k < SCHEDULE_KEYS && kind != EXPECTED_METHOD; k++)
        words[count++] = schedule_keys[k].line;
    const char *nearest = text_nearest(word, words, count);
    if (nearest != NULL)
        fail(p, "unknown word '%s' in a schedule; did you mean '%s'?", word, nearest);
    text all = text_new(p->job);
    for (int m = 0; m < METHODS; m++)
        text_printf(&all, "%s%s", m > 0 ? ", " : "", methods[m]->name);
    text_add(&all, ")");
    for (int k = 1; k < SCHEDULE_KEYS; k++)
        text_printf(&all, ", %s=%s", schedule_keys[k].line, schedule_keys[k].example);
    fail(p, "unknown word '%s' in a schedule; it takes a method (%s", word, all.data);
}

/* The whole number that is all of `digits` up to `length`; anything else is an error. */
static int number(const parser *p, const char *key, const char *digits, size_t length) {
    const int value = text_whole(digits, length, LARGEST);
    if (value < 1)
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
    const int found = method_find(name, strlen(name));
    if (found >= 0)
        p->out->method = found;
    return found >= 0;
}

static void once(parser *p, int key) {
    if (p->given[key])
        fail(p, "a schedule gives its %s once", schedule_keys[key].word);
    p->given[key] = true;
}

static void parse_value(parser *p, int which, const char *value) {
    const schedule_key *key = &schedule_keys[which];
    int *numbers = schedule_numbers(p->out, key);
    once(p, which);
    switch (key->kind) {
    case SCHEDULE_WORD:
        if (!parse_method(p, value))
            fail_unknown(p, value, EXPECTED_METHOD);
        break;
    case SCHEDULE_SIZES:
        parse_sizes(p, key->line, value, key->axes, numbers);
        break;
    case SCHEDULE_FACTORS:
        parse_coarsen(p, value);
        break;
    case SCHEDULE_NUMBER:
        numbers[0] = number(p, key->line, value, strlen(value));
        break;
    }
}

static void parse_word(parser *p, const char *word) {
    const char *equals = strchr(word, '=');
    if (equals == NULL) {
        if (!parse_method(p, word))
            fail_unknown(p, word, EXPECTED_ANY);
        once(p, 0);
        return;
    }
    const char *name = job_copy(p->job, word, (size_t)(equals - word));
    for (int k = 0; k < SCHEDULE_KEYS; k++)
        if (strcmp(name, schedule_keys[k].line) == 0 || strcmp(name, schedule_keys[k].word) == 0) {
            parse_value(p, k, equals + 1);
            return;
        }
    fail_unknown(p, name, EXPECTED_KEY);
}

void schedule_parse(job *j, const char *line, const char *where, schedule *out) {
    parser p = {.job = j, .where = where, .out = out};
    for (const char *word; (word = text_next_word(j, &line)) != NULL;)
        parse_word(&p, word);
}
