/* Matrices that look like those of users: finite elements on meshes of tetrahedra, with 1, 3 and 5
   unknowns a node, a power-law graph, a circuit. Each row follows from its own number alone. */
#include "primitives_kinds.h"

#include <stdlib.h>

static int64_t least(int64_t n, int64_t at_least) {
    return n > at_least ? n : at_least;
}

static int by_column(const void *a, const void *b) {
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* Sorts what was drawn and leaves each column once; returns how many there are. */
static int64_t settle(int32_t *column, int64_t count) {
    qsort(column, (size_t)count, sizeof *column, by_column);
    int64_t kept = 0;
    for (int64_t i = 0; i < count; i++)
        if (kept == 0 || column[kept - 1] != column[i])
            column[kept++] = column[i];
    return kept;
}

static void draw_values(const shape *s, int64_t row, int64_t count, double *value) {
    for (int64_t i = 0; i < count; i++)
        value[i] = matrix_odd(MATRIX_SEED + 2, row * s->most + i);
}

/* ---- meshes ---------------------------------------------------------------------------------- */

/* Kuhn's division of cubes into six tetrahedra joins a node with 14 others: the differences that
   are all 0 and 1, or all 0 and -1. Nodes of an unstructured mesh have more or fewer, so an edge in
   TENTH of these is left out, and the diagonals of faces and cubes that Kuhn does not take join as
   seldom. */
enum { NODES = 27, MESH_MOST = NODES, TENTH = 10 };

typedef struct node {
    int64_t at[3];
} node;

static node node_at(const shape *s, int64_t number) {
    return (node){{number % s->side, number / s->side % s->side, number / s->side / s->side}};
}

/* The other node of an edge; -1 where there is no edge. */
static int64_t joined(const shape *s, int64_t number, int direction) {
    const int d[3] = {direction % 3 - 1, direction / 3 % 3 - 1, direction / 9 - 1};
    const node n = node_at(s, number);
    int64_t other = 0;
    bool up = false, down = false;
    for (int axis = 2; axis >= 0; axis--) {
        const int64_t at = n.at[axis] + d[axis];
        if (at < 0 || at >= s->side)
            return -1;
        other = other * s->side + at;
        up |= d[axis] > 0;
        down |= d[axis] < 0;
    }
    const int64_t low = number < other ? number : other;
    const int64_t high = number < other ? other : number;
    const bool odd = drawn(MATRIX_SEED + 3, low * NODES + (high - low) % NODES) % TENTH == 0;
    return other == number || odd == (up && down) ? other : -1;
}

/* The nodes that one is joined with, itself among them, in the order of their numbers. */
static int64_t joined_all(const shape *s, int64_t number, int32_t *others) {
    int64_t count = 0;
    for (int direction = 0; direction < NODES; direction++) {
        const int64_t other = joined(s, number, direction);
        if (other >= 0)
            others[count++] = (int32_t)other;
    }
    return count;
}

static shape mesh_of(double nodes, int64_t unknowns) {
    int64_t side = 2;
    while ((double)(side + 1) * (double)(side + 1) * (double)(side + 1) <= nodes)
        side++;
    const int64_t rows = side * side * side * unknowns;
    return (shape){side, rows, rows, MESH_MOST * unknowns};
}

static shape mesh(int64_t scale) {
    return mesh_of((double)(INT64_C(1) << 21) / (double)scale, 1);
}

static int64_t mesh_length(const shape *s, int64_t row) {
    int32_t others[NODES];
    return joined_all(s, row, others);
}

static void mesh_fill(const shape *s, int64_t row, int64_t count, int32_t *column, double *value) {
    joined_all(s, row, column);
    draw_values(s, row, count, value);
}

/* A permutation of 0 … 2^bits - 1 and its inverse, for nodes that are numbered as a mesher left
 * them. */
enum { ROUNDS = 3 };
static const uint64_t factors[ROUNDS] = {0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D}; /* odd */

static uint64_t inverse_of(uint64_t odd_number) {
    uint64_t inverse = odd_number; /* by Newton: each turn doubles the right bits */
    for (int i = 0; i < 5; i++)
        inverse *= 2 - odd_number * inverse;
    return inverse;
}

static int64_t mixed(int64_t number, int bits, bool back) {
    const uint64_t mask = (UINT64_C(1) << bits) - 1;
    const int half = (bits + 1) / 2; /* so that the shift is its own inverse */
    uint64_t n = (uint64_t)number;
    for (int round = 0; round < ROUNDS; round++) {
        if (back)
            n ^= n >> half;
        n = n * (back ? inverse_of(factors[ROUNDS - 1 - round]) : factors[round]) & mask;
        if (!back)
            n ^= n >> half;
    }
    return (int64_t)n;
}

/* As many nodes as a power of two, so that they can be mixed. */
static shape mixed_mesh(int64_t scale) {
    int64_t side = 128;
    while (side > 4 && side * side * side * scale > INT64_C(1) << 21)
        side /= 2;
    return (shape){side, side * side * side, side * side * side, MESH_MOST};
}

static int bits_of(int64_t rows) {
    int bits = 0;
    while (INT64_C(1) << bits < rows)
        bits++;
    return bits;
}

static int64_t mixed_length(const shape *s, int64_t row) {
    return mesh_length(s, mixed(row, bits_of(s->rows), true));
}

static void mixed_fill(const shape *s, int64_t row, int64_t count, int32_t *column, double *value) {
    const int bits = bits_of(s->rows);
    joined_all(s, mixed(row, bits, true), column);
    for (int64_t i = 0; i < count; i++)
        column[i] = (int32_t)mixed(column[i], bits, false);
    settle(column, count);
    draw_values(s, row, count, value);
}

/* Several unknowns a node: each entry of the mesh's matrix is a dense block. */
static shape mesh3(int64_t scale) {
    return mesh_of((double)(INT64_C(1) << 18) / (double)scale, 3);
}

static shape mesh5(int64_t scale) {
    return mesh_of((double)(INT64_C(1) << 17) * 0.7 / (double)scale, 5);
}

static int64_t unknowns_of(const shape *s) {
    return s->most / MESH_MOST;
}

static int64_t unknowns_length(const shape *s, int64_t row) {
    return mesh_length(s, row / unknowns_of(s)) * unknowns_of(s);
}

static void unknowns_fill(const shape *s, int64_t row, int64_t count, int32_t *column,
                          double *value) {
    const int64_t unknowns = unknowns_of(s);
    int32_t others[NODES];
    joined_all(s, row / unknowns, others);
    for (int64_t i = 0; i < count; i++)
        column[i] = (int32_t)(others[i / unknowns] * unknowns + i % unknowns);
    draw_values(s, row, count, value);
}

/* ---- a power-law graph ----------------------------------------------------------------------- */

/* R-MAT (Chakrabarti, Zhan and Faloutsos, 2004) with the quadrants 0.57, 0.19, 0.19 and 0.05: a row
   has as many edges as its bits are worth, and each edge draws the bits of its column. Edges that
   are drawn twice count once. */
enum { EDGES_A_ROW = 16, RMAT_SHARE = 1 << 16 };

static shape rmat(int64_t scale) {
    int bits = 20;
    while (bits > 6 && (INT64_C(1) << bits) * scale > INT64_C(1) << 20)
        bits--;
    const int64_t rows = INT64_C(1) << bits;
    return (shape){0, rows, rows, rows};
}

static int64_t rmat_edges(const shape *s, int64_t row) {
    double edges = (double)EDGES_A_ROW * (double)s->rows;
    for (int bit = 0; bit < bits_of(s->rows); bit++)
        edges *= row >> bit & 1 ? 0.24 : 0.76;
    const double rest = (double)(drawn(MATRIX_SEED + 4, row) % RMAT_SHARE) / RMAT_SHARE;
    return (int64_t)(edges + rest);
}

static int32_t *columns_new(int64_t count) {
    int32_t *columns = malloc((size_t)count * sizeof *columns + 1);
    if (columns == NULL)
        abort();
    return columns;
}

/* The columns of a row, as many as *count says, for the caller to free. */
static int32_t *rmat_draw(const shape *s, int64_t row, int64_t *count) {
    const int bits = bits_of(s->rows);
    const int64_t edges = rmat_edges(s, row);
    int32_t *column = columns_new(edges);
    for (int64_t i = 0; i < edges; i++) {
        int32_t at = 0;
        for (int bit = 0; bit < bits; bit++) {
            const uint64_t r =
                drawn(MATRIX_SEED + 5, (row * s->most + i) * bits + bit) % RMAT_SHARE;
            const double high = row >> bit & 1 ? 0.05 / 0.24 : 0.19 / 0.76;
            at |= (int32_t)((double)r < high * RMAT_SHARE) << bit;
        }
        column[i] = at;
    }
    *count = settle(column, edges);
    return column;
}

static int64_t rmat_length(const shape *s, int64_t row) {
    int64_t count;
    free(rmat_draw(s, row, &count));
    return count;
}

static void rmat_fill(const shape *s, int64_t row, int64_t count, int32_t *column, double *value) {
    int32_t *drawn_columns = rmat_draw(s, row, &count);
    for (int64_t i = 0; i < count; i++)
        column[i] = drawn_columns[i];
    free(drawn_columns);
    draw_values(s, row, count, value);
}

/* ---- a circuit ------------------------------------------------------------------------------- */

/* Most nodes meet a few others near by; a few nets, such as the supply, meet an eighth of all
 * nodes. */
enum { NETS = 8, NET_SHARE = 8, NEAR = 4, NEAR_MOST = 500 };

static shape circuit(int64_t scale) {
    const int64_t rows = least((INT64_C(1) << 21) / scale, 4 * NEAR_MOST);
    return (shape){0, rows, rows, rows};
}

static int64_t net_row(const shape *s, int net) {
    return (2 * net + 1) * s->rows / (2 * NETS);
}

static bool meets(int net, int64_t row) {
    return drawn(MATRIX_SEED + 6, row * NETS + net) % (NETS * NET_SHARE) == 0;
}

static bool is_net(const shape *s, int64_t row) {
    bool net = false;
    for (int i = 0; i < NETS; i++)
        net |= net_row(s, i) == row;
    return net;
}

/* A dense row. */
static int64_t net_fill(const shape *s, int64_t row, int32_t *column) {
    int64_t count = 0;
    int net = 0;
    while (net_row(s, net) != row)
        net++;
    for (int64_t other = 0; other < s->rows; other++)
        if (other == row || meets(net, other))
            column[count++] = (int32_t)other;
    return count;
}

static int64_t circuit_row(const shape *s, int64_t row, int32_t *column) {
    if (is_net(s, row))
        return net_fill(s, row, column);
    int64_t count = 0;
    for (int net = 0; net < NETS; net++)
        if (meets(net, row))
            column[count++] = (int32_t)net_row(s, net);
    column[count++] = (int32_t)row;
    for (int i = 0; i < NEAR; i++) {
        const int64_t away = (int64_t)(drawn(MATRIX_SEED + 7, row * NEAR + i) % NEAR_MOST) + 1;
        const int64_t other = i % 2 == 0 ? row - away : row + away;
        if (other >= 0 && other < s->rows)
            column[count++] = (int32_t)other;
    }
    return settle(column, count);
}

static int64_t circuit_length(const shape *s, int64_t row) {
    int32_t few[NETS + NEAR + 1];
    if (!is_net(s, row))
        return circuit_row(s, row, few);
    int32_t *all = columns_new(s->rows);
    const int64_t count = circuit_row(s, row, all);
    free(all);
    return count;
}

static void circuit_fill(const shape *s, int64_t row, int64_t count, int32_t *column,
                         double *value) {
    if (is_net(s, row)) {
        circuit_row(s, row, column);
    } else {
        int32_t few[NETS + NEAR + 1];
        circuit_row(s, row, few);
        for (int64_t i = 0; i < count; i++)
            column[i] = few[i];
    }
    draw_values(s, row, count, value);
}

const kind users_kinds[USERS_KINDS] = {
    {"mesh", mesh, mesh_length, mesh_fill},
    {"mixed", mixed_mesh, mixed_length, mixed_fill},
    {"mesh3", mesh3, unknowns_length, unknowns_fill},
    {"mesh5", mesh5, unknowns_length, unknowns_fill},
    {"rmat", rmat, rmat_length, rmat_fill},
    {"circuit", circuit, circuit_length, circuit_fill},
};
