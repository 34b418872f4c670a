/* The interior: where conditions on positions have one answer. Takes: expressions. Makes: how far
   from the ends of the grid that is so, and the functions by which a kernel asks. */
#include "gen/source/emit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* FARTHEST: margins that are looked for; a layer that is thicker divides the grid instead. A row
   asks some integer comparisons, so LEAST_SAVED operations must be saved. Whole numbers up to
   LARGEST_WHOLE and positions are exact in float. */
enum {
    FARTHEST = 4096,
    LEAST_SAVED = 3,
    MOST_SELECTIONS = 64, /* each has a block of its own */
    LARGEST_WHOLE = 1 << 20,
    UNKNOWN = -1
};

/* What is known of a node, if points lie within the margins: a whole number that is
   constant + of_x·x + of_n·n along one axis, or one from `low` to `high`; of a condition its truth,
   or UNKNOWN. */
typedef struct range {
    bool placed; /* it depends on a place, and on nothing but places and constants */
    bool linear;
    int axis; /* of a linear one; −1: a constant */
    double constant, of_x, of_n;
    double low, high;
    int truth;
} range;

typedef struct finder {
    job *job;
    const expr_pool *pool;
    const bool *live;
    range *ranges;
    int margin[AXES + 1][2]; /* of axes, and the least step of the run */
    bool ring[AXES];         /* the axis is periodic */
} finder;

static const range unknown = {.axis = -1, .low = -INFINITY, .high = INFINITY, .truth = UNKNOWN};

/* n is x + 1 + the distance from the last cell, and both x and that distance have a least value. */
static void bound(const finder *f, range *r) {
    const double of_x = r->of_x + r->of_n, of_rest = r->of_n;
    double least = r->constant + r->of_n;
    if (r->axis >= 0)
        least += of_x * f->margin[r->axis][0] + of_rest * f->margin[r->axis][1];
    r->low = of_x >= 0 && of_rest >= 0 ? least : -INFINITY;
    r->high = of_x <= 0 && of_rest <= 0 ? least : INFINITY;
}

static range whole(double value) {
    if (value != floor(value) || fabs(value) > LARGEST_WHOLE)
        return unknown;
    return (range){.linear = true,
                   .axis = -1,
                   .constant = value,
                   .low = value,
                   .high = value,
                   .truth = UNKNOWN};
}

/* The place of a neighbour on a ring, which may be at the other end. */
static bool may_wrap(const finder *f, const expr_node *n) {
    const int axis = position_axis(n->index), by = n->d[0];
    return n->index < POSITION_NX && f->ring[axis] && f->margin[axis][by > 0] < abs(by);
}

/* The cells beyond a cell are n − 1 − x. */
static range place_of(const finder *f, const expr_node *n) {
    const int which = n->index;
    if (may_wrap(f, n))
        return unknown;
    range r = {.placed = true, .linear = true, .axis = position_axis(which), .truth = UNKNOWN};
    if (which == POSITION_STEP) {
        r.axis = AXES;
        r.of_x = 1;
        bound(f, &r);
        return r;
    }
    r.of_x = which < POSITION_NX ? 1 : which >= POSITION_REST ? -1 : 0;
    r.of_n = which >= POSITION_NX;
    r.constant = n->d[0] - (which >= POSITION_REST);
    bound(f, &r);
    return r;
}

static bool is_known(const range *r) {
    return r->linear || r->placed;
}

/* a + sign·b */
static range sum(const finder *f, const range *a, const range *b, double sign) {
    if (!is_known(a) || !is_known(b))
        return unknown;
    range r = {.placed = a->placed || b->placed, .axis = -1, .truth = UNKNOWN};
    r.linear = a->linear && b->linear && (a->axis < 0 || b->axis < 0 || a->axis == b->axis);
    if (r.linear) {
        r.axis = a->axis >= 0 ? a->axis : b->axis;
        r.constant = a->constant + sign * b->constant;
        r.of_x = a->of_x + sign * b->of_x;
        r.of_n = a->of_n + sign * b->of_n;
        if (fabs(r.constant) > LARGEST_WHOLE || fabs(r.of_x) > 1 || fabs(r.of_n) > 1 ||
            r.of_x * r.of_n > 0)
            return unknown; /* it may not be exact */
        bound(f, &r);
        return r;
    }
    if (a->linear && b->linear)
        return unknown; /* of two axes: a diagonal, and perhaps inexact */
    r.low = a->low + (sign > 0 ? b->low : -b->high);
    r.high = a->high + (sign > 0 ? b->high : -b->low);
    return r;
}

