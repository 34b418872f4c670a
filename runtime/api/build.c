/* Building: spec, model, plan, source, binary, kernel.
   Takes: a spec's path or text, and options. Makes: sg_build.
   Needs: all of gen/ and a device; this is where the two sides meet. */
#include "runtime/api/build.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "gen/families.h"
#include "gen/model/family.h"
#include "gen/points/points.h"
#include "gen/spec/spec.h"
#include "runtime/launch/context.h"
#include "runtime/launch/launch.h"
#include "runtime/matrix/matrix.h"

static const char default_arch[] = "sm_90";

/* ---- what to plan for ------------------------------------------------------------------------ */

static const device_facts *facts_of(const sg_context *c) {
    return c->device != NULL ? c->device->ops->facts(c->device) : NULL;
}

/* The architecture of the context's GPU; NULL where it has none. */
static const char *gpu_arch(const sg_context *c) {
    const device_facts *f = facts_of(c);
    return f != NULL && strncmp(f->arch, "sm_", 3) == 0 ? f->arch : NULL;
}

/* The context's own GPU, as its driver describes it. */
static const gpu *own_gpu(job *j, const sg_context *c, const char *arch) {
    const device_facts *f = facts_of(c);
    const gpu_facts facts = {f->multiprocessors, f->clock, f->memory_rate, (double)f->l2_cache,
                             (double)f->memory};
    const gpu *g = gpu_described(j, f->name, arch, &facts);
    if (g == NULL)
        job_fail(j, FAULT_DEVICE, NULL, 0, "the GPU's architecture %s is older than any supported",
                 arch);
    return g;
}

/* The processor of the cpu device. What the system does not say is taken from a usual one. A core
   copies about 10 GB a second, and a few of them use up what memory gives. */
static const gpu *own_processor(job *j, const device_facts *f) {
    enum { FEW_CORES = 8 };
    const int cores = f->multiprocessors;
    const processor facts = {
        .cores = cores,
        .vector_bytes = f->vector_bytes > 0 ? f->vector_bytes : 16,
        .core_cache = f->l2_cache > 0 ? (double)f->l2_cache : 512 * 1024,
        .shared_cache = f->l3_cache > 0 ? (double)f->l3_cache : 16 * 1024 * 1024,
        .clock = 2.5e9,
        .copy_rate = 10e9 * (cores < FEW_CORES ? cores : FEW_CORES),
    };
    return gpu_of_processor(j, f->name, default_arch, &facts);
}

static const gpu *named_gpu(job *j, const char *what, const char *name) {
    const gpu *found = gpu_find(name);
    if (found != NULL)
        return found;
    text known = text_new(j);
    for (int i = 0; gpu_at(i) != NULL; i++)
        text_printf(&known, "%s%s (%s)", i == 0 ? "" : ", ", gpu_at(i)->name, gpu_at(i)->arch);
    job_fail(j, FAULT_USAGE, NULL, 0, "unknown %s '%s'; known are %s", what, name, known.data);
}

/* The GPU to plan for: the one that is named, the context's own, or the usual one of an
 * architecture. */
static const gpu *find_gpu(job *j, const build_request *r) {
    const char *own = gpu_arch(r->context), *arch = r->options.arch, *name = r->options.gpu;
    if (name != NULL) {
        const gpu *g = named_gpu(j, "GPU", name);
        if (arch != NULL &&
            strcmp(gpu_find(arch) != NULL ? gpu_find(arch)->arch : "", g->arch) != 0)
            context_refuse(j, "the GPU %s has the architecture %s, not %s", g->name, g->arch, arch);
        return g;
    }
    if (own != NULL && (arch == NULL || strcmp(arch, own) == 0))
        return own_gpu(j, r->context, own);
    if (arch == NULL && facts_of(r->context) != NULL && family_plans_processors(r->subject->family))
        return own_processor(j, facts_of(r->context));
    return named_gpu(j, "architecture", arch != NULL ? arch : default_arch);
}

static void find_size(job *j, build_request *r, const subject *m) {
    const bool gpu = r->context->device == NULL || gpu_arch(r->context) != NULL;
    const int dims = m->family->dims(m);
    model_default_size(dims, gpu, r->size);
    for (int axis = 0; axis < AXES; axis++) {
        const int64_t size = r->options.size[axis];
        if (size < 0)
            context_refuse(j, "size %lld along %c is negative", (long long)size, axis_names[axis]);
        if (axis >= dims && size > 1)
            context_refuse(j, "size %lld along %c, but '%s' has %d dimension%s", (long long)size,
                           axis_names[axis], m->name, dims, dims == 1 ? "" : "s");
        if (axis >= dims)
            r->size[axis] = 1;
        else if (size > 0)
            r->size[axis] = size;
    }
    kernel_points(j, r->size); /* refuses what no memory holds */
}

