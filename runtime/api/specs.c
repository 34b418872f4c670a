/* The specs of a file: how many there are, and which one has a name.
   Takes: a spec's path or text. Makes: sg_count_specs, sg_find_spec. */
#include <string.h>

#include "gen/model/family.h"
#include "gen/spec/spec.h"
#include "runtime/api/build.h"

typedef struct question {
    const char *path, *text, *name;
    int answer;
} question;

static void count(job *j, void *argument) {
    question *q = argument;
    q->answer = build_load(j, &q->path, q->text, NULL)->count;
}

static void find(job *j, void *argument) {
    question *q = argument;
    const spec *s = build_load(j, &q->path, q->text, NULL);
    text known = text_new(j);
    for (int i = 0; i < s->count; i++) {
        const char *name = s->subjects[i]->name;
        text_printf(&known, "%s%s", i > 0 ? ", " : "", name);
        if (strcmp(name, q->name) == 0) /* no two have the same name */
            q->answer = i;
    }
    if (q->answer < 0)
        context_refuse(j, "%s returns no spec named '%s'; it has %s", q->path, q->name, known.data);
}

static sg_status ask(sg_context *context, void (*how)(job *, void *), question *q, int *out) {
    const sg_status status = context_run(context, how, q, NULL);
    if (status == SG_OK)
        *out = q->answer;
    return status;
}

sg_status sg_count_specs(sg_context *context, const char *spec_path, const char *text, int *out) {
    question q = {.path = spec_path, .text = text};
    return context == NULL || out == NULL ? SG_ERROR_USAGE : ask(context, count, &q, out);
}

sg_status sg_find_spec(sg_context *context, const char *spec_path, const char *text,
                       const char *name, int *out) {
    question q = {.path = spec_path, .text = text, .name = name, .answer = -1};
    if (context == NULL || name == NULL || out == NULL)
        return SG_ERROR_USAGE;
    return ask(context, find, &q, out);
}
