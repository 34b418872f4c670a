/* Specs: the bytes are a spec file, which is loaded, planned for and written as a source. Whatever
   they are, the outcome is a model or an error that says where; what loads has a canonical text, a
   plan or a refusal, the plan's line gives the same source again, and the reference has values. */
#define _GNU_SOURCE /* memfd_create */
#include "tests/fuzz/fuzz.h"

#include "base/job.h"
#include "gen/families.h"
#include "gen/model/system.h"
#include "gen/reference/reference.h"
#include "gen/spec/spec.h"
#include "gen/stencil/plan.h"
#include "gen/stencil/source.h"
#include "tests/fuzz/lists.h"

#include <string.h>

enum {
    MOST_MODELS = 4,           /* of one file, to be planned for */
    MOST_OPERATIONS = 1 << 12, /* of a point: longer expressions only take longer */
};

typedef struct input {
    const char *path, *text; /* as for spec_load */
    const spec_constants *constants;
    spec *loaded;
    const model *model;
    const schedule *wanted;
    plan *plan;
    const char *line, *source;
} input;

static void load(job *j, void *argument) {
    input *in = argument;
    in->loaded = spec_load(j, in->path, in->text, in->constants);
}

static const char *line_of(job *j, const plan *p, const model *m) {
    text t = text_new(j);
    schedule_print(&p->schedule, m->dims, &t);
    return t.data;
}

static void make_plan(job *j, void *argument) {
    input *in = argument;
    int64_t size[AXES];
    model_default_size(in->model->dims, true, size);
    in->plan = plan_make(j, in->model, in->wanted, gpu_find("sm_90"), size, 1);
}

static void write_source(job *j, void *argument) {
    input *in = argument;
    make_plan(j, in);
    in->line = line_of(j, in->plan, in->model);
    in->source = source_make(j, in->model, in->plan)->source;
}

/* The same from the plan's own line, which leaves nothing to choose. */
static void write_again(job *j, void *argument) {
    input *in = argument;
    schedule parsed = {0};
    schedule_parse(j, in->line, "line", &parsed);
    in->wanted = &parsed;
    write_source(j, in);
}

static bool is_one_line(const char *text) {
    for (; *text != '\0'; text++)
        if ((unsigned char)*text < ' ' || *text == 127)
            return false;
    return true;
}

static bool begins(const char *text, const char *with) {
    return strncmp(text, with, strlen(with)) == 0;
}

static void check_error(const job *j, const input *in, fault failed) {
    const char *text = job_error_text(j);
    DEMAND(failed == FAULT_SPEC);
    DEMAND(text[0] != '\0' && is_one_line(text));
    DEMAND(strcmp(job_error_file(j), in->path) == 0);
    /* Two errors are about the file as a whole. */
    DEMAND(job_error_line(j) >= 1 || strstr(text, "compiled Lua") != NULL ||
           strstr(text, "larger than") != NULL);
}

static void check_model(const model *m) {
    input first = {.model = m, .wanted = &m->schedule};
    job *j, *again;
    const fault failed = job_run(&allocator_libc, write_source, &first, &j);
    DEMAND(failed == FAULT_NONE || failed == FAULT_PLAN);
    if (failed == FAULT_NONE) {
        input second = {.model = m, .line = first.line};
        DEMAND(job_run(&allocator_libc, write_again, &second, &again) == FAULT_NONE);
        DEMAND(strcmp(first.line, second.line) == 0);
        DEMAND(strcmp(first.source, second.source) == 0);
        DEMAND(strstr(first.source, "(null)") == NULL);
        job_end(again);
    } else {
        const char *why = job_error_text(j);
        DEMAND(begins(why, "method ") || begins(why, "no method serves: method "));
        DEMAND(is_one_line(why) && strstr(why, "(null)") == NULL);
    }
    job_end(j);
}

static void print_model(job *j, void *argument) {
    input *in = argument;
    text shape = text_new(j), boundary = text_new(j), all = text_new(j);
    model_describe(in->model, &shape);
    model_describe_boundary(in->model, &boundary);
    model_print(in->model, MODEL_ALL, &all);
    DEMAND(is_one_line(shape.data) && is_one_line(boundary.data) && all.length > 0);
}

