/* The vocabularies of specs, and what each operation makes of plain numbers. */
#include "gen/expr/expr.h"

#include <assert.h>
#include <math.h>

const word_row boundary_words[BOUNDARY_COUNT] = {
    [BOUNDARY_FIXED] = {"fixed", "a cell whose shape reaches over the edge keeps its value"},
    [BOUNDARY_ZERO] = {"zero", "cells outside read as 0"},
    [BOUNDARY_CONSTANT] = {"constant", "cells outside read as the given value"},
    [BOUNDARY_CLAMP] = {"clamp", "cells outside read as the nearest cell of the edge"},
    [BOUNDARY_MIRROR] = {"mirror", "cells outside read as their reflection about the edge cell, "
                                   "which is not repeated"},
    [BOUNDARY_PERIODIC] = {"periodic", "the grid repeats without end"},
};

const char *const use_words[USE_COUNT] = {"in", "out", "inout"};

const word_row position_words[POSITION_ALL] = {
    {"x", "the cell's index along x in the whole grid, from 0"},
    {"y", "the cell's index along y"},
    {"z", "the cell's index along z"},
    {"nx", "cells of the whole grid along x"},
    {"ny", "cells of the whole grid along y"},
    {"nz", "cells of the whole grid along z"},
    {"step", "which step of the run it is, from 0"},
    {"rest_x", "the cells of the whole grid beyond this one along x"},
    {"rest_y", "the same along y"},
    {"rest_z", "the same along z"},
};

const char axis_names[AXES] = {'x', 'y', 'z'};

const expr_word expr_words[EXPR_OP_COUNT] = {
    [EXPR_CONSTANT] = {"constant", 0, false, false, false, 0, NULL},
    [EXPR_PARAMETER] = {"parameter", 0, false, false, false, 0, NULL},
    [EXPR_TAP] = {"tap", 0, false, false, false, 0, NULL},
    [EXPR_POSITION] = {"position", 0, false, false, false, 0, NULL},
    [EXPR_ADD] = {"+", 2, false, false, false, 1, NULL},
    [EXPR_SUBTRACT] = {"-", 2, false, false, false, 1, NULL},
    [EXPR_MULTIPLY] = {"*", 2, false, false, false, 1, NULL},
    [EXPR_DIVIDE] = {"/", 2, false, false, false, 1, NULL},
    [EXPR_NEGATE] = {"-", 1, false, false, false, 1, NULL},
    [EXPR_MIN] = {"min", 2, false, false, true, 1, "the least of two or more numbers"},
    [EXPR_MAX] = {"max", 2, false, false, true, 1, "the greatest of two or more numbers"},
    [EXPR_ABS] = {"abs", 1, false, false, true, 1, "the absolute value"},
    [EXPR_SQRT] = {"sqrt", 1, false, false, true, 1, "the square root"},
    [EXPR_EXP] = {"exp", 1, false, false, true, 1, "e to the power of x"},
    [EXPR_LOG] = {"log", 1, false, false, true, 1, "the natural logarithm"},
    [EXPR_SIN] = {"sin", 1, false, false, true, 1, "the sine of x radians"},
    [EXPR_COS] = {"cos", 1, false, false, true, 1, "the cosine of x radians"},
    [EXPR_TANH] = {"tanh", 1, false, false, true, 1, "the hyperbolic tangent"},
    [EXPR_POW] = {"pow", 2, false, false, true, 1, "x to the power of y, also written x ^ y"},
    [EXPR_FLOOR] = {"floor", 1, false, false, true, 1, "the greatest whole number not above x"},
    [EXPR_LT] = {"lt", 2, false, true, true, 1, "the condition a < b"},
    [EXPR_LE] = {"le", 2, false, true, true, 1, "the condition a <= b"},
    [EXPR_GT] = {"gt", 2, false, true, true, 1, "the condition a > b"},
    [EXPR_GE] = {"ge", 2, false, true, true, 1, "the condition a >= b"},
    [EXPR_EQ] = {"eq", 2, false, true, true, 1, "the condition a == b"},
    [EXPR_NE] = {"ne", 2, false, true, true, 1, "the condition a ~= b"},
    [EXPR_ALL] = {"all", 2, true, true, true, 1, "true where all of two or more conditions are"},
    [EXPR_ANY] = {"any", 2, true, true, true, 1, "true where one of two or more conditions is"},
    [EXPR_NOT] = {"invert", 1, true, true, true, 1, "true where the condition is false"},
    [EXPR_WHERE] = {"where", 3, true, false, true, 1, "a where the condition holds, else b"},
    [EXPR_FMA] = {"fma", 3, false, false, false, 2, "a multiply-add"},
};

/* NaN in either operand gives NaN, unlike fmin and fmax. */
static double least(double a, double b) {
    return isnan(a) || isnan(b) ? NAN : a < b ? a : b;
}

/* The functions of long double, unlike those of double, have no variants by processor feature that
   differ in the last bit. */
double expr_evaluate(expr_op op, double a, double b, double c) {
    switch (op) {
    case EXPR_ADD:
        return a + b;
    case EXPR_SUBTRACT:
        return a - b;
    case EXPR_MULTIPLY:
        return a * b;
    case EXPR_DIVIDE:
        return a / b;
    case EXPR_NEGATE:
        return -a;
    case EXPR_MIN:
        return least(a, b);
    case EXPR_MAX:
        return -least(-a, -b);
    case EXPR_ABS:
        return fabs(a);
    case EXPR_SQRT:
        return sqrt(a);
    case EXPR_EXP:
        return (double)expl(a);
    case EXPR_LOG:
        return (double)logl(a);
    case EXPR_SIN:
        return (double)sinl(a);
    case EXPR_COS:
        return (double)cosl(a);
    case EXPR_TANH:
        return (double)tanhl(a);
    case EXPR_POW:
        return (double)powl(a, b);
    case EXPR_FLOOR:
        return floor(a);
    case EXPR_LT:
        return a < b;
    case EXPR_LE:
        return a <= b;
    case EXPR_GT:
        return a > b;
    case EXPR_GE:
        return a >= b;
    case EXPR_EQ:
        return a == b;
    case EXPR_NE:
        return a != b;
    case EXPR_ALL:
        return a != 0 && b != 0;
    case EXPR_ANY:
        return a != 0 || b != 0;
    case EXPR_NOT:
        return a == 0;
    case EXPR_WHERE:
        return a != 0 ? b : c;
    case EXPR_FMA:
        return fma(a, b, c);
    default:
        assert(!"not an operation");
        return NAN;
    }
}

const char **word_names(job *j, const word_row *words, int count) {
    const char **names = job_array(j, (size_t)count, sizeof *names);
    for (int i = 0; i < count; i++)
        names[i] = words[i].name;
    return names;
}