const spec *build_load(job *j, const char **path, const char *text,
                       const spec_constants *constants) {
    if (*path == NULL && text == NULL)
        context_refuse(j, "neither a spec's path nor its text was given");
    if (*path == NULL)
        *path = "spec";
    return spec_load(j, *path, text, constants);
}

static spec_constants read_constants(job *j, const sg_build_options *o) {
    if (o->constant_count < 0 || (o->constant_count > 0 && o->constants == NULL))
        context_refuse(j, "there are %d constants at %s", o->constant_count,
                       o->constants == NULL ? "NULL" : "their address");
    spec_assignment *list = job_array(j, (size_t)o->constant_count, sizeof *list);
    for (int i = 0; i < o->constant_count; i++)
        list[i] = (spec_assignment){o->constants[i].name, o->constants[i].value};
    return (spec_constants){list, o->constant_count, o->index, o->name};
}

int build_find_spec(job *j, const spec *s, const char *path, const char *name) {
    const int found = spec_find(s, name);
    if (found >= 0)
        return found;
    text known = text_new(j);
    for (int i = 0; i < s->count; i++)
        text_printf(&known, "%s%s", i > 0 ? ", " : "", s->subjects[i]->name);
    context_refuse(j, "%s returns no spec named '%s'; it has %s", path, name, known.data);
    return found;
}

/* Whoever builds more of it, as tuning does, builds the same. */
static void find_subject(job *j, build_request *r, const spec *s) {
    sg_build_options *o = &r->options;
    if (o->name != NULL)
        o->index = build_find_spec(j, s, r->path, o->name);
    o->name = NULL;
    if (o->index < 0 || o->index >= s->count)
        context_refuse(j, "%s returns %d spec%s; there is none of index %d", r->path, s->count,
                       s->count == 1 ? "" : "s", o->index);
    o->text = s->text;
    r->subject = s->subjects[o->index];
}

/* ---- points ---------------------------------------------------------------------------------- */

/* What a kernel knows of its spec's points: the sets, and the program of their kernels. */

static int find_point_array(const program *p, const char *name) {
    int i = 0;
    while (strcmp(p->arrays[i].name, name) != 0)
        i++;
    return i;
}

static const kernel_sets *points_of(job *j, const model *m, const char *target) {
    if (m->set_count == 0)
        return NULL;
    kernel_sets *points = job_alloc(j, sizeof *points);
    kernel_set *sets = job_array(j, (size_t)m->set_count, sizeof *sets);
    points->program = points_program(j, m, target);
    points->sets = sets;
    points->count = m->set_count;
    for (int i = 0; i < m->set_count; i++) {
        const char *field = m->fields[m->sets[i].field].name;
        sets[i] = (kernel_set){.name = m->sets[i].name,
                               .field = field,
                               .target = find_point_array(points->program, field),
                               .injects = m->sets[i].injects};
    }
    return points;
}

/* ---- monitors -------------------------------------------------------------------------------- */

/* What a kernel knows of its spec's monitors, and requests for their maps. */

static int find_monitor(const model *m, const char *name) {
    int i = 0;
    while (i < m->monitor_count && strcmp(m->monitors[i].name, name) != 0)
        i++;
    return i;
}

static void find_map(job *j, build_request *r) {
    const char *name = r->options.monitor;
    if (name == NULL)
        return;
    const model *m = r->subject->expressions;
    const int i = find_monitor(m, name);
    if (i == m->monitor_count) {
        text known = text_new(j);
        for (int k = 0; k < m->monitor_count; k++)
            text_printf(&known, "%s%s", k > 0 ? ", " : "; known: ", m->monitors[k].name);
        context_refuse(j, "'%s' has no monitor '%s'%s", m->name, name, known.data);
    }
    r->subject = m->monitors[i].subject;
    r->whole = m;
    r->options.steps = 1;
}

static kernel_monitor describe_monitor(const model_monitor *m) {
    kernel_monitor made = {.name = m->name, .op = m->op, .identity = m->identity};
    for (int axis = 0; axis < PROGRAM_AXES; axis++) {
        made.low[axis] = m->map->low[axis];
        made.high[axis] = m->map->high[axis];
        made.mirrors[axis] = model_mirrors(m->map, axis);
    }
    return made;
}

