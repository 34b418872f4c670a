/* See gen/lists/spmv/convert.h. */
#include "gen/lists/spmv/convert.h"

#include "gen/source/text.h"

/* Which template a format has, and which of its kernels have barriers or warp operations, by bits.
 */
typedef struct conversion {
    const char *file;
    int kernels;
    unsigned meeting;
} conversion;

static const conversion conversions[FORMAT_COUNT] = {
    [FORMAT_AUTO] = {"convert/look.cu", 4, 0x07},
    [FORMAT_ELL] = {"convert/ell.cu", 2, 0x01},
    [FORMAT_DIA] = {"convert/dia.cu", 5, 0x0f},
    [FORMAT_BCSR] = {"convert/bcsr.cu", 5, 0x1f},
    [FORMAT_SELL] = {"convert/sell.cu", 5, 0x0f},
    [FORMAT_STENCIL] = {"convert/stencil.cu", 7, 0x7b},
};

static const char *plan_header(job *j, const program *p, const storage *s) {
    text t = text_new(j);
    text_printf(&t, "using Integer = %s;\nusing Word = %s;\n\n",
                s->index_bytes == 4 ? "int" : "long long",
                s->value_bytes == 4 ? "unsigned" : "unsigned long long");
    for (int i = 0; i < p->launch_count; i++)
        text_printf(&t, "#define PATTERN_KERNEL_%d %s\n", i, p->launches[i].entry);
    text_printf(&t,
                "\nstruct plan {\n    static constexpr int threads = %d, arguments_bytes = %zu;\n",
                CONVERT_THREADS, sizeof(convert_arguments));
    if (s->format == FORMAT_BCSR)
        text_printf(&t, "    static constexpr int lanes = %d, pack = %d;\n", convert_lanes(s),
                    convert_pack(s));
    text_add(&t, "};\n");
    return t.data;
}

static program_launch describe(job *j, const program *p, format f, int kernel) {
    const bool sorts = f == FORMAT_SELL && kernel == 0;
    return (program_launch){.entry = job_print(j, "%s_%d", p->name, kernel),
                            .block = {CONVERT_THREADS, 1, 1},
                            .shared_bytes = CONVERT_SUMS + (sorts ? CONVERT_SORTED : 0),
                            .barriers = conversions[f].meeting >> kernel & 1,
                            .steps = 1};
}

program *convert_program(job *j, const storage *s, const char *target) {
    const conversion *c = &conversions[s->format];
    const char *word = format_words[s->format].name;
    const bool look = s->format == FORMAT_AUTO;
    if (c->file == NULL)
        return NULL;
    program *p = job_alloc(j, sizeof *p);
    *p = (program){.name = look ? "look_at_csr" : job_print(j, "csr_to_%s", word),
                   .target = target,
                   .shape = PROGRAM_LISTS,
                   .dims = 1,
                   .launches = job_array(j, (size_t)c->kernels, sizeof *p->launches),
                   .launch_count = c->kernels,
                   .arguments_bytes = sizeof(convert_arguments)};
    for (int i = 0; i < c->kernels; i++)
        p->launches[i] = describe(j, p, s->format, i);
    text t = text_new(j);
    text_printf(&t, "// %s: CUDA kernels made by %s.\n\n", p->name,
                "stencilgen " SG_GENERATOR_VERSION);
    source_file file = source_begin(j);
    source_lay(&file, c->file, plan_header(j, p, s), NULL, NULL);
    source_end(&file, t.data, NULL, p);
    return p;
}
