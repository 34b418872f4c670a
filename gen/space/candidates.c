/* Candidates. Takes: the constraints of the spec, of `tune` and of the caller. Makes: of families
   of lists every combination of the values of the family's table that the family's planner accepts;
   of stencils and convolutions what the planner compares, with its estimates. */
#include "gen/space/space.h"
#include "gen/stencil/method.h"

#include <assert.h>
#include <string.h>

/* A block's extent of 1 is the same as none. */
static bool agree(int given, int value) {
    return given == 0 || value == 0 || given == value;
}

static_assert(PATTERN_NUMBERS + 2 <= SPACE_AXES && PATTERN_NUMBERS + 2 <= TUNING_KEYS,
              "numbers, format and algorithm are axes and keys");

/* ---- one combination ----------------------------------------------------------------------- */

typedef struct filling {
    space_builder *builder;
    const pattern_words *words;
    const space_group *group;
    int which;          /* combination of `tune` */
    int threads, items; /* numbers of the words; −1: there is none */
    int formats;        /* 1 where the first axis is the format */
    text *launches;     /* what candidates of the group come to, one line each */
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
    const subject *of = f->builder->subject;
    if (value == SPACE_OWN)
        return 0;
    switch (u) {
    case BY_PACK:
        return (int64_t)value * 16 / (int64_t)dtype_words[of->dtype].bytes;
    case BY_STORED:
        return (int64_t)value * 16 / (int64_t)dtype_words[pattern_storage(of->model)].bytes;
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

/* Whether another candidate of the group has the same kernel and as many blocks. Numbers in halves
   of a thread's items, or in tiles, only say how many blocks there are. */
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
    pattern_schedule s = pattern_wanted(b->job, b->subject, b->request->schedule);
    pattern_schedule_parse(b->job, b->subject->family->lists.words, line, "tune", &s);
    return s;
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

/* The lacking keys of each group. Where only formats are listed, a key of one of a format's
   algorithms chooses that algorithm. If a single format or algorithm is asked for, what it lacks is
   an error. */
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

/* Whether the group's algorithm is for what is planned for, or asked for by itself or by a format
   that has no other. */
static bool suits(const filling *f, const pattern_schedule *wanted) {
    const pattern_schedule of = {.algorithm = f->group->algorithm};
    return wanted->algorithm != 0 || (wanted->format != 0 && of.algorithm == 0) ||
           pattern_is_serial(f->words, &of) == (f->builder->request->gpu->processor != NULL);
}

/* Every value of every line of the group whose number is open: an odometer whose last line turns
   fastest. */
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

static void name_axes(job *j, space *s, const pattern_words *w) {
    if (w->format_count > 0)
        space_axis_add(s, "format", word_names(j, w->formats, w->format_count), w->format_count);
    space_axis_add(s, "algorithm", word_names(j, w->algorithms, w->algorithm_count),
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
                agree(wanted.algorithm, f.group->algorithm) && suits(&f, &wanted))
                try_group(&f, &wanted);
        }
    if (usual.plan == NULL)
        job_fail(b->job, FAULT_PLAN, b->subject->file, b->subject->line, "%s", usual.refusal);
    b->space->usual = usual.plan;
}

/* ---- stencils ------------------------------------------------------------------------------ */

/* A schedule is so many numbers, of which the method is the first; its keys stand in their order.
 */
enum { NUMBERS = sizeof(schedule) / sizeof(int) };
static_assert((int)NUMBERS <= (int)SPACE_AXES, "each is an axis");

bool space_schedules_agree(const schedule *given, const schedule *tried) {
    int one[NUMBERS], other[NUMBERS];
    bool all = true;
    memcpy(one, given, sizeof one);
    memcpy(other, tried, sizeof other);
    for (int i = 0; i < NUMBERS; i++)
        all = all && agree(one[i], other[i]);
    return all;
}

bool space_agrees_stencil(const space_builder *b, const char *value) {
    schedule tried = {.method = 0};
    schedule_parse(b->job, value, "tune", &tried);
    return space_schedules_agree(stencil_wanted(b->job, b->subject, b->request->schedule), &tried);
}

static const char *print(const space_builder *b, const schedule *s) {
    const model *m = b->subject->model;
    text line = text_new(b->job);
    schedule_print(s, m->dims, &line);
    return line.data;
}

/* ---- what methods do not have --------------------------------------------------------------- */

static bool has_key(int m, int dims, const char *word) {
    const method *of = methods[m];
    for (int k = 0; k < SCHEDULE_KEYS; k++)
        if (strcmp(word, schedule_keys[k].word) == 0)
            return schedule_keys[k].who == SCHEDULE_COARSEN ? method_walk(of, dims) >= 0
                   : schedule_keys[k].who == 0              ? true
                                               : (of->keys & schedule_keys[k].who) != 0;
    return true;
}

/* The lacking keys of `tune`, by bits. If a single method is asked for, what it lacks is an
   error. */
static unsigned method_lacks(const space_builder *b, int m) {
    unsigned lacking = 0;
    if (space_has_several(b, "method"))
        for (int k = 0; k < b->tuning->key_count; k++)
            if (!has_key(m, stencil_dims(b->subject), b->tuning->keys[k].name))
                lacking |= 1u << k;
    return lacking;
}

/* ---- candidates ---------------------------------------------------------------------------- */

/* One of the constraints that the planner is shown. */
typedef struct constraint {
    int which; /* combination of `tune` */
    unsigned lacking;
} constraint;

typedef struct visiting {
    space_builder *builder;
    schedule *wanted;
    constraint *of; /* each of them */
    int count;
} visiting;

static space_builder *turn_to(const visiting *f, int which, int m) {
    f->builder->trying = methods[m]->name;
    f->builder->lacking = f->of[which].lacking;
    return f->builder;
}

static void add(void *user, int which, const plan *p, double seconds) {
    const visiting *f = user;
    space_builder *b = turn_to(f, which, p->schedule.method);
    space_candidate c = {.plan = print(b, &p->schedule),
                         .estimate = seconds,
                         .threads = plan_threads(p),
                         .shared_bytes = p->shared_bytes};
    memcpy(c.values, &p->schedule, sizeof p->schedule);
    space_add(b, f->of[which].which, &c);
}

static void refuse(void *user, int which, int m, const char *why) {
    const visiting *f = user;
    space_builder *b = turn_to(f, which, m);
    space_refuse(b, f->of[which].which, job_print(b->job, "method %s: %s", methods[m]->name, why));
}

/* The constraints of the spec and the caller, and those of each combination of `tune`. */
static void find_constraints(visiting *f, const schedule *given) {
    space_builder *b = f->builder;
    f->wanted = job_array(b->job, (size_t)b->combinations, sizeof *f->wanted);
    f->of = job_array(b->job, (size_t)b->combinations, sizeof *f->of);
    for (int i = 0; i < b->combinations; i++) {
        schedule all = *given;
        schedule_parse(b->job, space_combination(b, i, 0), "tune", &all);
        const unsigned lacking = method_lacks(b, all.method);
        if (!space_is_first(b, i, lacking))
            continue;
        f->wanted[f->count] = *given;
        schedule_parse(b->job, space_combination(b, i, lacking), "tune", &f->wanted[f->count]);
        f->of[f->count++] = (constraint){i, lacking};
    }
}

void space_fill_stencil(space_builder *b) {
    job *j = b->job;
    const family_request *r = b->request;
    const int64_t steps = r->steps > 1 ? r->steps : 1;
    const char **words = job_array(j, METHODS, sizeof *words);
    for (int m = 0; m < METHODS; m++)
        words[m] = methods[m]->name;
    for (const schedule_key *k = schedule_keys; k < schedule_keys + SCHEDULE_KEYS; k++)
        for (int axis = 0; axis < k->axes; axis++)
            space_axis_add(b->space,
                           k->axes > 1 ? job_print(j, "%s.%c", k->word, axis_names[axis]) : k->word,
                           k == schedule_keys ? words : NULL, k == schedule_keys ? METHODS : 0);
    const schedule *given = stencil_wanted(j, b->subject, r->schedule);
    visiting f = {.builder = b};
    find_constraints(&f, given);
    plan_visit(j, b->subject->model, f.wanted, f.count, r->gpu, r->size, steps,
               &(plan_visitor){.user = &f, .candidate = add, .refused = refuse});
    b->space->usual =
        print(b, &plan_make(j, b->subject->model, given, r->gpu, r->size, steps)->schedule);
}