/* The reference's values on a grid smaller than most shapes, in memory that ends with the cells. */
static void evaluate(job *j, void *argument) {
    const model *m = ((input *)argument)->model;
    const int64_t size[AXES] = {3, m->dims > 1 ? 2 : 1, m->dims > 2 ? 2 : 1};
    const int64_t cells = size[0] * size[1] * size[2];
    const size_t bytes = dtype_words[m->dtype].bytes, values = 3 * (size_t)m->output_count;
    char *data = malloc((size_t)cells * bytes);
    DEMAND(data != NULL);
    for (int64_t i = 0; i < cells; i++) {
        const double value = (double)(i % 5) / 4 - 0.5;
        const float rounded = (float)value;
        memcpy(data + (size_t)i * bytes, bytes == 4 ? (const void *)&rounded : &value, bytes);
    }
    reference_array arrays[2 * MAX_FIELDS];
    for (int i = 0; i < m->array_count; i++)
        arrays[i] = (reference_array){data, {1, size[0], size[0] * size[1]}, NULL};
    double parameters[MAX_PARAMETERS];
    for (int i = 0; i < m->parameter_count; i++)
        parameters[i] = 0.75;
    const reference *r = reference_new(j, m, parameters);
    void *scratch = calloc(1, reference_scratch(r, 3));
    double *value = malloc(values * sizeof *value), *bound = malloc(values * sizeof *bound);
    bool kept[3];
    for (int64_t row = 0; row < cells / size[0]; row++) {
        reference_row(r, arrays, size, NULL, 0, row % size[1], row / size[1], 3, scratch, value,
                      bound, kept);
        for (size_t i = 0; i < values; i++)
            DEMAND(bound[i] >= 0 && (!kept[i % 3] || bound[i] == 0));
    }
    free(bound);
    free(value);
    free(scratch);
    free(data);
}

/* Each stage of a system has values. */
static void check_stages(const subject *s) {
    const system_model *system = s->family->grid.system(s);
    DEMAND(system->stage_count >= 1);
    for (int k = 0; k < system->stage_count; k++) {
        input in = {.model = system->stages[k].model};
        job *j;
        DEMAND(job_run(&allocator_libc, evaluate, &in, &j) == FAULT_NONE);
        job_end(j);
    }
}

static bool is_system(const subject *s) {
    return s->family->kind == PROGRAM_GRID && s->family->grid.system != NULL;
}

/* Of a system, all stages together. */
static double count_operations(const subject *s) {
    double count = s->expressions->textbook_multiplications + s->expressions->textbook_additions;
    for (int k = 0; is_system(s) && k < s->family->grid.system(s)->stage_count; k++) {
        const model *m = s->family->grid.system(s)->stages[k].model;
        count += m->textbook_multiplications + m->textbook_additions;
    }
    return count;
}

static void check_models(const spec *s) {
    DEMAND(s->count >= 1);
    for (int i = 0; i < s->count && i < MOST_MODELS; i++) {
        const model *m = s->subjects[i]->expressions;
        input in = {.model = m};
        job *j;
        if (count_operations(s->subjects[i]) > MOST_OPERATIONS)
            continue;
        if (is_system(s->subjects[i]))
            check_stages(s->subjects[i]);
        if (s->subjects[i]->family != &families[FAMILY_STENCIL]) {
            check_list(s->subjects[i]);
            continue;
        }
        DEMAND(job_run(&allocator_libc, print_model, &in, &j) == FAULT_NONE);
        job_end(j);
        check_model(m);
        DEMAND(job_run(&allocator_libc, evaluate, &in, &j) == FAULT_NONE);
        job_end(j);
    }
}

/* The last spec once more, with a number for its first parameter, which is then gone. */
static void check_constant(const input *before) {
    const int index = before->loaded->count - 1;
    const model *m = before->loaded->subjects[index]->expressions;
    if (m->parameter_count == 0)
        return;
    const spec_assignment half = {m->parameters[0].name, 0.5};
    const spec_constants constants = {&half, 1, index, NULL};
    input in = {.path = before->path, .text = before->text, .constants = &constants};
    job *j;
    const fault failed = job_run(&allocator_libc, load, &in, &j);
    if (failed == FAULT_NONE) {
        const model *made = in.loaded->subjects[index]->expressions;
        DEMAND(in.loaded->count == index + 1 && strcmp(made->name, m->name) == 0);
        DEMAND(made->parameter_count < m->parameter_count);
        for (int i = 0; i < made->parameter_count; i++)
            DEMAND(strcmp(made->parameters[i].name, half.name) != 0);
    } else {
        DEMAND(failed == FAULT_USAGE || failed == FAULT_SPEC);
    }
    job_end(j);
}

/* Bytes that hold a 0 can only come from a file. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    char path[64] = "fuzz.lua", *text = NULL;
    if (count > 0 && memchr(bytes, 0, count) != NULL) {
        snprintf(path, sizeof path, "/proc/self/fd/%d", file_of(bytes, count));
    } else {
        text = malloc(count + 1);
        DEMAND(text != NULL);
        if (count > 0)
            memcpy(text, bytes, count);
        text[count] = '\0';
    }
    input in = {.path = path, .text = text};
    job *j;
    const fault failed = job_run(&allocator_libc, load, &in, &j);
    if (failed != FAULT_NONE) {
        check_error(j, &in, failed);
    } else {
        check_models(in.loaded);
        check_constant(&in);
    }
    job_end(j);
    free(text);
    return 0;
}
