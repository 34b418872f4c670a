/* Where the packet format cuts a matrix: which packet has which rows, columns and entries. Only
   rows and columns that have entries are visited, so that empty ones cost nothing. */
#include "matrix/layout.h"

enum {
    /* A row or column with more entries than this many times the mean, plus this many, joins
       nothing: it would join so much that nothing near would be left. */
    HUB_TIMES = 16,
    HUB_PLUS = 64,
    /* At most so many packets walk along a column, which bounds the time. */
    WALKS = 8,
};

/* Which packet has which rows and columns. Here rows and columns are those that have entries,
   numbered without gaps. Rows without entries come last, in packets of their own. */
typedef struct cutter {
    job *job;
    const matrix *m;
    int most; /* rows, and columns, of a packet */
    int64_t rows, columns;
    int64_t *begin;         /* [rows+1] first entry of each row */
    int64_t *column_number; /* [columns] of the matrix */
    int64_t *entry_column;  /* [entries] the number here of the entry's column */
    int64_t *column_begin;  /* [columns+1] */
    int64_t *column_row;    /* [entries] rows of each column */
    int64_t row_hub, column_hub;
    int64_t packets;        /* of rows that have entries */
    int64_t all_packets;    /* of all rows */
    int64_t *row_packet;    /* [rows] −1: none yet */
    int64_t *column_packet; /* [columns] −1: none takes it from x */
    int64_t *inside;        /* [rows] how many entries of the row its packet has, */
    int *lane;              /* [rows] and which of the packet's lanes */
    int64_t *offset;        /* [packets+1] */
    int64_t sources, tail;  /* columns that are in a packet; entries that are in none */
    int64_t *queued;        /* of each row: the last packet that had it in its queue */
    int64_t *walked;        /* of each column: the last packet that walked along it, */
    int *walks;             /* and how many packets have */
    bool *claimed;          /* of each column: whether some packet has counted it */
    int64_t *queue;
} cutter;

static int64_t *list(const cutter *c, int64_t count) {
    return job_array(c->job, (size_t)count, sizeof(int64_t));
}

/* ---- rows and columns without gaps ----------------------------------------------------------- */

static void number_rows(cutter *c) {
    const matrix *m = c->m;
    for (int64_t i = 0; i < m->entries; i = layout_row_end(m, i))
        c->rows++;
    c->begin = list(c, c->rows + 1);
    int64_t r = 0;
    for (int64_t i = 0; i < m->entries; i = layout_row_end(m, i))
        c->begin[r++] = i;
    c->begin[r] = m->entries;
}

static void number_columns(cutter *c) {
    const matrix *m = c->m;
    const int64_t *by_column = order_of(c->job, m->entries, m->column);
    int64_t *row = list(c, m->entries); /* of each entry */
    for (int64_t r = 0; r < c->rows; r++)
        for (int64_t i = c->begin[r]; i < c->begin[r + 1]; i++)
            row[i] = r;
    c->entry_column = list(c, m->entries);
    c->column_row = list(c, m->entries);
    int64_t last = -1;
    for (int64_t i = 0; i < m->entries; i++) {
        const int64_t e = by_column[i];
        c->columns += m->column[e] != last;
        last = m->column[e];
        c->entry_column[e] = c->columns - 1;
        c->column_row[i] = row[e];
    }
    c->column_begin = list(c, c->columns + 1);
    c->column_number = list(c, c->columns);
    for (int64_t i = m->entries - 1; i >= 0; i--) {
        const int64_t e = by_column[i];
        c->column_begin[c->entry_column[e]] = i;
        c->column_number[c->entry_column[e]] = m->column[e];
    }
    c->column_begin[c->columns] = m->entries;
}

static int64_t row_length(const cutter *c, int64_t row) {
    return c->begin[row + 1] - c->begin[row];
}

static int64_t column_length(const cutter *c, int64_t column) {
    return c->column_begin[column + 1] - c->column_begin[column];
}

/* ---- growing packets ------------------------------------------------------------------------- */

typedef struct growth {
    int64_t packet;
    int64_t rows, columns; /* columns of the packet that no earlier packet has claimed */
    int64_t head, tail;    /* of the queue */
} growth;

static void enqueue(cutter *c, growth *g, int64_t row) {
    if (c->row_packet[row] >= 0 || c->queued[row] == g->packet)
        return;
    c->queued[row] = g->packet;
    c->queue[g->tail++] = row;
}

/* The rows that share a column with this one join the queue. */
static void look_around(cutter *c, growth *g, int64_t row) {
    for (int64_t i = c->begin[row]; i < c->begin[row + 1]; i++) {
        const int64_t column = c->entry_column[i];
        if (column_length(c, column) > c->column_hub || c->walked[column] == g->packet ||
            c->walks[column] == WALKS)
            continue;
        c->walked[column] = g->packet;
        c->walks[column]++;
        for (int64_t k = c->column_begin[column]; k < c->column_begin[column + 1]; k++)
            if (row_length(c, c->column_row[k]) <= c->row_hub)
                enqueue(c, g, c->column_row[k]);
    }
}

