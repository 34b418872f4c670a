/* The source: one self-contained CUDA file for a model and a plan.
   Takes: model, plan. Makes: the program, whose text is the plan.h of this plan and the template,
   laid into one file. The same model, plan and target give the same bytes. */
#ifndef SG_GEN_STENCIL_SOURCE_H
#define SG_GEN_STENCIL_SOURCE_H

#include "base/program.h"
#include "gen/source/emit.h"
#include "gen/source/file.h"
#include "gen/stencil/plan.h"

program *source_make(job *, const model *, const plan *);

/* What the program's arrays and buffers take: "12 bytes a point in 3 arrays; 4 fewer where u.next
   has the memory of u.prev". */
const char *source_describe_memory(job *, const program *);
/* The same by a plan. */
const char *source_memory(job *, const model *, const plan *);

/* The generated plan.h alone, as a template would include it. */
const char *source_plan_header(job *, const model *, const plan *);

/* ---- what the files of the writer, and that of systems, share -------------------------------- */

/* Where the arguments hold an array of the model, and a field's new values. */
int source_read_grid(const model *, int array);
int source_write_grid(const model *, int field);

/* plan.h of the kernel of a launch. Where there are several, the arguments, which all share, come
   before. */
void source_write_kernel(text *, const plan *, const program *, int launch, bool of_several,
                         bool packs);
void source_write_arguments(text *, const model *, const program *);

/* The same for so many grids; `about` says what they are. */
void source_write_arguments_of(text *, const model *, int grids, const char *about, int maps,
                               size_t bytes);

/* Of a grid of the arguments (source_grids.c): layers come after the arrays, and last the words
   that blocks exchange. */
const char *source_grid_name(const program *, int grid);
const char *source_cell_name(const model *, const program *, int grid);
/* Whether the cells of the grids are not all of one type. */
bool source_is_mixed(const model *, const program *);
/* Narrow cells: macros, and the conversions of templates/arch/. */
void source_write_narrow(text *, const model *, const program *);

/* The program without its text; and its arrays alone. */
program *source_describe(job *, const model *, const plan *);
void source_list_arrays(job *, const model *, program *);

/* Lays the kernel of a launch, in a namespace where there are several. */
void source_lay_kernel(source_file *, const plan *, const program *, int which, const char *space,
                       bool packs);

/* Ends the file of what is launched in the place of the kernels, for calls that these are not for:
   where rows cannot be packed, and `also`. */
void source_end_spares(source_file *, const char *also, const char *shared, program *out);

void source_describe_launch(const plan *, const program *, program_launch *);

/* source_notes.c: how to launch a kernel, as comments. */
/* `one_way`: as the form has it. */
void source_write_launch_example(text *, const model *, const program *, const program_launch *,
                                 bool one_way);
void source_write_launch_notes(text *, const program *, const program_launch *);

/* The parts of these: what one launch is given, and its call, for arrays of these numbers (NULL:
   those of the program); what its rows must be; which arrays swap roles after a step. */
void source_write_launch_of(text *, const program *, const program_launch *, bool one_way,
                            const int *arrays);
void source_write_pack_note(text *, const program_launch *);
void source_write_rotation(text *, const program *);

/* " for dense arrays of shape (ny, nx)": of a grid of so many dimensions. */
void source_write_extents(text *, int dims);

/* Of a plan with single steps next to it. */
int source_count_ways(const plan *);
void source_describe_ways(job *, const plan *, program *);
void source_write_way_notes(text *, const plan *, const program *);

/* How to launch several passes, as comments. */
void source_write_pass_notes(text *, const model *, const program *);

/* source_sums.c: what a plane adds to the sums around it. */
void source_write_sums(text *, const model *, const plan *, const emitter *);

/* The weights in constant memory, and what they leave of the update. */
void source_write_runs(text *, const model *, const plan *, const emitter *);

#endif
