/* An output whose points away from the edges ask nothing about their place, as two functions.
   Takes: a rewritten expression. Makes: both, and what they find once for many points. */
#include "gen/source/emit.h"

#include <stdlib.h>
#include <string.h>

/* Of the nodes along one axis, so many are computed before: each is a register for each point of a
   row, or for each row. Along the walk a plane computes them anew. */
enum { MOST_KEPT = 2, MOST_ALONG = 8, OTHER = 1 << AXES };

static const char *const axis_structs[AXES] = {"AlongX", "AlongY", "AlongZ"};
static const char *const axis_words[AXES] = {"along_x", "along_y", "along_z"};

typedef struct placed {
    job *job;
    const emitter *e;
    const expr_pool *pool;
    expr_id root;
    const bool *live;
    unsigned *axes; /* of each node: by which of the kernel's axes it differs from point to point;
                       OTHER: by more */
    bool *fused;    /* products that are one instruction with the sum that has them */
    const char **names;
    expr_id kept[AXES][MOST_ALONG];
    int count[AXES];
} placed;

static unsigned axes_of(const placed *p, const expr_node *n) {
    unsigned axes = n->op == EXPR_TAP ? OTHER : 0;
    if (n->op == EXPR_POSITION && position_is_place(n->index))
        for (int axis = 0; axis < AXES; axis++)
            if (p->e->axes[axis] == position_axis(n->index))
                axes |= 1u << axis;
    for (int i = 0; i < expr_words[n->op].operands; i++)
        axes |= p->axes[n->operand[i]];
    return axes;
}

static int axis_alone(unsigned axes) {
    for (int axis = 0; axis < AXES; axis++)
        if (axes == 1u << axis)
            return axis;
    return -1;
}

static void keep(placed *p, expr_id id) {
    const int axis = axis_alone(p->axes[id]);
    const int most = axis == AXES - 1 ? MOST_ALONG : MOST_KEPT;
    if (axis < 0 || p->names[id] != NULL || p->fused[id] || p->count[axis] == most)
        return;
    p->names[id] = job_print(p->job, "%s.value%d", axis_words[axis], p->count[axis]);
    p->kept[axis][p->count[axis]++] = id;
}

/* What differs along one axis alone, and is used by what differs by more. A product that a sum
   takes in stays with it, so that points have the same bits whichever way they are made; then its
   factors are kept. */
static void find(placed *p) {
    for (expr_id id = 0; id <= p->root; id++)
        p->axes[id] = axes_of(p, expr_get(p->pool, id));
    for (expr_id id = p->root; id >= 0; id--) {
        const expr_node *n = expr_get(p->pool, id);
        if (!p->live[id])
            continue;
        const int product = emit_product_in(p->e->model, p->e->uses, n);
        if (product >= 0)
            p->fused[n->operand[product]] = true;
        const bool stays = axis_alone(p->axes[id]) < 0 || (p->fused[id] && id != p->root);
        for (int i = 0; i < expr_words[n->op].operands && stays; i++)
            keep(p, n->operand[i]);
    }
}

static void write_along(text *out, const placed *p, int axis) {
    const char *targets[MOST_ALONG];
    text_printf(out, "// What a point's place along %c decides alone.\nstruct %s {\n", "xyz"[axis],
                axis_structs[axis]);
    for (int i = 0; i < p->count[axis]; i++) {
        const bool truth = expr_words[expr_get(p->pool, p->kept[axis][i])->op].gives_truth;
        text_printf(out, "    %s value%d;\n", truth ? "bool" : "Real", i);
        targets[i] = job_print(out->job, "found.value%d =", i);
    }
    text_printf(out,
                "};\ntemplate <class At>\n__device__ __forceinline__ %s find_%s([[maybe_unused]] "
                "const At &at, [[maybe_unused]] const Arguments &arguments) {\n    %s found;\n",
                axis_structs[axis], axis_words[axis], axis_structs[axis]);
    emitter one = *p->e;
    one.interior = NULL;
    emit_statements(out, &one, p->kept[axis], targets, p->count[axis]);
    text_add(out, "    return found;\n}\n");
}