/* False where the packet is full. A row with more columns than a packet may have gets its own
   packet. */
static bool take_row(cutter *c, growth *g, int64_t row) {
    int64_t fresh = 0;
    for (int64_t i = c->begin[row]; i < c->begin[row + 1]; i++)
        fresh += !c->claimed[c->entry_column[i]];
    if (g->rows > 0 && (g->rows == c->most || g->columns + fresh > c->most))
        return false;
    for (int64_t i = c->begin[row]; i < c->begin[row + 1]; i++)
        c->claimed[c->entry_column[i]] = true;
    c->row_packet[row] = g->packet;
    g->rows++;
    g->columns += fresh;
    return true;
}

/* Takes all rows that can be reached from this one into this packet and the next ones. A row for
   which there is no room begins the next packet, which finds waiting rows again. */
static void grow(cutter *c, growth *g, int64_t seed) {
    g->head = g->tail = 0;
    enqueue(c, g, seed);
    while (g->head < g->tail) {
        const int64_t row = c->queue[g->head];
        if (take_row(c, g, row)) {
            g->head++;
            look_around(c, g, row);
        } else {
            *g = (growth){.packet = g->packet + 1};
            enqueue(c, g, row);
        }
    }
}

static void assign_rows(cutter *c) {
    int64_t *key = list(c, c->rows);
    for (int64_t r = 0; r < c->rows; r++) {
        key[r] = row_length(c, r);
        c->row_packet[r] = c->queued[r] = -1;
    }
    for (int64_t i = 0; i < c->columns; i++)
        c->walked[i] = -1;
    const int64_t *order = order_of(c->job, c->rows, key);
    growth g = {0};
    for (int64_t i = 0; i < c->rows; i++)
        if (c->row_packet[order[i]] < 0)
            grow(c, &g, order[i]);
    c->packets = c->rows > 0 ? g.packet + 1 : 0;
}

/* ---- columns --------------------------------------------------------------------------------- */

/* Gives every column to the packet that has most of the column's entries (of equal packets the
   first), as long as that packet has room. Columns that gain most come first. */
static void assign_columns(cutter *c) {
    int64_t *packet = c->column_packet = list(c, c->columns), *loss = list(c, c->columns);
    int64_t *count = list(c, c->packets), *room = list(c, c->packets);
    for (int64_t i = 0; i < c->columns; i++) {
        const int64_t *row = c->column_row + c->column_begin[i];
        const int64_t length = column_length(c, i);
        int64_t most = 0;
        for (int64_t k = 0; k < length; k++)
            count[c->row_packet[row[k]]]++;
        for (int64_t k = 0; k < length; k++) {
            const int64_t p = c->row_packet[row[k]];
            if (count[p] > most || (count[p] == most && p < packet[i])) {
                most = count[p];
                packet[i] = p;
            }
        }
        for (int64_t k = 0; k < length; k++)
            count[c->row_packet[row[k]]] = 0;
        loss[i] = c->m->entries - most;
    }
    const int64_t *order = order_of(c->job, c->columns, loss);
    for (int64_t i = 0; i < c->columns; i++) {
        int64_t *p = &packet[order[i]];
        if (room[*p] < c->most) {
            room[*p]++;
            c->sources++;
        } else
            *p = -1;
    }
}

/* ---- entries --------------------------------------------------------------------------------- */

/* Assigns the rows of one packet to lanes, the longest row first, each to the lane with the fewest
   entries (R. Graham's longest processing time first). Lanes are a heap, the least on top. */
typedef struct lane {
    int64_t load;
    int number;
} lane;

static bool before(lane a, lane b) {
    return a.load < b.load || (a.load == b.load && a.number < b.number);
}

static void add_to_top(lane *heap, int64_t load) {
    heap[0].load += load;
    for (int at = 0;;) {
        int least = at;
        for (int child = 2 * at + 1; child <= 2 * at + 2; child++)
            if (child < PACKET_LANES && before(heap[child], heap[least]))
                least = child;
        if (least == at)
            return;
        const lane swap = heap[at];
        heap[at] = heap[least];
        heap[least] = swap;
        at = least;
    }
}

