/* Facts derived from a model: operations and bytes a point, and a description of its shape.
   Takes: a model. Makes: numbers and one sentence. */
#include "gen/model.h"

double model_textbook_operations(const model *m) {
    return m->textbook_multiplications + m->textbook_additions;
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
    case SHAPE_UPDATE:
        text_add(out, "update of ");
        add_count(out, m->field_count, "field");
        text_add(out, ", ");
        add_count(out, m->points, "tap");
        text_printf(out, ", radius %d", m->radius);
        break;
    }
}
