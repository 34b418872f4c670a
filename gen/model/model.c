/* Facts derived from a model: operations and bytes a point, and its shape and boundary in words.
   Takes: a model. Makes: numbers and phrases. */
#include "gen/model/model.h"

double model_textbook_operations(const model *m) {
    return m->nonlinear ? 0 : m->textbook_multiplications + m->textbook_additions;
}

double model_bytes_per_point(const model *m) {
    int arrays = m->output_count;
    for (int i = 0; i < m->array_count; i++)
        arrays += m->arrays[i].used;
    return (double)arrays * (double)dtype_words[m->dtype].bytes;
}

static void add_count(text *out, int count, const char *noun) {
    text_printf(out, "%d %s%s", count, noun, count == 1 ? "" : "s");
}

void model_describe(const model *m, text *out) {
    text_printf(out, "%dD ", m->dims);
    switch (m->shape) {
    case SHAPE_STAR:
    case SHAPE_BOX:
        text_printf(out, "%s of radius %d, ", m->shape == SHAPE_STAR ? "star" : "box", m->radius);
        add_count(out, m->points, "point");
        break;
    case SHAPE_POINTS:
        text_add(out, "shape of ");
        add_count(out, m->points, "point");
        text_printf(out, ", radius %d", m->radius);
        break;
    case SHAPE_CONVOLUTION:
        text_add(out, "convolution, ");
        for (int axis = m->dims; axis-- > 0;)
            text_printf(out, axis > 0 ? "%dx" : "%d", m->low[axis] + 1 + m->high[axis]);
        text_add(out, m->points == 1 ? " weight" : " weights");
        break;
    case SHAPE_UPDATE:
        text_add(out, "update of ");
        add_count(out, m->field_count, "field");
        text_add(out, ", ");
        add_count(out, m->points, "tap");
        text_printf(out, ", radius %d", m->radius);
        break;
    }
}

bool model_same_side(const model_side *a, const model_side *b) {
    return a->kind == b->kind && (a->kind != BOUNDARY_CONSTANT || a->value == b->value);
}

bool model_same_sides(const model *m) {
    bool same = true;
    for (int axis = 0; axis < m->dims; axis++)
        for (int side = 0; side < 2; side++)
            same = same && model_same_side(&m->sides[axis][side], &m->sides[0][0]);
    return same;
}

static void describe_side(const model_side *side, text *out) {
    text_add(out, boundary_words[side->kind].name);
    if (side->kind != BOUNDARY_CONSTANT)
        return;
    text_add(out, "(");
    text_double(out, side->value);
    text_add(out, ")");
}

void model_describe_boundary(const model *m, text *out) {
    if (model_same_sides(m)) {
        describe_side(&m->sides[0][0], out);
        return;
    }
    for (int axis = 0; axis < m->dims; axis++) {
        const model_side *sides = m->sides[axis];
        text_printf(out, "%s%c ", axis == 0 ? "" : ", ", axis_names[axis]);
        describe_side(&sides[0], out);
        if (model_same_side(&sides[0], &sides[1]))
            continue;
        text_add(out, "/");
        describe_side(&sides[1], out);
    }
}

void model_default_size(int dims, bool gpu, int64_t size[AXES]) {
    static const int64_t edge[2][AXES] = {{1 << 20, 1024, 128}, {1 << 26, 8192, 512}};
    for (int axis = 0; axis < AXES; axis++)
        size[axis] = axis < dims ? edge[gpu][dims - 1] : 1;
}
