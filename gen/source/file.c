/* Laying templates into one file. Takes: templates by name. Makes: the file. */
#include "gen/source/file.h"

#include "gen/source/trim.h"

#include <assert.h>
#include <string.h>

/* The template's place in the table, or NULL. */
static const source_template *find(const char *file) {
    for (const source_template *t = source_templates; t->file != NULL; t++)
        if (strcmp(t->file, file) == 0)
            return t;
    return NULL;
}

/* One template being laid. */
typedef struct laying {
    source_file *file;
    source_kernel *kernel;
    bool *laid; /* for this kernel alone */
    const char *plan_header;
    bool planned; /* plan.h has come */
} laying;

/* The file of `#include "NAME"` in `by`: in the same folder, or in templates/. */
static const source_template *included(job *j, const char *by, const char *name) {
    const char *slash = strrchr(by, '/');
    const source_template *near =
        slash == NULL ? NULL : find(job_print(j, "%.*s%s", (int)(slash + 1 - by), by, name));
    return near != NULL ? near : find(name);
}

/* The NAME of a line `#include "NAME"`; NULL of any other. */
static const char *included_name(job *j, const char *line) {
    static const char include[] = "#include \"";
    if (strncmp(line, include, sizeof include - 1) != 0)
        return NULL;
    const char *name = line + sizeof include - 1;
    return job_print(j, "%.*s", (int)strcspn(name, "\""), name);
}

static bool ends_blank(const text *t) {
    return t->length == 0 || (t->length >= 2 && memcmp(t->data + t->length - 2, "\n\n", 2) == 0);
}

/* Text after it stands by itself. */
static void leave_line(text *t) {
    if (!ends_blank(t))
        text_add(t, "\n");
}

/* What a template says of itself heads no other: pruning takes this line out. */
static const char end_of_template[] = PRUNE_END "\n";

static void lay(laying *, text *to, const char *by, const char *from);

/* What stands before the plan is the same for every plan. */
static void lay_include(laying *l, const text *to, const char *by, const char *name) {
    source_file *f = l->file;
    if (strcmp(name, "plan.h") == 0) {
        l->planned = true;
        lay(l, &l->kernel->plan, "", l->plan_header);
        return;
    }
    const source_template *what = included(f->job, by, name);
    assert(what != NULL);
    const size_t number = (size_t)(what - source_templates);
    if (f->laid[number] || l->laid[number])
        return;
    const bool of_arch = strncmp(what->file, "arch/", strlen("arch/")) == 0;
    f->arch_first |= of_arch && to == &l->kernel->plan;
    const bool shared = of_arch || !l->planned || to != &l->kernel->rest;
    (shared ? f->laid : l->laid)[number] = true;
    lay(l, of_arch ? &f->arch : shared ? &f->before : &l->kernel->rest, what->file, what->text);
}

static size_t line_length(const char *from) {
    const size_t line = strcspn(from, "\n");
    return line + (from[line] == '\n');
}

/* Copies lines, what a template says of itself behind what it includes. Templates include each
   other a few deep, and each is laid once. */
static void lay(laying *l, text *to, const char *by, const char *from) {
    static const char once[] = "#pragma once\n";
    const char *about = from;
    while (strncmp(from, "//", 2) == 0)
        from += line_length(from);
    const size_t about_length = (size_t)(from - about);
    text own = text_new(l->file->job);
    for (; *from != '\0'; from += line_length(from)) {
        const char *name = included_name(l->file->job, from);
        if (name != NULL)
            lay_include(l, to, by, name);
        else if (strncmp(from, once, sizeof once - 1) != 0)
            text_add_bytes(&own, from, line_length(from));
    }
    leave_line(to);
    text_add_bytes(to, about, about_length);
    text_add(to, own.data);
    text_add(to, own.length > 0 ? end_of_template : "");
}

source_file source_begin(job *j) {
    size_t count = 0;
    while (source_templates[count].file != NULL)
        count++;
    return (source_file){.job = j,
                         .laid = job_array(j, count, sizeof(bool)),
                         .count = count,
                         .before = text_new(j),
                         .arch = text_new(j)};
}

void source_lay(source_file *f, const char *file, const char *plan_header, const char *space,
                const char *entry) {
    assert(f->kernel_count < SOURCE_KERNELS);
    source_kernel *k = &f->kernels[f->kernel_count++];
    *k = (source_kernel){text_new(f->job), text_new(f->job), space, entry};
    laying l = {f, k, job_array(f->job, f->count, sizeof(bool)), plan_header, false};
    lay(&l, &k->rest, file, find(file)->text);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static const char arch_begins[] = "#pragma stencilgen arch\n", arch_ends[] = "#pragma stencilgen\n";

/* Cuts the line out of the text; where it stood. */
static size_t cut_line(text *t, const char *line) {
    char *at = strstr(t->data, line);
    const size_t length = strlen(line);
    assert(at != NULL);
    while (at[length] == '\n' && at - t->data >= 2 && at[-1] == '\n' && at[-2] == '\n') {
        memmove(at + length, at + length + 1, t->length - (size_t)(at - t->data) - length);
        t->length--;
    }
    memmove(at, at + length, t->length - (size_t)(at - t->data) - length + 1);
    t->length -= length;
    return (size_t)(at - t->data);
}

static constants copied(const constants *c) {
    constants copy = *c;
    copy.list = job_array(c->job, (size_t)c->capacity, sizeof *copy.list);
    if (c->count > 0)
        memcpy(copy.list, c->list, (size_t)c->count * sizeof *copy.list);
    return copy;
}

static void add_kernel(text *whole, const source_kernel *k, const constants *shared) {
    constants own = copied(shared);
    text_printf(whole, "\nnamespace %s {\n", k->space);
    text_add(whole, fold(&own, k->plan.data));
    text_add(whole, fold(&own, k->rest.data));
    text_printf(whole, "} // namespace %s\nusing %s::%s;\n", k->space, k->space, k->entry);
}

/* What constants it defines differs on another device. */
static void add_arch(text *whole, const constants *known, const char *arch) {
    constants own = copied(known);
    text_printf(whole, "\n%s", arch_begins);
    text_add(whole, fold(&own, arch));
    text_add(whole, arch_ends);
}

void source_end(source_file *f, const char *head, const char *shared, program *out) {
    constants known = fold_constants(f->job, out->target);
    const source_kernel *only =
        f->kernel_count == 1 && f->kernels[0].space == NULL ? &f->kernels[0] : NULL;
    text whole = text_new(f->job), file = text_new(f->job);
    text_add(&whole, fold(&known, f->before.data));
    for (int i = 0; i < 2; i++)
        if ((i == 0) == f->arch_first)
            add_arch(&whole, &known, f->arch.data);
        else
            text_add(&whole, fold(&known, only != NULL ? only->plan.data : shared));
    if (only != NULL)
        text_add(&whole, fold(&known, only->rest.data));
    for (int i = 0; i < f->kernel_count && only == NULL; i++)
        add_kernel(&whole, &f->kernels[i], &known);
    text_add(&file, head);
    text_add(&file, lay_out(f->job, prune(f->job, whole.data)));
    out->arch_begin = cut_line(&file, arch_begins);
    out->arch_end = cut_line(&file, arch_ends);
    out->source = file.data;
}

void source_comment(text *t, const char *label, const char *lines) {
    while (*lines != '\0') {
        const size_t length = strcspn(lines, "\n");
        text_printf(t, "// %-8s%.*s\n", label, (int)length, lines);
        label = "";
        lines += length + (lines[length] == '\n');
    }
}
