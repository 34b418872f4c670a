/* Dividing a grid: the process grid, the part of each rank, and its neighbours. */
#include "base/text.h"
#include "runtime/team/team.h"

/* Where part `place` of `parts` begins. */
static int64_t parts_begin(int64_t size, int parts, int place) {
    const int64_t each = size / parts, longer = size % parts;
    return place * each + (place < longer ? place : longer);
}

int64_t parts_steps(const program *p, const int64_t global[3], int64_t most) {
    return steps_choose(p, global, most, false, true).steps;
}

void parts_widths(const program *p, int64_t depth, int64_t low[3], int64_t high[3]) {
    for (int axis = 0; axis < PROGRAM_AXES; axis++) {
        low[axis] = depth * p->grid.low[axis];
        high[axis] = depth * p->grid.high[axis];
    }
}

/* What a way of dividing asks of parts: the widths of ghost cells, for so many steps a launch. */
typedef struct needs {
    const program *program;
    const int64_t *global;
    int64_t steps, low[3], high[3];
} needs;

static needs needs_of(const program *p, const int64_t global[3], int64_t steps, int launches) {
    needs n = {.program = p, .global = global, .steps = steps};
    parts_widths(p, steps * (launches > 1 ? launches : 1), n.low, n.high);
    return n;
}

/* The cells that parts need along an axis: those of their neighbours' ghost cells, those to which
   mirrors turn reads back, and enough for every way that is taken. */
static int64_t needed(const needs *n, int axis) {
    const program *p = n->program;
    const int64_t low = n->low[axis], high = n->high[axis];
    int64_t need = larger(larger(1, p->grid.turned[axis]), larger(low, high));
    for (int way = 0; p->grid.ways && way < program_own_launches(p) - 1; way++) {
        const program_launch *w = &p->launches[way];
        if (w->grid.cooperative ? n->steps == 1 : w->grid.steps > n->steps)
            continue;
        for (int k = 0; k < PROGRAM_AXES && program_way_fits(w, n->global); k++)
            if (w->grid.axes[k] ==
                axis) /* the first part and the last have ghost cells on one side */
                need = larger(need, w->grid.least[k] - (low < high ? low : high));
    }
    return need;
}

/* The axis along which parts have too few cells for their neighbours, or which none can divide; −1:
   none. */
static int too_thin(const needs *n, const int ranks[3]) {
    const program *p = n->program;
    for (int axis = 0; axis < p->dims; axis++)
        if (ranks[axis] > 1 &&
            (p->grid.uncut[axis] || n->global[axis] / ranks[axis] < needed(n, axis)))
            return axis;
    return -1;
}

/* Bytes that the exchange of a part moves, weighted by what it costs to gather them: planes of z
   lie in one piece, rows of y in pieces of a row, and columns of x in single cells. */
static double surface(const needs *n, const int ranks[3]) {
    static const double weight[3] = {8, 1.25, 1};
    const int dims = n->program->dims;
    double sum = 0;
    for (int axis = 0; axis < dims; axis++) {
        double area = (double)(n->low[axis] + n->high[axis]);
        if (ranks[axis] == 1)
            continue;
        for (int other = 0; other < dims; other++)
            area *= other == axis ? 1 : (double)n->global[other] / ranks[other];
        sum += area * weight[axis == dims - 1 ? 2 : axis];
    }
    return sum;
}

/* The best process grid of so many ranks whose parts are thick enough; false: there is none. */
static bool choose(const needs *n, int ranks, int out[3]) {
    const int dims = n->program->dims;
    double least = -1;
    for (int z = 1; z <= (dims > 2 ? ranks : 1); z++)
        for (int y = 1; ranks % z == 0 && y <= (dims > 1 ? ranks / z : 1); y++) {
            const int grid[3] = {ranks / z / y, y, z};
            if (ranks / z % y != 0 || too_thin(n, grid) >= 0)
                continue;
            const double cost = surface(n, grid);
            if (least >= 0 && cost > least)
                continue;
            least = cost;
            for (int axis = 0; axis < 3; axis++)
                out[axis] = grid[axis];
        }
    return least >= 0;
}

