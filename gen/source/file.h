/* Text of sources. Takes: the templates that travel inside the library. Makes: one file of them. */
#ifndef SG_GEN_SOURCE_FILE_H
#define SG_GEN_SOURCE_FILE_H

#include "base/program.h"
#include "base/text.h"

/* Every file of templates/, by its path there ("grid.cuh", "scan/look_back.cu"); written by the
   build. The last has no name. */
typedef struct source_template {
    const char *file, *text;
} source_template;
extern const source_template source_templates[];

/* A kernel of a file: what plan.h stands for, and what its template has that the kernels do not
   share. Each of several kernels has a namespace. */
typedef struct source_kernel {
    text plan, rest;
    const char *space, *entry;
} source_kernel;

enum { SOURCE_KERNELS = 32 };

/* A file being laid out: what stands once, before the plans and of templates/arch/, and kernels. */
typedef struct source_file {
    job *job;
    bool *laid; /* by source_templates: what stands once */
    size_t count;
    text before, arch;
    source_kernel kernels[SOURCE_KERNELS];
    int kernel_count;
    bool arch_first; /* a plan names types of templates/arch/ */
} source_file;

source_file source_begin(job *);

/* Adds a template, each line `#include "name"` replaced by that text where it does not stand in the
   file yet: `plan_header` for "plan.h", else the text of a template, in the same folder or in
   templates/.
   `space` is NULL for the only kernel of a file; else its namespace, and `entry` its kernel. */
void source_lay(source_file *, const char *file, const char *plan_header, const char *space,
                const char *entry);

/* The file: the head, then plan, operations of the architecture and kernel, without what the plan
   decides against and what nothing uses. Of several kernels the plans have `shared` in common. Sets
   the program's source. */
void source_end(source_file *, const char *head, const char *shared, program *);

/* The lines as comments, the first with a label. */
void source_comment(text *, const char *label, const char *lines);

#endif
