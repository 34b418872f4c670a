/* The sides of conditions, and the choice of cells. Rows are cut into segments; the faces across x,
   where each row has only a few cells, are cut along y. */
#include "runtime/check/guard.h"

#include <string.h>

#include "base/random.h"
#include "gen/lists/draw.h"
#include "gen/model/family.h"
#include "gen/model/system.h"
#include "runtime/launch/launch.h"

enum { SEGMENT = 1024, SAMPLED_SEGMENT = 128 };

static int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static double points(const cells *c) {
    return (double)c->size[0] * (double)c->size[1] * (double)c->size[2];
}

static double shell_cells(const cells *c) {
    double inner = 1;
    for (int axis = 0; axis < PROGRAM_AXES; axis++) {
        const int64_t within = c->size[axis] - 2 * c->shell[axis];
        inner *= within > 0 ? (double)within : 0;
    }
    return points(c) - inner;
}

/* At most: along each axis there are both ends and both sides of a seam. */
static double near_cells(const cells *c) {
    double count = 1;
    for (int axis = 0; axis < c->dims; axis++) {
        const int64_t beyond = axis == 0 && c->near[0] > 0 ? c->segment : 0;
        count *= (double)least(c->size[axis], 4 * (c->near[axis] + beyond));
    }
    return count;
}

static int deepest(const cells *c) {
    int out = 0;
    for (int axis = 1; axis < c->dims; axis++)
        if (c->near[axis] > c->near[out])
            out = axis;
    return out;
}

/* The shell is made thinner where it alone would be more than half of what may be judged, and the
   blocks' parts smaller where these would be more than a quarter. */
static void choose_depths(cells *c, const program *p, int radius, double most) {
    const program_launch *l = &p->launches[0];
    for (int axis = 0; axis < c->dims; axis++)
        c->shell[axis] = c->near[axis] = radius > 0 ? radius : 1;
    while (shell_cells(c) > most / 2)
        for (int axis = 0; axis < c->dims; axis++)
            c->shell[axis] /= 2;
    for (int k = 0; k < PROGRAM_AXES; k++) {
        const int axis = l->grid.axes[k], block = l->per_block[k];
        if (axis < 0)
            continue;
        c->near[axis] += block;
        const int64_t seams = (c->size[axis] - 1) / block;
        if (seams > 0)
            c->seam[axis] =
                block * (1 + (int64_t)(random_bits(c->seed, (uint64_t)axis) % (uint64_t)seams));
    }
    while (near_cells(c) > most / 4)
        c->near[deepest(c)] /= 2;
}

void cells_choose(cells *c, const program *p, const int64_t size[PROGRAM_AXES], int radius,
                  int64_t most, uint64_t seed) {
    *c = (cells){.dims = p->dims, .seed = random_stream(seed, 0)};
    for (int axis = 0; axis < PROGRAM_AXES; axis++)
        c->size[axis] = size[axis];
    c->all = points(c) <= (double)most;
    c->segment = (int)least(c->all ? SEGMENT : SAMPLED_SEGMENT, size[0]);
    c->segments = (size[0] + c->segment - 1) / c->segment;
    if (c->all)
        return;
    choose_depths(c, p, radius, (double)most);
    const double chosen = shell_cells(c) + near_cells(c);
    c->share = ((double)most - chosen) / (points(c) - shell_cells(c));
    c->seed = random_stream(seed, 1);
}

/* Cells of a row that lie in the faces across x: the lowest and the highest. In one dimension they
   are segments like others. */
static int64_t face_cells(const cells *c) {
    return c->all || c->dims < 2 ? 0 : least(c->size[0], 2 * c->shell[0]);
}

/* What the shell leaves of an axis. */
static int64_t within(const cells *c, int axis) {
    const int64_t inner = c->size[axis] - 2 * c->shell[axis];
    return inner > 0 ? inner : 0;
}

static int64_t columns(const cells *c) {
    return (within(c, 1) + SAMPLED_SEGMENT - 1) / SAMPLED_SEGMENT;
}

static int64_t row_pieces(const cells *c) {
    return c->size[1] * c->size[2] * c->segments;
}

int64_t cells_pieces(const cells *c) {
    const int64_t faces = face_cells(c);
    return row_pieces(c) + (faces > 0 ? faces * within(c, 2) * columns(c) : 0);
}

int cells_longest(const cells *c) {
    return c->segment > SAMPLED_SEGMENT ? c->segment : SAMPLED_SEGMENT;
}

/* Some coordinate of begin … end−1 is in the shell. */
static bool in_shell(const cells *c, int axis, int64_t begin, int64_t end) {
    return begin < c->shell[axis] || end > c->size[axis] - c->shell[axis];
}

static bool is_near(const cells *c, int axis, int64_t begin, int64_t end) {
    const int64_t depth = c->near[axis], seam = c->seam[axis];
    return axis >= c->dims || begin < depth || end > c->size[axis] - depth ||
           (seam > 0 && begin < seam + depth && end > seam - depth);
}

