/* PKT: the arrays, by the cut of matrix/packet.h. Takes: a cut. Makes: what the header describes.
 */
#include "matrix/layout.h"
#include "matrix/packet.h"

enum { ROW, COLUMN, SOURCE, OFFSET, PLACE, VALUE, TAIL_ROW, TAIL_COLUMN, TAIL_VALUE, ORDER };

static void measure_pkt(job *j, const matrix *m, packed_matrix *p) {
    packet_cut *cut = job_alloc(j, sizeof *cut);
    *cut = packet_make(j, m, p->storage.packet);
    const int64_t places = cut->packets > 0 ? cut->offset[cut->packets] : 0;
    layout_array(p, "row", PACKED_INDEX, cut->all_packets + 1, 1);
    layout_array(p, "column", PACKED_INDEX, cut->all_packets + 1, 1);
    layout_array(p, "source", PACKED_INDEX, cut->sources, 1);
    layout_array(p, "offset", PACKED_INDEX, cut->all_packets + 1, 1);
    layout_array(p, "place", PACKED_WORD, places, 1);
    layout_array(p, "value", PACKED_VALUE, places, 1);
    layout_array(p, "tail_row", PACKED_INDEX, cut->tail, 1);
    layout_array(p, "tail_column", PACKED_INDEX, cut->tail, 1);
    layout_array(p, "tail_value", PACKED_VALUE, cut->tail, 1);
    layout_array(p, "order", PACKED_INDEX, m->rows, 1);
    if (places > p->largest_index)
        p->largest_index = places;
    p->work = cut;
}

/* Writes which rows or columns each packet has, packet by packet, and where each packet begins.
   `local` gets their places within their packets. */
static void fill_members(job *j, const packed_matrix *p, const packet_cut *cut, int begins,
                         int members, int64_t count, const int64_t *packet, const int64_t *number,
                         int64_t *local) {
    int64_t *next = job_array(j, (size_t)cut->packets + 1, sizeof *next);
    int64_t *first = job_array(j, (size_t)cut->packets + 1, sizeof *first);
    for (int64_t i = 0; i < count; i++)
        if (packet[i] >= 0)
            first[packet[i] + 1]++;
    for (int64_t k = 0; k < cut->packets; k++)
        first[k + 1] += first[k];
    for (int64_t k = 0; k <= cut->packets; k++) {
        next[k] = first[k];
        layout_put(p, begins, k, first[k]);
    }
    for (int64_t i = 0; i < count; i++)
        if (packet[i] >= 0) {
            local[i] = next[packet[i]] - first[packet[i]];
            layout_put(p, members, next[packet[i]]++, number[i]);
        }
}

/* Packets of rows without entries, after the others. */
static void fill_empty(const packed_matrix *p, const packet_cut *cut, const matrix *m) {
    int64_t at = cut->rows, row = 0;
    for (int64_t r = 0; r <= cut->rows; r++) {
        const int64_t next = r < cut->rows ? m->row[cut->begin[r]] : m->rows;
        for (; row < next; row++)
            layout_put(p, ORDER, at++, row);
        row = next + 1;
    }
    for (int64_t k = cut->packets + 1; k <= cut->all_packets; k++) {
        const int64_t end = cut->rows + (k - cut->packets) * p->storage.packet;
        layout_put(p, ROW, k, end < m->rows ? end : m->rows);
        layout_put(p, COLUMN, k, cut->sources);
        layout_put(p, OFFSET, k, p->arrays[PLACE].extent[0]);
    }
}

static void add_tail(const packed_matrix *p, int64_t at, const matrix *m, int64_t entry) {
    layout_put(p, TAIL_ROW, at, m->row[entry]);
    layout_put(p, TAIL_COLUMN, at, m->column[entry]);
    layout_put_value(p, TAIL_VALUE, at, m->value[entry]);
}

typedef struct locals {
    const int64_t *row, *column;
} locals;

/* Takes rows in order, so that the tail is in order. Each lane of each packet keeps its own place.
 */
static void fill_entries(job *j, const packed_matrix *p, const packet_cut *cut, const matrix *m,
                         locals local) {
    uint32_t *places = p->arrays[PLACE].data;
    int64_t *used = job_array(j, (size_t)cut->packets * PACKET_LANES, sizeof *used);
    int64_t tail = 0;
    for (int64_t r = 0; r < cut->rows; r++) {
        const int64_t packet = cut->row_packet[r];
        int64_t *k = &used[packet * PACKET_LANES + cut->lane[r]], taken = 0;
        for (int64_t e = cut->begin[r]; e < cut->begin[r + 1]; e++) {
            const int64_t column = cut->entry_column[e];
            if (cut->column_packet[column] != packet || taken == cut->inside[r]) {
                add_tail(p, tail++, m, e);
                continue;
            }
            const int64_t at = cut->offset[packet] + (*k)++ * PACKET_LANES + cut->lane[r];
            places[at] = (uint32_t)(local.row[r] << 16 | local.column[column]);
            layout_put_value(p, VALUE, at, m->value[e]);
            taken++;
        }
    }
}

static void fill_pkt(job *j, const matrix *m, packed_matrix *p) {
    const packet_cut *cut = p->work;
    int64_t *row_local = job_array(j, (size_t)cut->rows, sizeof *row_local);
    int64_t *column_local = job_array(j, (size_t)cut->columns, sizeof *column_local);
    int64_t *number = job_array(j, (size_t)cut->rows, sizeof *number);
    for (int64_t r = 0; r < cut->rows; r++)
        number[r] = m->row[cut->begin[r]];
    fill_members(j, p, cut, ROW, ORDER, cut->rows, cut->row_packet, number, row_local);
    fill_members(j, p, cut, COLUMN, SOURCE, cut->columns, cut->column_packet, cut->column_number,
                 column_local);
    for (int64_t k = 0; k <= cut->packets; k++)
        layout_put(p, OFFSET, k, cut->offset[k]);
    fill_empty(p, cut, m);
    layout_set(p, PLACE, 0xff);
    layout_set(p, VALUE, 0);
    fill_entries(j, p, cut, m, (locals){row_local, column_local});
}

static void unpack_pkt(const packed_matrix *p, entry_list *out) {
    const uint32_t *places = p->arrays[PLACE].data;
    for (int64_t k = 0; k + 1 < p->arrays[ROW].extent[0]; k++)
        for (int64_t at = layout_index(p, OFFSET, k); at < layout_index(p, OFFSET, k + 1); at++)
            if (places[at] != PACKET_NONE)
                layout_take(
                    out, layout_index(p, ORDER, layout_index(p, ROW, k) + (places[at] >> 16)),
                    layout_index(p, SOURCE, layout_index(p, COLUMN, k) + (places[at] & 0xffff)),
                    layout_value(p, VALUE, at));
    for (int64_t i = 0; i < p->arrays[TAIL_ROW].extent[0]; i++)
        layout_take(out, layout_index(p, TAIL_ROW, i), layout_index(p, TAIL_COLUMN, i),
                    layout_value(p, TAIL_VALUE, i));
}

const layout layout_pkt = {measure_pkt, fill_pkt, unpack_pkt};