/* From and to which cell of the walked axis interior_along holds; not looked for where it wraps. */
static void write_ends(text *out, const emitter *e) {
    const int walked = AXES - 1, of = e->axes[walked];
    const int *margin = e->interior->margin[of];
    text_printf(
        out,
        "// From and to which cell of the walked axis that holds.\n"
        "__device__ __forceinline__ void interior_ends(const Arguments &arguments, long long "
        "&first, long long &end) {\n"
        "    first = %d - arguments.origin[%d];\n"
        "    end = arguments.global[%d] - %d - arguments.origin[%d];\n",
        margin[0], walked, walked, margin[1], walked);
    if (e->model->sides[of][0].kind == BOUNDARY_PERIODIC)
        text_add(out, "    end = first;\n");
    else if (e->model->dtype == DTYPE_FLOAT)
        text_printf(out, "    if (arguments.global[%d] > %d)\n        end = first;\n", walked,
                    INTERIOR_MOST);
    text_add(out, "}\n");
}

static void write_function(text *out, const emitter *e, expr_id root, const char *name,
                           const char *more) {
    const char *target = "out[0] =";
    text_printf(out,
                "template <class At>\n__device__ __forceinline__ void %s(const At &at, "
                "[[maybe_unused]] const Arguments &arguments,%s Real (&out)[1]) {\n",
                name, more);
    emit_statements(out, e, &root, &target, 1);
    text_add(out, "}\n");
}

static void write_asking(text *out, bool some, bool quick) {
    text_add(out, "template <class At>\n__device__ __forceinline__ void finish_sums(const At &at, "
                  "const Arguments &arguments, Real (&out)[1]) {\n");
    if (some)
        text_add(out, "    if (interior_along<0>(arguments, at.template index<0>()) &&\n"
                      "        interior_along<1>(arguments, at.template index<1>()) &&\n"
                      "        interior_along<2>(arguments, at.template index<2>()))\n"
                      "        finish_inside(at, arguments, out);\n    else\n    ");
    if (quick)
        text_add(out, "    {\n        Exact exact;\n    ");
    text_printf(out,
                "    finish_layer(%s, arguments, find_along_x(at, arguments), find_along_y(at, "
                "arguments), find_along_z(at, arguments), out);\n%s}\n",
                quick ? "By<Exact, At>{at, exact}" : "at", quick ? "    }\n" : "");
}

void emit_placed(text *out, const emitter *e, expr_id root) {
    const expr_pool *pool = e->model->pool;
    const size_t nodes = (size_t)pool->count + 1;
    emitter all = *e;
    placed p = {.job = out->job, .e = &all, .pool = pool, .root = root};
    p.live = expr_live(pool, p.job, &root, 1);
    all.uses = emit_uses(p.job, pool, p.live, &root, 1);
    all.interior = interior_find(p.job, e->model, &root, 1);
    p.axes = job_array(p.job, nodes, sizeof *p.axes);
    p.fused = job_array(p.job, nodes, sizeof *p.fused);
    p.names = job_array(p.job, nodes, sizeof *p.names);
    find(&p);
    text_add(out, "#define PLAN_PLACED 1 // what a point makes of its sum depends on its place\n");
    if (all.interior != NULL) {
        text_add(out, "#define PLAN_INTERIOR 1 // and away from the edges it does not\n");
        emit_interior_along(out, &all, all.interior);
        write_ends(out, &all);
        all.inside = true;
        text_add(out, "// What the point makes of its sum there, and elsewhere.\n");
        write_function(out, &all, root, "finish_inside", "");
    }
    all.inside = false;
    all.interior = NULL;
    for (int axis = 0; axis < AXES; axis++)
        write_along(out, &p, axis);
    all.names = p.names;
    all.quick = emit_has_quotients(p.job, &all, root);
    if (all.quick)
        text_add(out,
                 "#define PLAN_LAYER_QUICK 1 // quotients of several points ask one question\n");
    write_function(
        out, &all, root, "finish_layer",
        " [[maybe_unused]] const AlongX &along_x, [[maybe_unused]] const AlongY &along_y,"
        " [[maybe_unused]] const AlongZ &along_z,");
    write_asking(out, interior_find(p.job, e->model, &root, 1) != NULL, all.quick);
}
