/* Laying templates into one file. Takes: templates by name. Makes: text. */
#include "gen/source_text.h"

#include <assert.h>
#include <string.h>

static const char *find(const char *file, size_t length) {
    for (const source_template *t = source_templates; t->file != NULL; t++)
        if (strlen(t->file) == length && memcmp(t->file, file, length) == 0)
            return t->text;
    return NULL;
}

/* The text of `#include "NAME"` in a template of the folder that `file` begins with. */
static const char *included(text *t, const char *file, const char *name, size_t length,
                            const char *plan_header) {
    static const char plan[] = "plan.h";
    if (length == sizeof plan - 1 && memcmp(name, plan, length) == 0)
        return plan_header;
    const char *slash = strrchr(file, '/');
    const char *beside = slash == NULL ? NULL
                                       : job_print(t->job, "%.*s%.*s", (int)(slash + 1 - file),
                                                   file, (int)length, name);
    const char *found = beside != NULL ? find(beside, strlen(beside)) : NULL;
    return found != NULL ? found : find(name, length);
}

static void lay(text *t, const char *file, const char *plan_header, const char *left_out) {
    static const char include[] = "#include \"";
    const char *from = find(file, strlen(file));
    assert(from != NULL);
    while (*from != '\0') {
        const size_t length = strcspn(from, "\n") + 1;
        if (strncmp(from, include, sizeof include - 1) == 0) {
            const char *name = from + sizeof include - 1;
            const char *what = included(t, file, name, strcspn(name, "\""), plan_header);
            assert(what != NULL);
            text_add(t, "\n");
            text_add(t, what == left_out ? "" : what);
        } else {
            text_add_bytes(t, from, length);
        }
        from += length;
    }
}

void source_lay(text *t, const char *file, const char *plan_header) {
    lay(t, file, plan_header, NULL);
}

void source_lay_more(text *t, const char *file, const char *plan_header) {
    static const char common[] = "common.cuh";
    lay(t, file, plan_header, find(common, sizeof common - 1));
}

void source_comment(text *t, const char *label, const char *lines) {
    while (*lines != '\0') {
        const size_t length = strcspn(lines, "\n");
        text_printf(t, "// %-8s%.*s\n", label, (int)length, lines);
        label = "";
        lines += length + (lines[length] == '\n');
    }
}