static void describe_monitors(job *j, const build_request *r, sg_kernel *k) {
    const model *m = r->whole != NULL ? r->whole : r->subject->expressions;
    kernel_monitor *list = job_array(j, (size_t)m->monitor_count, sizeof *list);
    for (int i = 0; i < m->monitor_count; i++)
        list[i] = describe_monitor(&m->monitors[i]);
    if (r->whole != NULL) {
        k->maps_for = &list[find_monitor(m, r->options.monitor)];
        return;
    }
    k->monitors = list;
    k->info.monitors = m->monitor_count;
}

/* ---- requests -------------------------------------------------------------------------------- */

void build_read(job *j, build_request *r) {
    context_read(j, &r->options, sizeof r->options, r->given, "sg_build_options");
    const spec_constants constants = read_constants(j, &r->options);
    const spec *s = build_load(j, &r->path, r->options.text, &constants);
    if (r->options.steps < 0)
        context_refuse(j, "%lld steps cannot be run", (long long)r->options.steps);
    find_subject(j, r, s);
    if (r->subject->expressions->set_count > 0)
        r->options.steps = 1; /* points are served after each step */
    find_map(j, r);
    r->gpu = plans_attach(j, r->context, find_gpu(j, r));
    find_size(j, r, r->subject);
    if (r->options.matrix != NULL && r->subject->family->kind == PROGRAM_PRODUCT)
        r->matrix = matrix_view(j, r->options.matrix);
}

void build_judge_matrix(job *j, const build_request *r) {
    if (r->options.matrix != NULL && r->matrix == NULL)
        context_refuse(j,
                       "matrix of sg_build_options is given, but '%s' is of the family %s, and "
                       "only products (spmv) take one",
                       r->subject->name, r->subject->family->name);
}

_Static_assert((int)PROGRAM_GRID == (int)SG_KIND_GRID && (int)PROGRAM_LISTS == (int)SG_KIND_LISTS &&
                   (int)PROGRAM_REDUCE == (int)SG_KIND_REDUCE &&
                   (int)PROGRAM_SCAN == (int)SG_KIND_SCAN &&
                   (int)PROGRAM_MERGE == (int)SG_KIND_MERGE &&
                   (int)PROGRAM_PRODUCT == (int)SG_KIND_PRODUCT,
               "kinds of programs are those of the library");

sg_kind build_kind(const family *f) {
    return f != NULL ? (sg_kind)f->kind : SG_KIND_LISTS;
}

family_request build_wanted(const build_request *r) {
    family_request wanted = {.schedule = r->options.schedule, .gpu = r->gpu, .matrix = r->matrix};
    wanted.steps = r->options.steps > 0 ? r->options.steps : 1;
    memcpy(wanted.size, r->size, sizeof wanted.size);
    return wanted;
}

/* ---- the kernel's facts and texts ------------------------------------------------------------ */

static void write_texts(job *j, sg_kernel *k, const family_build *b) {
    const subject *s = k->subject;
    text meaning = text_new(j);
    s->family->print(s, MODEL_MEANING, &meaning);
    k->texts[SG_TEXT_MEANING] = meaning.data;
    k->texts[SG_TEXT_NAME] = s->name;
    k->texts[SG_TEXT_SHAPE] = b->shape;
    k->texts[SG_TEXT_MODEL] = b->model;
    k->texts[SG_TEXT_PLAN] = b->plan;
    k->texts[SG_TEXT_REASON] = b->reason;
    k->texts[SG_TEXT_SOURCE] = k->program->source;
    k->texts[SG_TEXT_DTYPE] = dtype_words[s->dtype].name;
    k->texts[SG_TEXT_BOUNDARY] = b->boundary;
    k->texts[SG_TEXT_ARCH] = k->program->target;
    k->texts[SG_TEXT_FAMILY] = s->family->name;
    k->texts[SG_TEXT_POINTS] = k->points != NULL ? k->points->program->source : "";
}

