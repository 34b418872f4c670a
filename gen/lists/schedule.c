/* Schedules of patterns as lines of text, and what each algorithm would do with a spec.
   Takes: a family's words; a subject and a request. Makes: lines, schedules from lines, and a row
   for each algorithm. */
#include "gen/lists/pattern.h"

#include <string.h>

const char *pattern_number_fault(const pattern_number *n, int value, job *j) {
    if (value < n->least || value > n->most)
        return job_print(j, "%s takes whole numbers from %d to %d, not %d", n->name, n->least,
                         n->most, value);
    if (n->multiple == 0 && (value & (value - 1)) != 0)
        return job_print(j, "%s must be a power of two, not %d", n->name, value);
    if (n->multiple > 1 && value % n->multiple != 0)
        return job_print(j, "%s must be a multiple of %d, not %d", n->name, n->multiple, value);
    return NULL;
}

void pattern_schedule_print(const pattern_words *w, const pattern_schedule *s, text *out) {
    const size_t begin = out->length;
    if (s->format != 0)
        text_add(out, w->formats[s->format].name);
    if (s->algorithm != 0)
        text_printf(out, "%s%s", out->length > begin ? " " : "", w->algorithms[s->algorithm].name);
    if (out->length == begin)
        text_add(out, "auto");
    for (int i = 0; i < w->number_count; i++)
        if (s->number[i] != 0)
            text_printf(out, " %s=%d", w->numbers[i].name, s->number[i]);
}

/* ---- parsing ------------------------------------------------------------------------------- */

typedef struct parser {
    job *job;
    const char *where;
    const pattern_words *words;
    pattern_schedule *out;
    bool format, algorithm, number[PATTERN_NUMBERS]; /* given */
} parser;

static int find(const word_row *words, int count, const char *word) {
    for (int i = 0; i < count; i++)
        if (strcmp(words[i].name, word) == 0)
            return i;
    return -1;
}

static noreturn void fail_unknown(const parser *p, const char *word) {
    const pattern_words *w = p->words;
    const char *known[128];
    size_t count = 0;
    text list = text_new(p->job);
    for (int i = 0; i < w->format_count; i++)
        known[count++] = w->formats[i].name;
    for (int i = w->format_count > 0; i < w->algorithm_count; i++)
        known[count++] = w->algorithms[i].name;
    for (int i = 0; i < w->number_count; i++)
        known[count++] = w->numbers[i].name;
    for (size_t i = 0; i < count; i++)
        text_printf(&list, "%s%s%s", i > 0 ? ", " : "", known[i],
                    i + (size_t)w->number_count >= count ? "=…" : "");
    const char *nearest = text_nearest(word, known, count);
    if (nearest != NULL)
        job_fail(p->job, FAULT_USAGE, NULL, 0,
                 "%s: unknown word '%s' in a schedule; did you mean '%s'?", p->where, word,
                 nearest);
    job_fail(p->job, FAULT_USAGE, NULL, 0,
             "%s: unknown word '%s' in a schedule; this family takes %s", p->where, word,
             list.data);
}

static void once(const parser *p, bool *given, const char *what) {
    if (*given)
        job_fail(p->job, FAULT_USAGE, NULL, 0, "%s: a schedule gives its %s once", p->where, what);
    *given = true;
}

static void parse_number(parser *p, int which, const char *digits) {
    enum { LARGEST = 1 << 30 };
    const pattern_number *n = &p->words->numbers[which];
    const int value = text_whole(digits, strlen(digits), LARGEST);
    if (value < 0)
        job_fail(p->job, FAULT_USAGE, NULL, 0, "%s: %s takes whole numbers from %d to %d, not '%s'",
                 p->where, n->name, n->least, n->most, digits);
    const char *fault = pattern_number_fault(n, value, p->job);
    if (fault != NULL)
        job_fail(p->job, FAULT_USAGE, NULL, 0, "%s: %s", p->where, fault);
    once(p, &p->number[which], n->name);
    p->out->number[which] = value;
}