const char *parts_text(job *j, const program *p, const int grid[3]) {
    return p->dims == 1   ? job_print(j, "%d", grid[0])
           : p->dims == 2 ? job_print(j, "%dx%d", grid[0], grid[1])
                          : job_print(j, "%dx%dx%d", grid[0], grid[1], grid[2]);
}

/* Says what works instead: the best grid of as many ranks, else of the most ranks that can be. */
static noreturn void refuse(job *j, const needs *n, const int grid[3]) {
    const program *p = n->program;
    int ranks = grid[0] * grid[1] * grid[2], other[3];
    const int given = ranks, axis = too_thin(n, grid);
    while (!choose(n, ranks, other))
        ranks--; /* one rank always works */
    const char *works = job_print(j, "%s (%s) work%s",
                                  ranks == given ? "as many ranks" : text_count(j, ranks, "rank"),
                                  parts_text(j, p, other), ranks == 1 ? "s" : "");
    if (p->grid.uncut[axis])
        job_fail(
            j, FAULT_PLAN, NULL, 0,
            "'%s' on %s ranks: %c cannot be divided, as some fields, stages or monitors have a "
            "periodic boundary there and others do not; %s",
            p->name, parts_text(j, p, grid), "xyz"[axis], works);
    job_fail(
        j, FAULT_PLAN, NULL, 0,
        "'%s' on %s ranks: a part would have %s along %c, and needs %lld for the ghost cells of "
        "its neighbours and the steps of a launch; %s",
        p->name, parts_text(j, p, grid), text_count(j, n->global[axis] / grid[axis], "cell"),
        "xyz"[axis], (long long)needed(n, axis), works);
}

/* The process grid that the caller wants; false: the caller leaves the choice. */
static bool take_wanted(job *j, const program *p, int ranks, const int *wanted, int out[3]) {
    if (wanted == NULL || (wanted[0] == 0 && wanted[1] == 0 && wanted[2] == 0))
        return false;
    int64_t product = 1;
    for (int axis = 0; axis < 3; axis++) {
        out[axis] = wanted[axis] == 0 ? 1 : wanted[axis];
        if (out[axis] < 1 || (axis >= p->dims && out[axis] > 1))
            context_refuse(j, "%d ranks along %c, but '%s' has %d dimension%s", wanted[axis],
                           "xyz"[axis], p -> name, p -> dims, p -> dims == 1 ? "" : "s");
        product = product > ranks ? product : product * out[axis];
    }
    if (product != ranks)
        context_refuse(j, "a process grid of %dx%dx%d is not one of %d ranks", out[0], out[1],
                       out[2], ranks);
    return true;
}

bool parts_narrow(const program *p) {
    bool narrow = false;
    for (int i = 0; i < p->array_count; i++)
        narrow |= p->arrays[i].written && program_grid_bytes(p, i) < p->element_bytes;
    return narrow;
}

void parts_choose(job *j, const program *p, int ranks, const int *wanted, bool planned,
                  sg_team_part *part) {
    int grid[3] = {p->dims == 1 ? ranks : 1, p->dims == 2 ? ranks : 1, p->dims == 3 ? ranks : 1};
    const bool given = take_wanted(j, p, ranks, wanted, grid);
    for (int64_t most = INT32_MAX;; most = part->steps - 1) {
        part->steps = parts_steps(p, part->global, most);
        const needs n = needs_of(p, part->global, part->steps, part->launches);
        if (given ? too_thin(&n, grid) < 0 : choose(&n, ranks, grid))
            break;
        if (part->steps == 1 ||
            (!planned && (parts_narrow(p) || parts_steps(p, part->global, part->steps - 1) == 1)))
            refuse(j, &n, grid);
    }
    for (int axis = 0; axis < 3; axis++)
        part->ranks[axis] = grid[axis];
}