static void write_info(sg_kernel *k, const build_request *r, const family_build *b) {
    const program_launch *l = &k->program->launches[program_main_launch(k->program)];
    k->info = (sg_kernel_info){
        .struct_size = sizeof k->info,
        .dims = k->program->dims,
        .points = b->points,
        .radius = b->radius,
        .element_size = k->program->element_bytes,
        .arrays = k->program->array_count,
        .parameters = k->program->parameter_count,
        .textbook_operations = b->textbook_operations,
        .emitted_operations = b->emitted_operations,
        .bytes_per_point = program_bytes_per_point(k->program),
        .threads = l->block[0] * l->block[1] * l->block[2],
        .shared_bytes = l->shared_bytes,
        .registers = -1,
        .local_bytes = -1,
        .blocks_resident = -1,
        .occupancy = -1,
        .compiler = "",
        .steps = program_steps(k->program),
        .kind = build_kind(k->subject->family),
        .point_sets = k->points != NULL ? k->points->count : 0,
    };
    memcpy(k->info.size, r->size, sizeof k->info.size);
}

static sg_kernel *make_kernel(job *j, const build_request *r, const family_build *b) {
    const program *made = b->program;
    assert(made->array_count <= LAUNCH_ARRAYS && made->parameter_count <= LAUNCH_PARAMETERS &&
           made->arguments_bytes <= LAUNCH_BYTES);
    assert(program_is_grid(made) ? made->grid.layer_count <= LAUNCH_TEMPORARIES
                                 : made->lists.size_count <= LAUNCH_SIZES &&
                                       made->lists.temporary_count <= LAUNCH_TEMPORARIES);
    sg_kernel *k = job_alloc(j, sizeof *k);
    k->context = r->context;
    k->job = j;
    k->program = made;
    k->subject = r->subject;
    k->unlaunchable = "only its source was asked for";
    k->points = points_of(j, r->subject->expressions, made->target);
    write_texts(j, k, b);
    write_info(k, r, b);
    describe_monitors(j, r, k);
    return k;
}

/* ---- building -------------------------------------------------------------------------------- */

typedef struct building {
    build_request request;
    const kernel_request *wanted; /* NULL: it cannot be told from others */
    sg_kernel *kernel;
} building;

/* Why the device of the context cannot launch what was planned for the program's target; NULL where
   it can. The cpu device runs a source planned for any architecture, a GPU only its own. */
static const char *obstacle(job *j, const sg_kernel *k) {
    const char *own = gpu_arch(k->context);
    if (k->context->runs_nothing)
        return "the context was opened with the device none, which runs nothing";
    if (own != NULL && gpu_arch_number(own) != gpu_arch_number(k->program->target))
        return job_print(j, "it was built for %s and the GPU is an %s", k->program->target, own);
    return NULL;
}

static void compile_and_load(job *j, sg_kernel *k) {
    k->unlaunchable = obstacle(j, k);
    kernel_take(j, k,
                modules_hold(j, k->context, k->program, k->unlaunchable == NULL, &k->info.origin));
}

static void build(job *j, void *argument) {
    building *b = argument;
    build_request *r = &b->request;
    build_read(j, r);
    family_request wanted = build_wanted(r);
    const char *found = NULL, *tuned = tuned_plan(j, r, &found);
    if (tuned != NULL)
        wanted.schedule = tuned;
    family_build *made = r->subject->family->build(j, r->subject, &wanted);
    if (tuned != NULL)
        made->reason = "tuned: the fastest of the plans that were right there";
    else
        found = untuned_plan(j, r, made, found);
    b->kernel = make_kernel(j, r, made);
    b->kernel->info.found = found;
    if (b->wanted != NULL)
        b->kernel->request = kernels_copy_request(j, b->wanted);
    if (!r->options.source_only)
        compile_and_load(j, b->kernel);
    pthread_mutex_init(&b->kernel->lock, NULL); /* a build that fails has nothing to undo */
}

sg_status sg_build(sg_context *context, const char *spec_path, const sg_build_options *given,
                   sg_kernel **out) {
    if (context == NULL || out == NULL)
        return SG_ERROR_USAGE;
    building b = {.request = {.context = context, .path = spec_path, .given = given}};
    sg_build_options options;
    kernel_request wanted;
    if (context_read(NULL, &options, sizeof options, given, "sg_build_options") &&
        kernels_request(spec_path, &options, &wanted)) {
        wanted.sweeps = atomic_load(&context->sweeps);
        sg_kernel *before = kernels_find(context, &wanted);
        if (before != NULL) {
            *out = before;
            return SG_OK;
        }
        b.wanted = &wanted;
    }
    job *kept;
    const sg_status status = context_run(context, build, &b, &kept);
    if (status == SG_OK)
        *out = kernels_add(context, b.kernel);
    return status;
}
