/* The packet format: what its header promises of the arrays, and that a grid's entries gather. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "matrix/layout.h"
#include "tests/unit/group.h"
#include "tests/unit/matrix/matrices.h"

enum { ROW, COLUMN, SOURCE, OFFSET, PLACE, VALUE, TAIL_ROW, TAIL_COLUMN, TAIL_VALUE, ORDER };
static const char *const names[] = {"row",   "column",   "source",      "offset",     "place",
                                    "value", "tail_row", "tail_column", "tail_value", "order"};

static int64_t length(const packed_matrix *p, int array) {
    return p->arrays[array].extent[0];
}

/* `begins` holds where packets begin in `members`, which are each below `count`, in one packet at
   most, and ascend within it. */
static void check_members(job *j, const packed_matrix *p, int begins, int members, int64_t count) {
    const int64_t packets = length(p, begins) - 1;
    bool *seen = job_array(j, (size_t)count, sizeof *seen);
    assert_int_equal(layout_index(p, begins, 0), 0);
    assert_int_equal(layout_index(p, begins, packets), length(p, members));
    for (int64_t k = 0; k < packets; k++) {
        const int64_t first = layout_index(p, begins, k), end = layout_index(p, begins, k + 1);
        assert_true(first <= end && end - first <= p->storage.packet);
        for (int64_t i = first; i < end; i++) {
            const int64_t member = layout_index(p, members, i);
            assert_true(member >= 0 && member < count && !seen[member]);
            assert_true(i == first || member > layout_index(p, members, i - 1));
            seen[member] = true;
        }
    }
}

/* The lanes of packet k: full from the front, a row's entries in one of them, one behind the other
   and by column, and none longer than promised. */
static int64_t check_lanes(job *j, const packed_matrix *p, int64_t k) {
    const uint32_t *places = p->arrays[PLACE].data;
    const int64_t rows = layout_index(p, ROW, k + 1) - layout_index(p, ROW, k);
    const int64_t columns = layout_index(p, COLUMN, k + 1) - layout_index(p, COLUMN, k);
    const int64_t first = layout_index(p, OFFSET, k);
    const int64_t width = (layout_index(p, OFFSET, k + 1) - first) / PACKET_LANES;
    bool *done = job_array(j, (size_t)rows, sizeof *done);
    int64_t entries = 0;
    assert_int_equal((layout_index(p, OFFSET, k + 1) - first) % PACKET_LANES, 0);
    for (int lane = 0; lane < PACKET_LANES; lane++) {
        int64_t row = -1, column = -1;
        bool ended = false;
        for (int64_t i = 0; i < width; i++) {
            const int64_t at = first + i * PACKET_LANES + lane;
            if (places[at] == PACKET_NONE) {
                ended = true;
                assert_true(layout_value(p, VALUE, at) == 0);
                continue;
            }
            assert_false(ended);
            const int64_t r = places[at] >> 16, c = places[at] & 0xffff;
            assert_true(r < rows && c < columns);
            if (r != row)
                assert_false(done[r]);
            else
                assert_true(c > column);
            done[r] = true;
            row = r;
            column = c;
            entries++;
        }
    }
    /* The promise speaks of the entries before the tail has taken some; those are at least these.
     */
    assert_true(width <= 2 * layout_parts(p->entries, PACKET_LANES) + PACKET_SLACK);
    return entries;
}

static const int packets[] = {1, 7, 64, 1024, 65535, 0};

static void check_packets(job *j, void *argument) {
    const matrix m = matrix_draw(j, argument);
    for (size_t i = 0; i < 2 * sizeof packets / sizeof packets[0]; i++) {
        const storage s = {.format = FORMAT_PKT,
                           .packet = packets[i / 2],
                           .index_bytes = i % 2 ? 4 : 8,
                           .value_bytes = 4};
        packed_matrix p;
        format_pack(j, &m, &s, &p);
        assert_int_equal(p.array_count, 10);
        for (int a = 0; a < p.array_count; a++)
            assert_string_equal(p.arrays[a].name, names[a]);
        const int64_t count = length(&p, ROW) - 1;
        assert_int_equal(length(&p, ORDER), m.rows);
        check_members(j, &p, ROW, ORDER, m.rows);
        check_members(j, &p, COLUMN, SOURCE, m.columns);
        assert_true(m.rows > 0 || count == 0);
        int64_t entries = length(&p, TAIL_ROW);
        for (int64_t k = 0; k < count; k++) {
            assert_true(layout_index(&p, ROW, k) < layout_index(&p, ROW, k + 1));
            entries += check_lanes(j, &p, k);
        }
        assert_int_equal(entries, m.entries);
        assert_int_equal(layout_index(&p, OFFSET, count), length(&p, PLACE));
        assert_int_equal(length(&p, PLACE), length(&p, VALUE));
        for (int64_t t = 1; t < length(&p, TAIL_ROW); t++)
            assert_true(layout_index(&p, TAIL_ROW, t - 1) < layout_index(&p, TAIL_ROW, t) ||
                        (layout_index(&p, TAIL_ROW, t - 1) == layout_index(&p, TAIL_ROW, t) &&
                         layout_index(&p, TAIL_COLUMN, t - 1) < layout_index(&p, TAIL_COLUMN, t)));
        format_free(j, &p);
    }
}

static void run(void (*body)(job *, void *), const drawn *d) {
    drawn copy = *d;
    job *j;
    if (job_run(&allocator_libc, body, &copy, &j) != FAULT_NONE)
        fail_msg("%s: %s", d->name, job_error(j));
    job_end(j);
}

static void arrays_are_as_promised(void **state) {
    (void)state;
    for (int i = 0; i < DRAWN_MATRICES; i++)
        run(check_packets, &drawn_matrices[i]);
}

/* A grid whose points are numbered at random: the new order finds neighbours again. */
static void check_gathering(job *j, void *argument) {
    matrix m = matrix_draw(j, argument);
    const int64_t n = m.rows;
    int64_t *number = job_array(j, (size_t)n, sizeof *number);
    int64_t *row = job_array(j, (size_t)m.entries, sizeof *row);
    int64_t *column = job_array(j, (size_t)m.entries, sizeof *column);
    double *value = job_array(j, (size_t)m.entries, sizeof *value);
    for (int64_t i = 0; i < n; i++)
        number[i] = i * 347 % n;
    int64_t at = 0;
    for (int64_t r = 0; r < n; r++)
        for (int64_t c = 0; c < n; c++)
            if (draw_grid(n, n, number[r], number[c])) {
                row[at] = r;
                column[at] = c;
                value[at++] = 1;
            }
    assert_int_equal(at, m.entries);
    m.row = row;
    m.column = column;
    m.value = value;
    const storage s = {.format = FORMAT_PKT, .packet = 100};
    packed_matrix p;
    format_measure(j, &m, &s, &p);
    const int64_t tail = p.arrays[TAIL_ROW].extent[0], count = p.arrays[ROW].extent[0] - 1;
    /* Nine squares of 10 x 10 points leave 8 % to the tail. */
    if (5 * tail > m.entries || count > 15)
        fail_msg("%d packets leave %d of %d entries", (int)count, (int)tail, (int)m.entries);
}

static void neighbours_gather(void **state) {
    (void)state;
    const drawn grid = {"grid", 900, 900, draw_grid};
    run(check_gathering, &grid);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(arrays_are_as_promised),
    cmocka_unit_test(neighbours_gather),
};

TEST_GROUP(packet, NULL, NULL)