static range lesser(const range *a, const range *b, bool greater) {
    if (!is_known(a) || !is_known(b))
        return unknown;
    range r = {.placed = a->placed || b->placed, .axis = -1, .truth = UNKNOWN};
    r.low = greater ? fmax(a->low, b->low) : fmin(a->low, b->low);
    r.high = greater ? fmax(a->high, b->high) : fmin(a->high, b->high);
    return r;
}

/* a times a positive number. Rounding is monotonic, so bounds hold that are a little wider; 0 stays
   exact, and smaller numbers than the least bound may be rounded to it. */
static range scaled(const range *a, double by) {
    static const double least = 1e-12, most = 1e6, wide = 1e-6;
    const double low = a->low * by, high = a->high * by;
    if (!is_known(a) || !(by >= 1 / most && by <= most) || (low != 0 && fabs(low) < least) ||
        (high != 0 && fabs(high) < least))
        return unknown;
    return (range){.placed = a->placed,
                   .axis = -1,
                   .low = low - wide * fabs(low),
                   .high = high + wide * fabs(high),
                   .truth = UNKNOWN};
}

/* A product or a quotient. */
static range multiple(const finder *f, const expr_node *n, const range *a, const range *b) {
    const expr_node *first = expr_get(f->pool, n->operand[0]);
    const expr_node *second = expr_get(f->pool, n->operand[1]);
    if (second->op == EXPR_CONSTANT)
        return scaled(a, n->op == EXPR_DIVIDE ? 1 / second->value : second->value);
    return n->op == EXPR_MULTIPLY && first->op == EXPR_CONSTANT ? scaled(b, first->value) : unknown;
}

/* The truth of a < b, or of a <= b. */
static int is_less(const finder *f, const range *a, const range *b, bool or_equal) {
    const range d = sum(f, a, b, -1);
    if (!is_known(a) || !is_known(b) || !(a->placed || b->placed))
        return UNKNOWN;
    const double low = is_known(&d) ? d.low : a->low - b->high;
    const double high = is_known(&d) ? d.high : a->high - b->low;
    if (or_equal ? high <= 0 : high < 0)
        return 1;
    return (or_equal ? low > 0 : low >= 0) ? 0 : UNKNOWN;
}

static int truth_of(const finder *f, expr_op op, const range *a, const range *b) {
    int below, above;
    switch (op) {
    case EXPR_LT:
    case EXPR_LE:
        return is_less(f, a, b, op == EXPR_LE);
    case EXPR_GT:
    case EXPR_GE:
        return is_less(f, b, a, op == EXPR_GE);
    case EXPR_EQ:
    case EXPR_NE:
        below = is_less(f, a, b, false);
        above = is_less(f, b, a, false);
        return below == 1 || above == 1 ? op == EXPR_NE : UNKNOWN;
    case EXPR_ALL:
        return a->truth == 0 || b->truth == 0 ? 0 : a->truth == 1 && b->truth == 1 ? 1 : UNKNOWN;
    case EXPR_ANY:
        return a->truth == 1 || b->truth == 1 ? 1 : a->truth == 0 && b->truth == 0 ? 0 : UNKNOWN;
    case EXPR_NOT:
        return a->truth == UNKNOWN ? UNKNOWN : !a->truth;
    default:
        return UNKNOWN;
    }
}

static range range_of(const finder *f, expr_id id) {
    static const range zero = {.linear = true, .axis = -1, .truth = UNKNOWN};
    const expr_node *n = expr_get(f->pool, id);
    const range *a = n->operand[0] < 0 ? NULL : &f->ranges[n->operand[0]];
    const range *b = n->operand[1] < 0 ? NULL : &f->ranges[n->operand[1]];
    range r = unknown;
    if (n->op == EXPR_CONSTANT)
        return whole(n->value);
    if (n->op == EXPR_POSITION)
        return place_of(f, n);
    if (n->op == EXPR_ADD || n->op == EXPR_SUBTRACT)
        return sum(f, a, b, n->op == EXPR_ADD ? 1 : -1);
    if (n->op == EXPR_NEGATE)
        return sum(f, &zero, a, -1);
    if (n->op == EXPR_MULTIPLY || n->op == EXPR_DIVIDE)
        return multiple(f, n, a, b);
    if (n->op == EXPR_MIN || n->op == EXPR_MAX)
        return lesser(a, b, n->op == EXPR_MAX);
    if (expr_words[n->op].gives_truth)
        r.truth = truth_of(f, n->op, a, b);
    return r;
}