/* `method=` stands for the algorithm, as in schedules of stencils. */
static void parse_word(parser *p, const char *word) {
    static const char method[] = "method=";
    const pattern_words *w = p->words;
    if (strncmp(word, method, sizeof method - 1) == 0)
        word += sizeof method - 1;
    const char *equals = strchr(word, '=');
    for (int i = 0; i < w->number_count && equals != NULL; i++)
        if (strlen(w->numbers[i].name) == (size_t)(equals - word) &&
            memcmp(w->numbers[i].name, word, (size_t)(equals - word)) == 0) {
            parse_number(p, i, equals + 1);
            return;
        }
    const int algorithm = find(w->algorithms, w->algorithm_count, word);
    const int format = find(w->formats, w->format_count, word);
    if (algorithm < 0 && format < 0)
        fail_unknown(p, word);
    if (format > 0) {
        once(p, &p->format, "format");
        p->out->format = format;
    } else {
        once(p, &p->algorithm, "algorithm");
        p->out->algorithm = algorithm > 0 ? algorithm : 0;
    }
}

void pattern_schedule_parse(job *j, const pattern_words *w, const char *line, const char *where,
                            pattern_schedule *out) {
    parser p = {.job = j, .where = where, .words = w, .out = out};
    for (const char *word; (word = text_next_word(j, &line)) != NULL;)
        parse_word(&p, word);
}

/* ---- algorithms ------------------------------------------------------------------------------ */

typedef struct attempt {
    const subject *subject;
    family_request request;
    const family_build *made;
} attempt;

static void build(job *j, void *argument) {
    attempt *a = argument;
    a->made = a->subject->family->build(j, a->subject, &a->request);
}

void pattern_try(job *j, const subject *s, const family_request *r, const char *line,
                 family_row *row) {
    attempt a = {.subject = s, .request = *r};
    fault f;
    a.request.schedule = line;
    a.request.untold = true;
    row->bound = "";
    job *own = job_inner(j, build, &a, &f);
    if (f != FAULT_NONE && f != FAULT_PLAN)
        job_fail(j, f, NULL, 0, "%s", job_error_text(own));
    if (f == FAULT_PLAN) {
        row->refusal = job_string(j, job_error_text(own));
    } else {
        const program *p = a.made->program;
        const program_launch *l = &p->launches[program_main_launch(p)];
        row->plan = job_string(j, a.made->plan);
        row->shared_bytes = l->shared_bytes;
        row->blocks = program_blocks(l, 0, a.request.size);
        row->threads = l->block[0] * l->block[1] * l->block[2];
    }
    job_inner_end(j, own);
}

void pattern_print_wanted(job *j, const subject *s, const char *line, text *out) {
    const pattern_schedule wanted = pattern_wanted(j, s, line);
    pattern_schedule_print(s->family->lists.words, &wanted, out);
}

void pattern_check_schedule(job *j, const family *f, const char *line) {
    pattern_schedule s = {0};
    pattern_schedule_parse(j, f->lists.words, line, "the plan", &s);
}

const char *pattern_plan(job *j, const subject *s, const family_request *r) {
    family_request plain = *r;
    plain.untold = true;
    return s->family->build(j, s, &plain)->plan;
}

const family_build *pattern_explain_build(job *j, const subject *s, const family_request *r,
                                          family_explanation *out) {
    const family_build *made = s->family->build(j, s, r);
    *out = (family_explanation){.shape = made->shape,
                                .boundary = made->boundary,
                                .reason = made->reason,
                                .points = made->points,
                                .textbook_operations = made->textbook_operations,
                                .emitted_operations = made->emitted_operations};
    return made;
}

void pattern_explain(job *j, const subject *s, const family_request *r, family_explanation *out) {
    const pattern *p = s->model;
    const pattern_words *w = p->words;
    const family_build *chosen = pattern_explain_build(j, s, r, out);
    pattern_schedule plan = {0};
    pattern_schedule_parse(j, w, chosen->plan, "plan", &plan);
    out->rows = job_array(j, (size_t)w->algorithm_count, sizeof *out->rows);
    for (int i = 1; i < w->algorithm_count; i++) {
        family_row *row = &out->rows[out->row_count++];
        row->name = w->algorithms[i].name;
        row->note = w->notes[i];
        row->chosen = plan.algorithm == i;
        pattern_try(j, s, r, row->name, row);
    }
}