static void get_column(const cells *c, int64_t piece, cells_piece *out) {
    const int64_t faces = face_cells(c), x = piece % faces, rest = piece / faces;
    const int64_t along = rest % columns(c), left = within(c, 1) - along * SAMPLED_SEGMENT;
    *out = (cells_piece){.at = {x < faces / 2 ? x : c->size[0] - faces + x,
                                c->shell[1] + along * SAMPLED_SEGMENT,
                                c->shell[2] + rest / columns(c)},
                         .along = 1,
                         .count = (int)least(left, SAMPLED_SEGMENT),
                         .judged = true};
}

void cells_get(const cells *c, int64_t piece, cells_piece *out) {
    if (piece >= row_pieces(c)) {
        get_column(c, piece - row_pieces(c), out);
        return;
    }
    const int64_t row = piece / c->segments, y = row % c->size[1], z = row / c->size[1];
    int64_t begin = piece % c->segments * c->segment, end = least(begin + c->segment, c->size[0]);
    const bool shell = in_shell(c, 1, y, y + 1) || in_shell(c, 2, z, z + 1) ||
                       (c->dims == 1 && in_shell(c, 0, begin, end));
    const bool judged =
        c->all || shell || piece == 0 ||
        (is_near(c, 0, begin, end) && is_near(c, 1, y, y + 1) && is_near(c, 2, z, z + 1)) ||
        random_unit(c->seed, (uint64_t)piece) < c->share;
    if (!shell && face_cells(c) > 0) {
        begin = begin > c->shell[0] ? begin : c->shell[0];
        end = least(end, c->size[0] - c->shell[0]);
    }
    *out = (cells_piece){
        .at = {begin, y, z}, .count = end > begin ? (int)(end - begin) : 0, .judged = judged};
}

/* ---- sides of conditions --------------------------------------------------------------------- */

int check_array(const program *p, const char *field, bool written, bool previous) {
    for (int i = 0; i < p->array_count; i++) {
        const program_array *a = &p->arrays[i];
        const bool current = strcmp(a->name, a->grid.field) == 0;
        if (strcmp(a->grid.field, field) == 0 && a->written == written &&
            (written || current == !previous))
            return i;
    }
    return -1;
}

const model *check_model(const sg_kernel *k) {
    return k->subject->family->grid.model(k->subject);
}

const system_model *check_system(const sg_kernel *k) {
    const family *f = k->subject->family;
    return f->grid.system != NULL ? f->grid.system(k->subject) : NULL;
}

/* Of the arrays that a model reads and that have no sample yet. */
static void add_samples(job *j, const model *m, const program *p, const double *parameters,
                        bool *known, sample *out) {
    sample by_model[2 * MAX_FIELDS];
    reach_arrays(j, m, parameters, by_model);
    for (int i = 0; i < m->array_count; i++) {
        const char *field = m->fields[m->arrays[i].field].name;
        const int at = check_array(p, field, false, m->arrays[i].previous);
        if (at < 0 || known[at])
            continue;
        out[at] = by_model[i];
        known[at] = true;
    }
}

const sample *check_samples(job *j, const sg_kernel *k, const double *parameters) {
    const program *p = k->program;
    const system_model *system = check_system(k);
    sample *out = job_array(j, (size_t)p->array_count, sizeof *out);
    bool *known = job_array(j, (size_t)p->array_count, sizeof *known);
    for (int i = 0; i < p->array_count; i++)
        out[i] = sample_plain;
    for (int s = 0; system != NULL && s < system->stage_count; s++)
        add_samples(j, system->stages[s].model, p, parameters, known, out);
    add_samples(j, check_model(k), p, parameters, known, out);
    return out;
}

/* One block for the thread: the list, then the conditions as text. */
void check_unjudged(job *j, const sg_kernel *k, const condition_sides *sides, sg_check_result *r) {
    if (sides->count == 0)
        return;
    const size_t list = (size_t)sides->count * sizeof(sg_unjudged);
    size_t bytes = list;
    for (int i = 0; i < sides->count; i++)
        bytes += strlen(sides->list[i].condition) + 1;
    char *kept = context_keep_bytes(j, k->context, job_alloc(j, bytes), bytes);
    sg_unjudged *out = (sg_unjudged *)(void *)kept;
    char *at = kept + list;
    for (int i = 0; i < sides->count; i++) {
        const condition_side *s = &sides->list[i];
        const size_t length = strlen(s->condition) + 1;
        out[i] = (sg_unjudged){.condition = memcpy(at, s->condition, length),
                               .side = s->truth,
                               .taken = s->taken,
                               .of = s->of};
        at += length;
    }
    r->unjudged_count = sides->count;
    r->unjudged = out;
}