/* How many live selections have one side alone; with `side`, which. */
static int decide(finder *f, expr_id *side) {
    int count = 0;
    for (expr_id id = 0; id < f->pool->count; id++) {
        const expr_node *n = expr_get(f->pool, id);
        if (!f->live[id])
            continue;
        f->ranges[id] = range_of(f, id);
        const int truth = n->op == EXPR_WHERE ? f->ranges[n->operand[0]].truth : UNKNOWN;
        count += truth != UNKNOWN;
        if (side != NULL)
            side[id] = truth == UNKNOWN ? EXPR_NONE : n->operand[truth ? 1 : 2];
    }
    return count;
}

/* The least margin, of those that decide as much; the other margins stay. */
static void shrink(finder *f, int *margin, int wanted) {
    int least = 0, most = FARTHEST;
    while (least < most) {
        *margin = (least + most) / 2;
        if (decide(f, NULL) == wanted)
            most = *margin;
        else
            least = *margin + 1;
    }
    *margin = most;
}

bool *interior_live(job *j, const expr_pool *pool, const interior *in, const expr_id *roots,
                    int count) {
    bool *live = job_array(j, (size_t)pool->count + 1, sizeof *live);
    for (int i = 0; i < count; i++)
        if (roots[i] != EXPR_NONE)
            live[roots[i]] = true;
    for (expr_id id = pool->count; id-- > 0;) {
        const expr_node *n = expr_get(pool, id);
        if (live[id] && in->side[id] != EXPR_NONE)
            live[in->side[id]] = true;
        for (int i = 0; live[id] && in->side[id] == EXPR_NONE && i < expr_words[n->op].operands;
             i++)
            live[n->operand[i]] = true;
    }
    return live;
}

/* Operations, and places that must be converted, which are not needed in the interior. */
static int saved(const finder *f, const bool *inside) {
    int count = 0;
    for (expr_id id = 0; id < f->pool->count; id++) {
        const expr_op op = expr_get(f->pool, id)->op;
        count += f->live[id] && !inside[id] && (expr_words[op].operands > 0 || op == EXPR_POSITION);
    }
    return count;
}

/* Numbers the selections that `Places` may hold. */
static int *places_of(const finder *f, const interior *in, const bool *inside) {
    int *place = job_array(f->job, (size_t)f->pool->count + 1, sizeof *place), count = 0;
    bool *taps = job_array(f->job, (size_t)f->pool->count + 1, sizeof *taps);
    for (expr_id id = 0; id < f->pool->count; id++) {
        const expr_node *n = expr_get(f->pool, id);
        taps[id] = n->op == EXPR_TAP;
        for (int i = 0; i < expr_words[n->op].operands; i++)
            taps[id] |= taps[n->operand[i]];
        if (inside[id] && in->side[id] != EXPR_NONE && !taps[id] &&
            expr_get(f->pool, in->side[id])->op == EXPR_CONSTANT)
            place[id] = ++count;
    }
    return place;
}