int64_t parts_most_steps(const program *p, const sg_team_part *part) {
    int64_t most = INT32_MAX;
    for (int axis = 0; axis < p->dims; axis++) {
        const int64_t reach = larger(p->grid.low[axis], p->grid.high[axis]);
        const int64_t cells = part->global[axis] / part->ranks[axis];
        if (part->ranks[axis] > 1 && reach > 0 && cells / reach < most)
            most = cells / reach;
    }
    return most;
}

/* Whether cells before (side 0) or behind a part along an axis are another part's. */
static bool is_cut(const program *p, const sg_team_part *part, int axis, int side) {
    if (part->ranks[axis] == 1)
        return false;
    return p->grid.periodic[axis] || part->place[axis] != (side == 0 ? 0 : part->ranks[axis] - 1);
}

void parts_place(const program *p, int rank, const int64_t low[3], const int64_t high[3],
                 sg_team_part *part) {
    const int *grid = part->ranks;
    part->place[0] = rank % grid[0];
    part->place[1] = rank / grid[0] % grid[1];
    part->place[2] = rank / grid[0] / grid[1];
    for (int axis = 0; axis < PROGRAM_AXES; axis++) {
        part->begin[axis] = parts_begin(part->global[axis], grid[axis], part->place[axis]);
        part->end[axis] = parts_begin(part->global[axis], grid[axis], part->place[axis] + 1);
        part->low[axis] = is_cut(p, part, axis, 0) ? low[axis] : 0;
        part->high[axis] = is_cut(p, part, axis, 1) ? high[axis] : 0;
        part->size[axis] = part->low[axis] + part->end[axis] - part->begin[axis] + part->high[axis];
    }
}

/* What goes to the neighbour in a direction (−1, 0 or 1 along each axis), or comes from there. The
   neighbour's ghost cells lie on the other side than ours. Adds nothing where there is no
   neighbour, or no cell. */
static int add_face(const program *p, const sg_team_part *part, const int64_t low[3],
                    const int64_t high[3], const int direction[3], bool send, face *out) {
    int place[3];
    for (int axis = 0; axis < PROGRAM_AXES; axis++) {
        const int at = direction[axis];
        const int64_t own = part->end[axis] - part->begin[axis], first = part->low[axis];
        if (at != 0 && !is_cut(p, part, axis, at > 0))
            return 0;
        place[axis] = (part->place[axis] + at + part->ranks[axis]) % part->ranks[axis];
        out->size[axis] = at == 0 ? own : (at > 0) == send ? low[axis] : high[axis];
        out->begin[axis] = at == 0  ? first
                           : at < 0 ? (send ? first : 0)
                           : send   ? first + own - out->size[axis]
                                    : first + own;
    }
    out->rank = (place[2] * part->ranks[1] + place[1]) * part->ranks[0] + place[0];
    out->direction = 13 + direction[0] + 3 * direction[1] + 9 * direction[2];
    sg_team_part other = *part;
    parts_place(p, out->rank, low, high, &other);
    for (int axis = 0; axis < PROGRAM_AXES; axis++)
        out->there[axis] = direction[axis] > 0   ? 0
                           : direction[axis] < 0 ? other.size[axis] - other.high[axis]
                                                 : other.low[axis];
    return out->size[0] > 0 && out->size[1] > 0 && out->size[2] > 0;
}

/* Directions come in the order of `at`; those of receiving the other way round, so that the
   messages between two ranks, which may be neighbours on both sides, are in the same order on both.
 */
int parts_faces(const program *p, const sg_team_part *part, const int64_t low[3],
                const int64_t high[3], bool corners, bool send, face out[PART_FACES]) {
    int count = 0;
    for (int at = 0; at < 27; at++) {
        const int turned = send ? at : 26 - at;
        const int direction[3] = {turned % 3 - 1, turned / 3 % 3 - 1, turned / 9 - 1};
        const int along = (direction[0] != 0) + (direction[1] != 0) + (direction[2] != 0);
        if (along == 1 || (along > 1 && corners))
            count += add_face(p, part, low, high, direction, send, &out[count]);
    }
    return count;
}
