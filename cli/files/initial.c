/* Initial fields from expressions, evaluated in pieces, since a field may be larger than memory. */
#include "cli/files/initial.h"

#include <stdlib.h>
#include <string.h>

enum { PIECE = 1 << 20 }; /* cells */

/* The piece at `at`: whole rows and planes as far as there is room. */
static int64_t find_piece(const initial *in, const int64_t at[3], int64_t end[3]) {
    int64_t room = PIECE, cells = 1;
    bool whole = true;
    for (int axis = 0; axis < 3; axis++) {
        const int64_t left = in->end[axis] - at[axis];
        const int64_t along = !whole ? 1 : left < room ? left : room;
        whole = along == in->end[axis] - in->begin[axis];
        end[axis] = at[axis] + along;
        cells *= along;
        room /= along;
    }
    return cells;
}

/* Moves `at` behind a piece; false at the end. */
static bool advance(const initial *in, int64_t at[3], const int64_t end[3]) {
    for (int axis = 0; axis < 3; axis++) {
        at[axis] = end[axis];
        if (at[axis] < in->end[axis])
            return true;
        at[axis] = in->begin[axis];
    }
    return false;
}

static sg_status each(sg_context *context, const initial *in, double *values,
                      unsigned char *elements, initial_take take, void *user) {
    const size_t bytes = dtype_words[in->type].bytes;
    int64_t at[3], end[3];
    memcpy(at, in->begin, sizeof at);
    do {
        const int64_t cells = find_piece(in, at, end);
        const sg_status status =
            sg_evaluate_field(context, in->name, in->expression, in->size, at, end, values);
        if (status != SG_OK)
            return status;
        for (int64_t i = 0; i < cells; i++)
            element_put(in->type, values[i], elements + (size_t)i * bytes);
        if (!take(user, at, end, elements))
            return SG_OK;
    } while (advance(in, at, end));
    return SG_OK;
}

sg_status initial_each(sg_context *context, const initial *in, initial_take take, void *user) {
    for (int axis = 0; axis < 3; axis++)
        if (in->begin[axis] >= in->end[axis])
            return SG_OK;
    double *values = malloc(PIECE * sizeof *values);
    unsigned char *elements = malloc(PIECE * sizeof(double));
    const sg_status status = values != NULL && elements != NULL
                                 ? each(context, in, values, elements, take, user)
                                 : SG_ERROR_MEMORY;
    free(values);
    free(elements);
    return status;
}
