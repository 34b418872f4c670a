/* See gen/convert.h. */
#include "gen/convert.h"

#include "base/text.h"
#include "gen/source_text.h"

/* Which template a format has, and which of its kernels have barriers or warp operations, by bits.
 */
typedef struct conversion {
    const char *file;
    int kernels;
    unsigned meeting;
} conversion;

static const conversion conversions[FORMAT_COUNT] = {
    [FORMAT_DIA] = {"convert/dia.cu", 5, 0x0f},
    [FORMAT_BCSR] = {"convert/bcsr.cu", 5, 0x0e},
    [FORMAT_SELL] = {"convert/sell.cu", 5, 0x0f},
    [FORMAT_STENCIL] = {"convert/stencil.cu", 7, 0x7b},
};

static const char *plan_header(job *j, const program *p, size_t index_bytes, size_t value_bytes) {
    text t = text_new(j);
    text_printf(&t, "using Integer = %s;\nusing Word = %s;\n\n",
                index_bytes == 4 ? "int" : "long long",
                value_bytes == 4 ? "unsigned" : "unsigned long long");
    for (int i = 0; i < p->launch_count; i++)
        text_printf(&t, "#define PATTERN_KERNEL_%d %s\n", i, p->launches[i].entry);
    text_printf(&t,
                "\nstruct plan {\n    static constexpr int threads = %d, arguments_bytes = %zu;\n"
                "};\n",
                CONVERT_THREADS, sizeof(convert_arguments));
    return t.data;
}

program *convert_program(job *j, format f, size_t index_bytes, size_t value_bytes,
                         const char *target) {
    const conversion *c = &conversions[f];
    if (c->file == NULL)
        return NULL;
    program *p = job_alloc(j, sizeof *p);
    *p = (program){.name = job_print(j, "convert_%s", format_words[f].name),
                   .target = target,
                   .shape = PROGRAM_LISTS,
                   .dims = 1,
                   .launches = job_array(j, (size_t)c->kernels, sizeof *p->launches),
                   .launch_count = c->kernels,
                   .arguments_bytes = sizeof(convert_arguments)};
    for (int i = 0; i < c->kernels; i++)
        p->launches[i] = (program_launch){
            .entry = job_print(j, "%s_%d", p->name, i),
            .block = {CONVERT_THREADS, 1, 1},
            .shared_bytes = f == FORMAT_SELL && i == 0 ? CONVERT_LENGTHS : CONVERT_SUMS,
            .barriers = c->meeting >> i & 1,
            .steps = 1};
    text t = text_new(j);
    text_printf(&t,
                "// A sparse matrix from csr to %s, made by stencilgen " SG_GENERATOR_VERSION "\n",
                format_words[f].name);
    source_lay(&t, c->file, plan_header(j, p, index_bytes, value_bytes));
    p->source = t.data;
    return p;
}
