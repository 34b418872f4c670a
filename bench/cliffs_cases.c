/* The problems of the search for cliffs: lines, random ones, their specs and data. */
#include "cliffs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"

/* A star and a box make u out of u alone; a wave has two time levels; a medium has a coefficient
   field. */
enum { STAR, BOX, WAVE, MEDIUM };
enum { FLOAT, DOUBLE, HALF };
static const char *const kinds[] = {"star", "box", "wave", "medium", NULL};
static const char *const types[] = {"float", "double", "half", NULL};
static const char *const boundaries[] = {"fixed", "zero", "clamp", "periodic", "mirror", NULL};

static const char *const known[] = {
    "box 3 1 double zero 61x191x363 1",    "wave 3 2 double clamp 49x372x294 1",
    "star 3 1 double zero 47x269x83 1",    "star 3 3 double fixed 55x199x314 1",
    "star 3 3 float fixed 67x323x343 1",   "wave 3 2 double zero 198x297x44 1",
    "wave 2 4 double fixed 1238x4343 1",   "box 3 2 float fixed 384x384x384 64",
    "star 3 1 float fixed 511x511x511 1",  "star 3 1 float fixed 1000x1000x4 1",
    "star 2 1 float fixed 16777216x3 1",   "star 3 1 float fixed 32x32x32 1",
    "star 3 2 double zero 64x64x64 1",     "star 2 1 float fixed 512x512 1",
    "box 3 2 double clamp 301x277x355 64", "star 3 2 float fixed 301x277x355 64",
    "medium 2 3 float fixed 3001x4001 64", "wave 2 2 float clamp 4096x4096 64",
};

const char *problem_known(int index) {
    return index < (int)(sizeof known / sizeof *known) ? known[index] : NULL;
}

/* ---- lines ----------------------------------------------------------------------------------- */

static int find(const char *const *words, const char *word) {
    for (int i = 0; words[i] != NULL; i++)
        if (strcmp(words[i], word) == 0)
            return i;
    return -1;
}

bool problem_parse(const char *line, problem *p) {
    char kind[16], type[16], boundary[16], size[48];
    long long steps = 0;
    if (sscanf(line, "%15s %d %d %15s %15s %47s %lld", kind, &p->dims, &p->radius, type, boundary,
               size, &steps) != 7)
        return false;
    p->kind = find(kinds, kind);
    p->type = find(types, type);
    p->boundary = find(boundaries, boundary);
    p->steps = steps;
    const char *at = size;
    for (int axis = 0; axis < AXES; axis++) {
        char *end = (char *)at;
        p->size[axis] = axis < p->dims ? strtoll(at, &end, 10) : 1;
        if (p->size[axis] < 1 || (axis < p->dims && *end != (axis + 1 < p->dims ? 'x' : '\0')))
            return false;
        at = end + (axis + 1 < p->dims);
    }
    return p->kind >= 0 && p->type >= 0 && p->boundary >= 0 && p->dims >= 1 && p->dims <= AXES &&
           p->radius >= 1 && p->radius <= 8 && steps >= 1;
}

void problem_print(const problem *p, char out[LINE]) {
    char size[64];
    int length = snprintf(size, sizeof size, "%lld", (long long)p->size[0]);
    for (int axis = 1; axis < p->dims; axis++)
        length += snprintf(size + length, sizeof size - (size_t)length, "x%lld",
                           (long long)p->size[axis]);
    snprintf(out, LINE, "%s %d %d %s %s %s %lld", kinds[p->kind], p->dims, p->radius,
             types[p->type], boundaries[p->boundary], size, (long long)p->steps);
}

/* ---- random ones ----------------------------------------------------------------------------- */

/* A whole number of [low, high], by its logarithm. */
static int64_t between(uint64_t *random, double low, double high) {
    const double unit = (double)(random_next(random) >> 11) / (double)(INT64_C(1) << 53);
    return (int64_t)(low * pow((high + 1) / low, unit));
}

static int any(uint64_t *random, int count) {
    return (int)(random_next(random) % (uint64_t)count);
}

/* Grids of all shapes: about as long along every axis; short along x; thin along the last axis;
   small; long rows. */
static void draw_size(problem *p, uint64_t *random) {
    static const double most_side[AXES] = {3e7, 6000, 320};
    const int last = p->dims - 1;
    int shape = any(random, 8);
    if (p->steps > 1 || p->dims == 1)
        shape = 0;
    for (int axis = 0; axis < AXES; axis++)
        p->size[axis] = axis > last ? 1 : between(random, most_side[last] / 6, most_side[last]);
    if (shape == 1 || shape == 2)
        p->size[0] = between(random, 3, 150);
    else if (shape == 3)
        p->size[last] = between(random, 1, 10);
    else if (shape == 4)
        for (int axis = 0; axis <= last; axis++)
            p->size[axis] = between(random, 12, last == 1 ? 1000 : 128);
    else if (shape == 5 && last == 1)
        p->size[0] = between(random, 1e5, 8e6), p->size[1] = between(random, 1, 4);
    if (any(random, 3) == 0) /* some rows are packs */
        p->size[0] = (p->size[0] + 3) / 4 * 4;
}

