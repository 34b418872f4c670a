/* The shapes, their specs, and the textbook's schedules for them. */
#include <stdlib.h>
#include <string.h>

#include "stencils.h"

/* Steps of the heat equation, as in specs/; boxes have weights that fall with the distance. */
const shape shapes[SHAPES] = {
    {"1d3", "1D 3-point", 1, 3, "star(1, 1)",
     "identity() + 0.25 * laplacian { dims = 1, accuracy = 2 }", 1, 0.97, 10},
    {"1d5", "1D 5-point", 1, 5, "star(1, 2)",
     "identity() + 0.2 * laplacian { dims = 1, accuracy = 4 }", 1.07, 0.97, 8},
    {"1d7", "1D 7-point", 1, 7, "star(1, 3)",
     "identity() + 0.15 * laplacian { dims = 1, accuracy = 6 }", 1.1, 0.97, 5},
    {"2d5", "2D 5-point star", 2, 5, "star(2, 1)",
     "identity() + 0.2 * laplacian { dims = 2, accuracy = 2 }", 1, 0.97, 0},
    {"2d9", "2D 9-point star", 2, 9, "star(2, 2)",
     "identity() + 0.1 * laplacian { dims = 2, accuracy = 4 }", 1.07, 0.97, 0},
    {"2d9box", "2D 9-point box", 2, 9, "box(2, 1)",
     "{ 1/16, 2/16, 1/16, 2/16, 4/16, 2/16, 1/16, 2/16, 1/16 }", 1, 0.97, 0},
    {"2d13", "2D 13-point star", 2, 13, "star(2, 3)",
     "identity() + 0.1 * laplacian { dims = 2, accuracy = 6 }", 1.1, 0.93, 0},
    {"2d17", "2D 17-point star", 2, 17, "star(2, 4)",
     "identity() + 0.1 * laplacian { dims = 2, accuracy = 8 }", 1.1, 0.9, 0},
    {"2d25box", "2D 25-point box", 2, 25, "box(2, 2)",
     "{ 1/81, 2/81, 3/81, 2/81, 1/81,"
     " 2/81, 4/81, 6/81, 4/81, 2/81,"
     " 3/81, 6/81, 9/81, 6/81, 3/81,"
     " 2/81, 4/81, 6/81, 4/81, 2/81,"
     " 1/81, 2/81, 3/81, 2/81, 1/81, }",
     1, 0.88, 0},
    {"2d49box", "2D 49-point box", 2, 49, "box(2, 3)",
     "{ 1/256, 2/256, 3/256, 4/256, 3/256, 2/256, 1/256,"
     " 2/256, 4/256, 6/256, 8/256, 6/256, 4/256, 2/256,"
     " 3/256, 6/256, 9/256, 12/256, 9/256, 6/256, 3/256,"
     " 4/256, 8/256, 12/256, 16/256, 12/256, 8/256, 4/256,"
     " 3/256, 6/256, 9/256, 12/256, 9/256, 6/256, 3/256,"
     " 2/256, 4/256, 6/256, 8/256, 6/256, 4/256, 2/256,"
     " 1/256, 2/256, 3/256, 4/256, 3/256, 2/256, 1/256, }",
     1, 0.8, 0},
    {"3d7", "3D 7-point star", 3, 7, "star(3, 1)",
     "identity() + 0.1 * laplacian { dims = 3, accuracy = 2 }", 1, 0.95, 0},
    {"3d13", "3D 13-point star", 3, 13, "star(3, 2)",
     "identity() + 0.05 * laplacian { dims = 3, accuracy = 4 }", 1.06, 0.92, 0},
    {"3d19", "3D 19-point star", 3, 19, "star(3, 3)",
     "identity() + 0.03 * laplacian { dims = 3, accuracy = 6 }", 1.06, 0, 0},
    {"3d19cube", "3D 19-point (centre, faces and edges of the cube)", 3, 19,
     "points { {0,-1,-1}, {-1,0,-1}, {0,0,-1}, {1,0,-1}, {0,1,-1}, {-1,-1,0}, {0,-1,0},"
     " {1,-1,0}, {-1,0,0}, {0,0,0}, {1,0,0}, {-1,1,0}, {0,1,0}, {1,1,0},"
     " {0,-1,1}, {-1,0,1}, {0,0,1}, {1,0,1}, {0,1,1} }",
     "{ 1/60, 1/60, 2/60, 1/60, 1/60, 1/60, 2/60, 1/60, 2/60, 36/60,"
     " 2/60, 1/60, 2/60, 1/60, 1/60, 1/60, 2/60, 1/60, 1/60 }",
     1, 0, 0},
    {"3d25", "3D 25-point star", 3, 25, "star(3, 4)",
     "identity() + 0.03 * laplacian { dims = 3, accuracy = 8 }", 1.08, 0, 0},
    {"3d27", "3D 27-point box", 3, 27, "box(3, 1)",
     "{ 0.01,0.02,0.01, 0.02,0.03,0.02, 0.01,0.02,0.01,"
     " 0.02,0.03,0.02, 0.03,0.4,0.03, 0.02,0.03,0.02,"
     " 0.01,0.02,0.01, 0.02,0.03,0.02, 0.01,0.02,0.01 }",
     1, 0, 0},
    {"3d125box", "3D 125-point box", 3, 125, "box(3, 2)",
     "{ 1/729, 2/729, 3/729, 2/729, 1/729,"
     " 2/729, 4/729, 6/729, 4/729, 2/729,"
     " 3/729, 6/729, 9/729, 6/729, 3/729,"
     " 2/729, 4/729, 6/729, 4/729, 2/729,"
     " 1/729, 2/729, 3/729, 2/729, 1/729,"
     " 2/729, 4/729, 6/729, 4/729, 2/729,"
     " 4/729, 8/729, 12/729, 8/729, 4/729,"
     " 6/729, 12/729, 18/729, 12/729, 6/729,"
     " 4/729, 8/729, 12/729, 8/729, 4/729,"
     " 2/729, 4/729, 6/729, 4/729, 2/729,"
     " 3/729, 6/729, 9/729, 6/729, 3/729,"
     " 6/729, 12/729, 18/729, 12/729, 6/729,"
     " 9/729, 18/729, 27/729, 18/729, 9/729,"
     " 6/729, 12/729, 18/729, 12/729, 6/729,"
     " 3/729, 6/729, 9/729, 6/729, 3/729,"
     " 2/729, 4/729, 6/729, 4/729, 2/729,"
     " 4/729, 8/729, 12/729, 8/729, 4/729,"
     " 6/729, 12/729, 18/729, 12/729, 6/729,"
     " 4/729, 8/729, 12/729, 8/729, 4/729,"
     " 2/729, 4/729, 6/729, 4/729, 2/729,"
     " 1/729, 2/729, 3/729, 2/729, 1/729,"
     " 2/729, 4/729, 6/729, 4/729, 2/729,"
     " 3/729, 6/729, 9/729, 6/729, 3/729,"
     " 2/729, 4/729, 6/729, 4/729, 2/729,"
     " 1/729, 2/729, 3/729, 2/729, 1/729 }",
     1, 0, 0},
};

