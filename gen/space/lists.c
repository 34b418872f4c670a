/* Candidates of the families of lists.
   Takes: the constraints of the spec, of `tune` and of the caller. Makes: every combination of the
   values of the family's table that its own fitting accepts. */
#include "gen/space/space.h"

#include <assert.h>
#include <string.h>

static_assert(PATTERN_NUMBERS + 2 <= SPACE_AXES && PATTERN_NUMBERS + 2 <= TUNING_KEYS,
              "numbers, format and algorithm are axes and keys");

/* ---- one combination ----------------------------------------------------------------------- */

typedef struct filling {
    space_builder *builder;
    const pattern_words *words;
    const space_group *group;
    int which;          /* combination of `tune` */
    int threads, items; /* of the words; −1 */
    int formats;        /* 1 where the first axis is the format */
    text *launches;     /* what candidates of the group come to, a line each */
} filling;

static int find_number(const pattern_words *w, const char *name) {
    for (int i = 0; i < w->number_count; i++)
        if (strcmp(w->numbers[i].name, name) == 0)
            return i;
    return -1;
}

/* 0 where it is left to the family. */
static int64_t in_units(const filling *f, const pattern_schedule *s, space_unit u, int value) {
    const int threads = f->threads < 0 ? 0 : s->number[f->threads];
    const int items = f->items < 0 ? 0 : s->number[f->items];
    if (value == SPACE_OWN)
        return 0;
    switch (u) {
    case BY_PACK:
        return (int64_t)value * 16 / (int64_t)dtype_words[f->builder->subject->dtype].bytes;
    case BY_HALF:
        return (int64_t)value * items / 2;
    case BY_TILE:
        return (int64_t)value * threads * items;
    case BY_PROCESSOR:
        return (int64_t)value * f->builder->request->gpu->multiprocessors;
    default:
        return value;
    }
}

/* Whether another candidate of the group has the same kernel and as many blocks: numbers in halves
   of a thread's items, or in tiles, say nothing but how many these are. */
static bool is_alike(const filling *f, const pattern_schedule *complete, int64_t blocks) {
    pattern_schedule rest = *complete;
    text line = text_new(f->builder->job);
    bool counts = false;
    for (const space_line *l = f->group->lines; l->values[0] != 0; l++)
        if (l->unit == BY_HALF || l->unit == BY_TILE) {
            rest.number[l->number] = 0;
            counts = true;
        }
    if (!counts)
        return false;
    text_add(&line, "\n");
    pattern_schedule_print(f->words, &rest, &line);
    text_printf(&line, " %lld\n", (long long)blocks);
    const bool found = strstr(f->launches->data, line.data) != NULL;
    if (!found)
        text_add(f->launches, line.data);
    return found;
}

static void try_schedule(const filling *f, const pattern_schedule *s) {
    space_builder *b = f->builder;
    text line = text_new(b->job);
    pattern_schedule_print(f->words, s, &line);
    family_row row = {.plan = NULL};
    pattern_try(b->job, b->subject, b->request, line.data, &row);
    if (row.plan == NULL) {
        space_refuse(b, f->which, row.refusal);
        return;
    }
    pattern_schedule complete = {0};
    pattern_schedule_parse(b->job, f->words, row.plan, "plan", &complete);
    if (is_alike(f, &complete, row.blocks)) {
        space_refuse(b, f->which, "it comes to the same launch as another");
        return;
    }
    space_candidate c = {
        .plan = row.plan, .threads = row.threads, .shared_bytes = row.shared_bytes};
    if (f->formats)
        c.values[0] = complete.format;
    c.values[f->formats] = complete.algorithm;
    for (int i = 0; i < f->words->number_count; i++)
        c.values[f->formats + 1 + i] = complete.number[i];
    space_add(b, f->which, &c);
}

/* ---- constraints --------------------------------------------------------------------------- */

static pattern_schedule wanted_of(const space_builder *b, const char *line) {
    const pattern *p = b->subject->model;
    pattern_schedule s = p->wanted;
    pattern_schedule_parse(b->job, p->words, b->request->schedule, "schedule", &s);
    pattern_schedule_parse(b->job, p->words, line, "tune", &s);
    return s;
}

static bool agree(int given, int value) {
    return given == 0 || value == 0 || given == value;
}

/* ---- what groups do not have ---------------------------------------------------------------- */

static bool has_line(const space_group *g, int number) {
    for (const space_line *l = g->lines; l->values[0] != 0; l++)
        if (l->number == number)
            return true;
    return false;
}

/* Whether the family takes one of a key's values with the group. */
static bool takes_key(const filling *f, const tuning_key *key) {
    const space_builder *b = f->builder;
    for (int v = 0; v < key->count; v++) {
        family_row row = {.plan = NULL};
        pattern_schedule s = wanted_of(b, NULL);
        s.format = f->group->format != 0 ? f->group->format : s.format;
        s.algorithm = f->group->algorithm != 0 ? f->group->algorithm : s.algorithm;
        pattern_schedule_parse(b->job, f->words, key->values[v], "tune", &s);
        text line = text_new(b->job);
        pattern_schedule_print(f->words, &s, &line);
        pattern_try(b->job, b->subject, b->request, line.data, &row);
        if (row.plan != NULL)
            return true;
    }
    return false;
}