/* Returns how many entries the longest lane has. `row` has the `count` rows of one packet. */
static int64_t share_rows(cutter *c, int64_t count, const int64_t *row) {
    int64_t *inside = c->inside;
    lane heap[PACKET_LANES];
    int64_t entries = 0, width = 0;
    for (int i = 0; i < PACKET_LANES; i++)
        heap[i] = (lane){0, i};
    for (int64_t i = 0; i < count; i++)
        entries += inside[row[i]];
    const int64_t most = layout_parts(entries, PACKET_LANES) + PACKET_SLACK;
    for (int64_t i = 0; i < count; i++) {
        const int64_t r = row[i];
        inside[r] = inside[r] < most ? inside[r] : most;
        c->tail += row_length(c, r) - inside[r];
        c->lane[r] = heap[0].number;
        width = heap[0].load + inside[r] > width ? heap[0].load + inside[r] : width;
        add_to_top(heap, inside[r]);
    }
    return width;
}

static void assign_entries(cutter *c) {
    int64_t *inside = c->inside = list(c, c->rows), *key = list(c, c->rows);
    int64_t *offset = c->offset = list(c, c->packets + 1);
    c->lane = job_array(c->job, (size_t)c->rows, sizeof *c->lane);
    for (int64_t r = 0; r < c->rows; r++)
        for (int64_t i = c->begin[r]; i < c->begin[r + 1]; i++)
            inside[r] += c->column_packet[c->entry_column[i]] == c->row_packet[r];
    /* Rows by packet; within a packet the longest first. */
    for (int64_t r = 0; r < c->rows; r++)
        key[r] = c->m->entries - inside[r];
    const int64_t *by_length = order_of(c->job, c->rows, key);
    for (int64_t r = 0; r < c->rows; r++)
        key[r] = c->row_packet[by_length[r]];
    int64_t *sorted = order_of(c->job, c->rows, key);
    for (int64_t r = 0; r < c->rows; r++)
        sorted[r] = by_length[sorted[r]];
    for (int64_t r = 0, end; r < c->rows; r = end) {
        const int64_t packet = c->row_packet[sorted[r]];
        for (end = r; end < c->rows && c->row_packet[sorted[end]] == packet;)
            end++;
        const int64_t width = share_rows(c, end - r, sorted + r);
        offset[packet + 1] = layout_plus(offset[packet], layout_times(width, PACKET_LANES));
    }
}

/* A packet grows breadth first from a row, over the graph that joins a row with its columns, until
   the packet is full. The next packet begins where this one ended (greedy growing, C. Farhat,
   Computers & Structures 28 (1988) 579). Rows and columns of very many entries are not followed;
   such rows come last. A column then goes to the packet that has most of its entries. Time is n log
   n in the entries, memory a few words an entry. */
static cutter *packet_make(job *j, const matrix *m, int packet) {
    cutter *c = job_alloc(j, sizeof *c);
    *c = (cutter){.job = j, .m = m, .most = packet};
    number_rows(c);
    number_columns(c);
    c->row_packet = list(c, c->rows);
    c->queued = list(c, c->rows);
    c->queue = list(c, c->rows);
    c->walked = list(c, c->columns);
    c->walks = job_array(j, (size_t)c->columns, sizeof *c->walks);
    c->claimed = job_array(j, (size_t)c->columns, sizeof *c->claimed);
    c->row_hub = c->rows > 0 ? m->entries / c->rows * HUB_TIMES + HUB_PLUS : 0;
    c->column_hub = c->columns > 0 ? m->entries / c->columns * HUB_TIMES + HUB_PLUS : 0;
    assign_rows(c);
    c->all_packets = c->packets + layout_parts(m->rows - c->rows, packet);
    assign_columns(c);
    assign_entries(c);
    return c;
}

/* ---- the arrays of PKT ----------------------------------------------------------------------- */

enum { ROW, COLUMN, SOURCE, OFFSET, PLACE, VALUE, TAIL_ROW, ORDER = TAIL_ROW + 3 };

static void measure_pkt(job *j, const matrix *m, packed_matrix *p) {
    const cutter *cut = packet_make(j, m, p->storage.packet);
    const int64_t places = cut->packets > 0 ? cut->offset[cut->packets] : 0;
    layout_arrays(p, cut->all_packets, cut->sources, places, cut->tail);
    layout_stores(p, places);
    p->work = cut;
}

/* Writes which rows or columns each packet has, packet by packet, and where each packet begins.
   `local` gets their places within their packets. */
static void fill_members(job *j, const packed_matrix *p, const cutter *cut, int begins, int members,
                         int64_t count, const int64_t *packet, const int64_t *number,
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
static void fill_empty(const packed_matrix *p, const cutter *cut, const matrix *m) {
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

typedef struct locals {
    const int64_t *row, *column;
} locals;

/* Takes rows in order, so that the tail is in order. Each lane of each packet keeps its own place.
 */
static void fill_entries(job *j, const packed_matrix *p, const cutter *cut, const matrix *m,
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
                layout_put_entry(p, TAIL_ROW, tail++, m, e);
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
    const cutter *cut = p->work;
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
    layout_take_entries(p, TAIL_ROW, out);
}

const layout layout_pkt = {measure_pkt, fill_pkt, unpack_pkt};
