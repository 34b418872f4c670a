/* Laying templates into one file. Takes: templates by name. Makes: text. */
#include "gen/source_text.h"

#include <assert.h>
#include <string.h>

/* The template's place in the table, or NULL. */
static const source_template *find(const char *file) {
    for (const source_template *t = source_templates; t->file != NULL; t++)
        if (strcmp(t->file, file) == 0)
            return t;
    return NULL;
}

/* One template being laid: its folder, and what stands in the place of plan.h. */
typedef struct laying {
    text *out;
    bool *laid;
    const char *root, *plan_header;
} laying;

/* The file of `#include "NAME"`: beside the template, or in templates/. */
static const source_template *included(const laying *l, const char *name) {
    const char *slash = strrchr(l->root, '/');
    const source_template *beside =
        slash == NULL
            ? NULL
            : find(job_print(l->out->job, "%.*s%s", (int)(slash + 1 - l->root), l->root, name));
    return beside != NULL ? beside : find(name);
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
    return t->length >= 2 && memcmp(t->data + t->length - 2, "\n\n", 2) == 0;
}

/* Text after it stands by itself. */
static void leave_line(text *t) {
    if (!ends_blank(t))
        text_add(t, "\n");
}

static void lay(laying *, const char *from);

static void lay_include(laying *l, const char *name) {
    if (strcmp(name, "plan.h") == 0) {
        leave_line(l->out);
        lay(l, l->plan_header);
        return;
    }
    const source_template *what = included(l, name);
    assert(what != NULL);
    if (l->laid[what - source_templates])
        return;
    l->laid[what - source_templates] = true;
    leave_line(l->out);
    lay(l, what->text);
}

/* Copies lines, of blank ones one at a time. Templates include each other a few deep, and each is
   laid once. */
static void lay(laying *l, const char *from) {
    static const char once[] = "#pragma once\n";
    while (*from != '\0') {
        const size_t line = strcspn(from, "\n");
        const size_t length = line + (from[line] == '\n');
        const char *name = included_name(l->out->job, from);
        if (name != NULL)
            lay_include(l, name);
        else if (strncmp(from, once, sizeof once - 1) != 0 && !(length == 1 && ends_blank(l->out)))
            text_add_bytes(l->out, from, length);
        from += length;
    }
}

source_file source_lay(text *t, const char *file, const char *plan_header) {
    size_t count = 0;
    while (source_templates[count].file != NULL)
        count++;
    const source_file f = {t, job_array(t->job, count, sizeof(bool)), count};
    laying l = {t, f.laid, file, plan_header};
    lay(&l, find(file)->text);
    return f;
}

void source_lay_more(const source_file *f, const char *file, const char *plan_header) {
    laying l = {f->out, job_array(f->out->job, f->count, sizeof(bool)), file, plan_header};
    memcpy(l.laid, f->laid, f->count * sizeof *f->laid);
    lay(&l, find(file)->text);
}

void source_lay_before_plan(source_file *f, const char *file) {
    laying l = {f->out, f->laid, file, NULL};
    for (const char *from = find(file)->text;; from = strchr(from, '\n') + 1) {
        const char *name = included_name(f->out->job, from);
        if (name != NULL && strcmp(name, "plan.h") == 0)
            return;
        if (name != NULL)
            lay_include(&l, name);
    }
}

void source_comment(text *t, const char *label, const char *lines) {
    while (*lines != '\0') {
        const size_t length = strcspn(lines, "\n");
        text_printf(t, "// %-8s%.*s\n", label, (int)length, lines);
        label = "";
        lines += length + (lines[length] == '\n');
    }
}