/* The keys of `tune`, by bits, that the group does not have. */
static unsigned keys_lacking(const filling *f) {
    const space_builder *b = f->builder;
    unsigned lacking = 0;
    for (int k = 0; k < b->tuning->key_count; k++) {
        const tuning_key *key = &b->tuning->keys[k];
        const int number = find_number(f->words, key->name);
        const bool algorithm = strcmp(key->name, "algorithm") == 0;
        const bool open =
            number >= 0 ? has_line(f->group, number) : f->group->algorithm != 0 || !algorithm;
        if (!open && !takes_key(f, key))
            lacking |= 1u << k;
    }
    return lacking;
}

/* Of each group. Where formats alone are listed, a key of one of a format's algorithms chooses that
   one; who asks for one format or algorithm alone is told what it lacks. */
static unsigned *find_lacking(filling *f, const space_table *table) {
    const space_builder *b = f->builder;
    unsigned *lacking = job_array(b->job, (size_t)table->count, sizeof *lacking);
    const bool algorithms = space_has_several(b, "algorithm");
    if (!algorithms && !space_has_several(b, "format"))
        return lacking;
    for (int g = 0; g < table->count; g++) {
        f->group = &table->groups[g];
        lacking[g] = keys_lacking(f);
    }
    for (int g = 0; g < table->count && !algorithms; g++)
        for (int other = 0; other < table->count; other++)
            if (table->groups[other].format == table->groups[g].format)
                lacking[g] &= lacking[other];
    return lacking;
}

static const char *name_of(const filling *f) {
    const pattern_words *w = f->words;
    const int format = f->group->format, algorithm = f->group->algorithm;
    if (format == 0 || algorithm == 0)
        return format != 0 ? w->formats[format].name : w->algorithms[algorithm].name;
    return job_print(f->builder->job, "%s %s", w->formats[format].name,
                     w->algorithms[algorithm].name);
}

/* ---- the combinations of a group ------------------------------------------------------------ */

/* Every value of every line of the group whose number is open: an odometer, the last line fastest.
 */
static void try_group(const filling *f, const pattern_schedule *wanted) {
    const space_line *open[SPACE_LINES];
    int count = 0, at[SPACE_LINES] = {0};
    for (const space_line *l = f->group->lines; l->values[0] != 0; l++)
        if (wanted->number[l->number] == 0)
            open[count++] = l;
    for (int turned = 0; turned >= 0;) {
        pattern_schedule s = *wanted;
        const char *fault = NULL;
        if (f->group->format != 0)
            s.format = f->group->format;
        if (f->group->algorithm != 0)
            s.algorithm = f->group->algorithm;
        for (int i = 0; i < count && fault == NULL; i++) {
            const pattern_number *n = &f->words->numbers[open[i]->number];
            const int64_t value = in_units(f, &s, open[i]->unit, open[i]->values[at[i]]);
            if (value != 0)
                fault = value > n->most ? "too large"
                                        : pattern_number_fault(n, (int)value, f->builder->job);
            s.number[open[i]->number] = (int)value;
        }
        if (fault == NULL)
            try_schedule(f, &s);
        for (turned = count - 1; turned >= 0 && open[turned]->values[++at[turned]] == 0; turned--)
            at[turned] = 0;
    }
}

/* ---- the family ---------------------------------------------------------------------------- */

bool space_agrees_lists(const space_builder *b, const char *value) {
    const pattern *p = b->subject->model;
    const pattern_schedule given = wanted_of(b, NULL);
    pattern_schedule tried = {0};
    pattern_schedule_parse(b->job, p->words, value, "tune", &tried);
    bool all = agree(given.format, tried.format) && agree(given.algorithm, tried.algorithm);
    for (int i = 0; i < p->words->number_count; i++)
        all = all && agree(given.number[i], tried.number[i]);
    return all;
}

static const char **names_of(job *j, const word_row *words, int count) {
    const char **names = job_array(j, (size_t)count, sizeof *names);
    for (int i = 0; i < count; i++)
        names[i] = words[i].name;
    return names;
}

static void name_axes(job *j, space *s, const pattern_words *w) {
    if (w->format_count > 0)
        space_axis_add(s, "format", names_of(j, w->formats, w->format_count), w->format_count);
    space_axis_add(s, "algorithm", names_of(j, w->algorithms, w->algorithm_count),
                   w->algorithm_count);
    for (int i = 0; i < w->number_count; i++)
        space_axis_add(s, w->numbers[i].name, NULL, 0);
}

void space_fill_lists(space_builder *b) {
    const space_table *table = b->subject->family->lists.space;
    const pattern_words *w = ((const pattern *)b->subject->model)->words;
    filling f = {.builder = b,
                 .words = w,
                 .threads = find_number(w, "threads"),
                 .items = find_number(w, "items"),
                 .formats = w->format_count > 0};
    name_axes(b->job, b->space, w);
    family_row usual = {.plan = NULL};
    text launches = text_new(b->job);
    f.launches = &launches;
    pattern_try(b->job, b->subject, b->request, b->request->schedule, &usual);
    const unsigned *lacking = find_lacking(&f, table);
    for (f.which = 0; f.which < b->combinations; f.which++)
        for (int g = 0; g < table->count; g++) {
            f.group = &table->groups[g];
            b->lacking = lacking[g];
            b->trying = name_of(&f);
            const pattern_schedule wanted = wanted_of(b, space_combination(b, f.which, b->lacking));
            if (space_is_first(b, f.which, b->lacking) && agree(wanted.format, f.group->format) &&
                agree(wanted.algorithm, f.group->algorithm))
                try_group(&f, &wanted);
        }
    if (usual.plan == NULL)
        job_fail(b->job, FAULT_PLAN, b->subject->file, b->subject->line, "%s", usual.refusal);
    b->space->usual = usual.plan;
}