problem problem_draw(uint64_t seed, uint64_t index) {
    uint64_t random = random_stream(seed, index);
    problem p = {.steps = any(&random, 6) == 0 ? 64 : 1};
    p.kind = any(&random, 4);
    const int dims = any(&random, 8);
    p.dims = dims < 4 ? 3 : dims < 7 ? 2 : 1;
    p.radius = 1 + any(&random, p.kind == BOX ? 2 : 4);
    const int type = any(&random, 10);
    p.type = type < 5 ? FLOAT : type < 9 ? DOUBLE : HALF;
    const int boundary = any(&random, 8);
    p.boundary = boundary < 5 ? boundary : boundary % 2;
    draw_size(&p, &random);
    return p;
}

bool problem_neighbour(const problem *p, problem *out) {
    static const int64_t multiple[AXES][AXES] = {{4096, 1, 1}, {16, 8, 1}, {16, 8, 4}};
    bool differs = false;
    *out = *p;
    for (int axis = 0; axis < p->dims; axis++) {
        const int64_t of = multiple[p->dims - 1][axis];
        out->size[axis] = (p->size[axis] + of - 1) / of * of;
        differs |= out->size[axis] != p->size[axis];
    }
    return differs;
}

/* ---- specs ----------------------------------------------------------------------------------- */

/* Positive weights of the sum 1, no two alike. */
static void write_box(FILE *out, const problem *p) {
    int points = 1;
    for (int axis = 0; axis < p->dims; axis++)
        points *= 2 * p->radius + 1;
    fprintf(out, "shape = box(%d, %d), coefficients = {", p->dims, p->radius);
    for (int i = 1; i <= points; i++)
        fprintf(out, "%s%d/%d", i == 1 ? "" : ",", 2 * i, points * (points + 1));
    fputs("}", out);
}

char *problem_spec(const problem *p) {
    static const char *const centre[AXES] = {"0", "0,0", "0,0,0"};
    const char *const at = centre[p->dims - 1];
    char *text = NULL, laplace[64];
    size_t length;
    FILE *out = must_have(open_memstream(&text, &length));
    snprintf(laplace, sizeof laplace, "laplacian { dims = %d, accuracy = %d }", p->dims,
             2 * p->radius);
    fputs("return stencil { name = 'cliff', ", out);
    if (p->kind == STAR)
        fprintf(out, "shape = star(%d, %d), coefficients = identity() + 0.1 * %s", p->dims,
                p->radius, laplace);
    else if (p->kind == BOX)
        write_box(out, p);
    else if (p->kind == WAVE)
        fprintf(out,
                "fields = { u = { use = 'inout', levels = 2 } }, update = function(f) return "
                "2 * f.u(%s) - f.u.prev(%s) + 0.1 * apply(%s, f.u) end",
                at, at, laplace);
    else
        fprintf(out,
                "fields = { u = 'inout', c = 'in' }, update = function(f) return f.u(%s) + "
                "0.1 * f.c(%s) * apply(%s, f.u) end",
                at, at, laplace);
    fprintf(out, ", dtype = '%s', boundary = '%s'%s }\n", types[p->type == DOUBLE],
            boundaries[p->boundary], p->type == HALF ? ", storage = 'half'" : "");
    must_have(fclose(out) == 0 ? text : NULL);
    return text;
}

/* ---- data ------------------------------------------------------------------------------------ */

double problem_points(const problem *p) {
    return (double)p->size[0] * (double)p->size[1] * (double)p->size[2];
}

static size_t element(const problem *p) {
    return p->type == DOUBLE ? 8 : p->type == FLOAT ? 4 : 2;
}

size_t problem_bytes(const problem *p) {
    return (size_t)problem_points(p) * element(p);
}

/* A piece of random numbers, again and again; its length is odd, so that rows do not resemble each
   other. */
void problem_fill(const problem *p, void *to) {
    enum { PIECE = 65535 };
    const size_t all = (size_t)problem_points(p);
    for (size_t i = 0; i < all && i < PIECE; i++) {
        const float value = (float)(2 * random_unit(1, i) - 1);
        if (p->type == DOUBLE)
            ((double *)to)[i] = (double)value;
        else if (p->type == FLOAT)
            ((float *)to)[i] = value;
        else
            sg_to_half((uint16_t *)to + i, &value, 1);
    }
    for (size_t i = PIECE; i < all; i += PIECE)
        memcpy((char *)to + i * element(p), to, (all - i < PIECE ? all - i : PIECE) * element(p));
}

double problem_value(const problem *p, const void *data, size_t i) {
    float value;
    if (p->type == DOUBLE)
        return ((const double *)data)[i];
    if (p->type == FLOAT)
        return (double)((const float *)data)[i];
    sg_from_half(&value, (const uint16_t *)data + i, 1);
    return (double)value;
}

/* What rounding may do to values of about 1. What is wrong is wrong by a tenth. */
double problem_tolerance(const problem *p, int64_t steps) {
    static const int digits[] = {24, 53, 11};
    const double points = p->kind == BOX ? pow(2 * p->radius + 1, p->dims) : 8 * p->radius;
    return (p->type == HALF ? 4 : 8 * points) * (double)steps * ldexp(1, -digits[p->type]);
}
