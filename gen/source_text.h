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

/* Copies a template, each `#include "name"` line replaced by that text: `plan_header` for "plan.h",
   else a template's (a name without a folder is also looked for beside the file). */
void source_lay(text *, const char *file, const char *plan_header);

/* The same without the text of common.cuh, for the second and later templates of a file. */
void source_lay_more(text *, const char *file, const char *plan_header);

/* The lines as comments, the first with a label. */
void source_comment(text *, const char *label, const char *lines);

#endif
