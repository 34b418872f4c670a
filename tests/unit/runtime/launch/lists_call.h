/* What tests of programs of lists share: one that joins two lists by way of temporary memory, in
   two launches and with a fill, and a launch of it that nothing is wrong with. Its CUDA text is for
   the cpu device. Takes and makes nothing else. */
#ifndef TESTS_LISTS_CALL_H
#define TESTS_LISTS_CALL_H

#include "runtime/launch/launch.h"

/* output = a, then b, each times step; total = how many, by a counter that begins as 0, plus
   scale; next = a + 1, also in place. */
static const char join_text[] =
    "#ifndef SPOIL /* what a test adds to the second kernel */\n"
    "#define SPOIL\n"
    "#endif\n"
    "struct Arguments {\n"
    "    long long a_count, b_count;\n"
    "    const long long *a, *b;\n"
    "    long long *output;\n"
    "    double *total;\n"
    "    long long *next;\n"
    "    unsigned *counter;\n"
    "    long long *scratch;\n"
    "    union { int value; long long room; } step;\n"
    "    double scale;\n"
    "};\n"
    "extern \"C\" __global__ void gather(const __grid_constant__ Arguments p) {\n"
    "    const long long n = p.a_count + p.b_count, stride = gridDim.x * blockDim.x;\n"
    "    for (long long i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {\n"
    "        p.scratch[i] = (i < p.a_count ? p.a[i] : p.b[i - p.a_count]) * p.step.value;\n"
    "        __atomic_fetch_add(p.counter, 1u, __ATOMIC_RELAXED);\n"
    "    }\n"
    "}\n"
    "extern \"C\" __global__ void finish(const __grid_constant__ Arguments p) {\n"
    "    const long long n = p.a_count + p.b_count;\n"
    "    const long long i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (i == 0)\n"
    "        p.total[0] = *p.counter + p.scale;\n"
    "    if (i < n)\n"
    "        p.output[i] = p.scratch[i];\n"
    "    if (i < p.a_count)\n"
    "        p.next[i] = p.a[i] + 1;\n"
    "    SPOIL\n"
    "}\n";

enum { JOIN_A, JOIN_B, JOIN_OUTPUT, JOIN_TOTAL, JOIN_NEXT, JOIN_ARRAYS };

#define ONE_CELL                                                                                   \
    { {-1, -1}, 1 }

static const program_array join_arrays[JOIN_ARRAYS] = {
    [JOIN_A] = {.name = "a",
                .dtype = "int64",
                .element_bytes = 8,
                .lists.same_as = -1,
                .lists.extent = {{{0, -1}, 0}, ONE_CELL, ONE_CELL}},
    [JOIN_B] = {.name = "b",
                .dtype = "int64",
                .element_bytes = 8,
                .lists.same_as = -1,
                .lists.extent = {{{1, -1}, 0}, ONE_CELL, ONE_CELL}},
    [JOIN_OUTPUT] = {.name = "output",
                     .dtype = "int64",
                     .element_bytes = 8,
                     .written = true,
                     .lists.same_as = -1,
                     .lists.extent = {{{0, 1}, 0}, ONE_CELL, ONE_CELL}},
    [JOIN_TOTAL] = {.name = "total",
                    .dtype = "double",
                    .element_bytes = 8,
                    .written = true,
                    .lists.same_as = -1,
                    .lists.extent = {ONE_CELL, ONE_CELL, ONE_CELL}},
    [JOIN_NEXT] = {.name = "next",
                   .dtype = "int64",
                   .element_bytes = 8,
                   .written = true,
                   .lists.same_as = JOIN_A,
                   .lists.extent = {{{0, -1}, 0}, ONE_CELL, ONE_CELL}},
};
static const program_size join_sizes[] = {{"a_count", JOIN_A, 0}, {"b_count", JOIN_B, 0}};
static const program_parameter join_parameters[] = {
    {.name = "step", .dtype = "int32", .has_value = true, .value = 2},
    {.name = "scale", .dtype = "double", .has_value = true, .value = 0.5}};
/* 4 bytes for every 3 of a begun and 16 more; 8 for every one of both. */
static const program_temporary join_temporaries[] = {
    {.name = "counter", .items = {{0, -1}, 0}, .per = 3, .bytes = 4, .fixed = 16, .fill = 0},
    {.name = "scratch", .items = {{0, 1}, 0}, .per = 1, .bytes = 8, .fill = -1}};
static const program_launch join_launches[] = {
    {.entry = "gather",
     .per_block = {8, 1, 1},
     .block = {4, 1, 1},
     .lists.blocks = {{.items = {{0, 1}, 0}, .least = true, .most = 3}, {ONE_CELL}, {ONE_CELL}}},
    {.entry = "finish",
     .per_block = {8, 1, 1},
     .block = {8, 1, 1},
     .lists.blocks = {{.items = {{0, 1}, 0}, .least = true}, {ONE_CELL}, {ONE_CELL}}},
};

/* A program whose parts a test may change. */
typedef struct join {
    program program;
    program_array arrays[JOIN_ARRAYS];
    program_size sizes[2];
    program_parameter parameters[2];
    program_temporary temporaries[2];
    program_launch launches[2];
} join;

static inline join *join_lists(join *j) {
    *j = (join){.program = {.name = "join",
                            .source = join_text,
                            .target = "sm_90",
                            .kind = PROGRAM_LISTS,
                            .dims = 1,
                            .element_bytes = 8,
                            .arrays = j->arrays,
                            .array_count = JOIN_ARRAYS,
                            .parameters = j->parameters,
                            .parameter_count = 2,
                            .launches = j->launches,
                            .launch_count = 2,
                            .arguments_bytes = 8 * (2 + JOIN_ARRAYS + 2 + 2),
                            .lists.sizes = j->sizes,
                            .lists.size_count = 2,
                            .lists.temporaries = j->temporaries,
                            .lists.temporary_count = 2,
                            .lists.points = {{0, 1}, 0}}};
    memcpy(j->arrays, join_arrays, sizeof join_arrays);
    memcpy(j->sizes, join_sizes, sizeof join_sizes);
    memcpy(j->parameters, join_parameters, sizeof join_parameters);
    memcpy(j->temporaries, join_temporaries, sizeof join_temporaries);
    memcpy(j->launches, join_launches, sizeof join_launches);
    return j;
}

typedef struct join_call {
    sg_grid grids[JOIN_ARRAYS];
    double parameters[2];
    sg_arguments arguments;
} join_call;

/* Of these sizes, without data. */
static inline join_call *join_of(join_call *c, int64_t a, int64_t b) {
    *c = (join_call){
        .grids = {{.size = {a}}, {.size = {b}}, {.size = {a + b}}, {.size = {1}}, {.size = {a}}},
        .parameters = {3, 0.25},
        .arguments = {
            .struct_size = sizeof(sg_arguments), .grid_count = JOIN_ARRAYS, .parameter_count = 2}};
    c->arguments.grids = c->grids;
    c->arguments.parameters = c->parameters;
    return c;
}

#endif
