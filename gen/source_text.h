/* Text of sources. Takes: the templates that travel inside the library. Makes: one file of them. */
#ifndef SG_GEN_SOURCE_TEXT_H
#define SG_GEN_SOURCE_TEXT_H

#include "base/text.h"

/* Every file of templates/, by its path there ("grid.cuh", "scan/look_back.cu"); written by the
   build. The last has no name. */
typedef struct source_template {
    const char *file, *text;
} source_template;
extern const source_template source_templates[];

/* A file of one or several templates, and which it has for all of them. */
typedef struct source_file {
    text *out;
    bool *laid; /* by source_templates */
    size_t count;
} source_file;

/* Copies a template, each line `#include "name"` replaced by that text where it does not stand in
   the file yet: `plan_header` for "plan.h", else a template's (a name without a folder is also
   looked for beside the file). Others may come after it. */
source_file source_lay(text *, const char *file, const char *plan_header);

/* Another template, which stands in a namespace of its own: what it includes before its plan.h,
   once for all templates of the file, then the rest. */
void source_lay_before_plan(source_file *, const char *file);
void source_lay_more(const source_file *, const char *file, const char *plan_header);

/* The lines as comments, the first with a label. */
void source_comment(text *, const char *label, const char *lines);

#endif