const interior *interior_find(job *j, const model *m, const expr_id *roots, int count) {
    if ((m->positions & (((1u << POSITION_NX) - 1) | 1u << POSITION_STEP)) == 0)
        return NULL;
    finder f = {.job = j, .pool = m->pool, .live = expr_live(m->pool, j, roots, count)};
    f.ranges = job_array(j, (size_t)m->pool->count + 1, sizeof *f.ranges);
    for (int axis = 0; axis <= AXES; axis++)
        f.margin[axis][0] = f.margin[axis][1] = FARTHEST;
    for (int axis = 0; axis < AXES; axis++)
        f.ring[axis] = m->sides[axis][0].kind == BOUNDARY_PERIODIC;
    const int wanted = decide(&f, NULL);
    if (wanted == 0 || wanted > MOST_SELECTIONS)
        return NULL;
    for (int axis = 0; axis <= AXES; axis++)
        for (int end = 0; end < 2; end++)
            shrink(&f, &f.margin[axis][end], wanted);
    interior *in = job_alloc(j, sizeof *in);
    in->side = job_array(j, (size_t)m->pool->count + 1, sizeof *in->side);
    memset(in->side, 0xff, ((size_t)m->pool->count + 1) * sizeof *in->side); /* EXPR_NONE */
    decide(&f, in->side);
    memcpy(in->margin, f.margin, sizeof in->margin);
    in->first_step = f.margin[AXES][0];
    const bool *inside = interior_live(j, m->pool, in, roots, count);
    in->place = places_of(&f, in, inside);
    return saved(&f, inside) >= LEAST_SAVED ? in : NULL;
}

/* ---- as CUDA --------------------------------------------------------------------------------- */

/* Whether the condition holds for the cell at `place`, of the kernel's axis. */
static void write_along(text *out, const emitter *e, const interior *in, int axis) {
    if (axis == 0 && in->first_step > 0)
        text_printf(out, "    if (axis == 0 && (arguments.step < %d%s))\n        return false;\n",
                    in->first_step,
                    e->model->dtype == DTYPE_FLOAT
                        ? job_print(out->job, " || arguments.step >= %d", STEPS_MOST)
                        : "");
    const int of = e->axes[axis];
    const int *margin = of < 0 ? NULL : in->margin[of];
    if (margin == NULL || (margin[0] == 0 && margin[1] == 0))
        return;
    const bool wraps = e->model->sides[of][0].kind == BOUNDARY_PERIODIC;
    text_printf(out, "    if constexpr (axis == %d) {\n", axis);
    text_printf(out,
                wraps ? "        const long long place = wrapped(arguments.origin[%d] + i, "
                        "arguments.global[%d]);\n        return "
                      : "        const long long place = arguments.origin[%d] + i;\n"
                        "        return ",
                axis, axis);
    if (margin[0] > 0)
        text_printf(out, "place >= %d%s", margin[0], margin[1] > 0 ? " && " : "");
    if (margin[1] > 0)
        text_printf(out, "place < arguments.global[%d] - %d", axis, margin[1]);
    if (e->model->dtype == DTYPE_FLOAT)
        text_printf(out, " && arguments.global[%d] <= %d", axis, INTERIOR_MOST);
    text_add(out, ";\n    }\n");
}

void emit_interior_along(text *out, const emitter *e, const interior *in) {
    text_add(out,
             "// Whether conditions on the place have one answer at cell i of an axis, as they "
             "have away from the edges.\n"
             "template <int axis>\n__device__ __forceinline__ bool interior_along(const "
             "Arguments &arguments, long long i) {\n");
    for (int axis = 0; axis < AXES; axis++)
        write_along(out, e, in, axis);
    text_add(out, "    return true;\n}\n\n");
}

void emit_places(text *out, const emitter *e, const interior *in) {
    const expr_pool *pool = e->model->pool;
    expr_id *roots = job_array(out->job, (size_t)pool->count, sizeof *roots);
    const char **targets = job_array(out->job, (size_t)pool->count, sizeof *targets);
    int count = 0;
    emit_interior_along(out, e, in);
    text_add(out, "// What such conditions select: here what they do there.\nstruct Places {\n");
    for (expr_id id = 0; id < pool->count; id++)
        if (in->place[id] > 0) {
            text_printf(out, "    Real place%d = ", in->place[id]);
            emit_constant(out, e->model->dtype, expr_get(pool, in->side[id])->value);
            text_add(out, ";\n");
            targets[count] = job_print(out->job, "places.place%d =", in->place[id]);
            roots[count++] = id;
        }
    text_add(out,
             "};\n\ntemplate <class At>\n__device__ __forceinline__ Places find_places(const At "
             "&at, const Arguments &arguments) {\n    Places places;\n");
    emitter plain = *e;
    plain.interior = NULL;
    emit_statements(out, &plain, roots, targets, count);
    text_add(out, "    return places;\n}\n\n");
}