const textbook_method textbook[TEXTBOOK_METHODS] = {
    {"naive", {"naive tile=256 vec=1", "naive tile=32x8 vec=1", "naive tile=32x4x4 vec=1"}},
    {"tiled", {"tiled tile=256", "tiled tile=32x32", "tiled tile=8x8x8"}},
    {"coarsened",
     {"coarsened tile=256 coarsen=x4", "coarsened tile=256 coarsen=y64",
      "coarsened tile=32x32 coarsen=z32"}},
    {"register",
     {"register tile=256 coarsen=x4", "register tile=256 coarsen=y64",
      "register tile=32x32 coarsen=z32"}},
};

const char *const weights_words[WEIGHTS] = {"heat", "distinct", "given"};

/* Positive weights of the sum 1, no two alike: such sums cannot be factored. */
static void write_distinct(FILE *out, int points, const char *name) {
    for (int i = 1; i <= points; i++) {
        fputs(i == 1 ? "{ " : ", ", out);
        if (name != NULL)
            fprintf(out, "%s%d = ", name, i);
        fprintf(out, "%d/%d", 2 * i, points * (points + 1));
    }
    fputs(" }", out);
}

static void write_given(FILE *out, int points) {
    for (int i = 1; i <= points; i++)
        fprintf(out, "%s param 'c%d'", i == 1 ? "{" : ",", i);
    fputs(" },\n  parameters = ", out);
    write_distinct(out, points, "c");
}

char *shape_spec(const shape *s, bool wide, weights weights, const char *boundary) {
    char *text = NULL;
    size_t length;
    FILE *out = must_have(open_memstream(&text, &length));
    fprintf(out,
            "return stencil {\n  name = 'stencil%s',\n  shape = %s,\n  coefficients = ", s->name,
            s->tree);
    if (weights == WEIGHTS_GIVEN)
        write_given(out, s->points);
    else if (weights == WEIGHTS_DISTINCT)
        write_distinct(out, s->points, NULL);
    else
        fputs(s->coefficients, out);
    fprintf(out, ",\n  dtype = '%s',\n  boundary = '%s',\n}\n", wide ? "double" : "float",
            boundary);
    must_have(fclose(out) == 0 ? text : NULL);
    return text;
}

double shape_growth(const shape *s, weights weights) {
    return weights == WEIGHTS_HEAT ? s->growth : 1;
}
