/* The packet format (PKT): rows and columns are put in a new order in which entries gather near the
   diagonal; there the matrix is cut into packets, blocks so small that their parts of x and y fit
   into shared memory; entries outside the packets are a tail as in COO.
   Takes: sorted entries. Makes: the cut, and from it the format's arrays.
   Source: N. Bell, M. Garland, Efficient Sparse Matrix-Vector Multiplication on CUDA, NVIDIA
   NVR-2008-004. */
#ifndef SG_MATRIX_PACKET_H
#define SG_MATRIX_PACKET_H

#include "matrix/format.h"

/* clang-format off */
/* The arrays, where P is the number of packets (0 without rows) and B is storage.packet:

     row[P+1], order[M]    packet p computes the rows order[row[p]] … order[row[p+1] − 1], at most B
                           of them and at least one. row[P] is M: every row is in one packet,
                           also a row without entries. Ascending within a packet.
     column[P+1], source[·]
                           it takes from x the columns source[column[p]] … source[column[p+1] − 1],
                           at most B, or none. A column is in one packet at most. Ascending within
                           a packet.
     offset[P+1]           its entries are place and value from offset[p] to offset[p+1] − 1, a
                           multiple of PACKET_LANES: entry k of lane l is the one at
                           offset[p] + k·PACKET_LANES + l.
     place[·], value[·]    place is local row · 65536 + local column: row order[row[p] + local row],
                           column source[column[p] + local column]. PACKET_NONE, and the value 0,
                           where a lane has no more entries; none follow then in that lane.
     tail_row[t], tail_column[t], tail_value[t]
                           all other entries, by row and then column, by the matrix's own numbers.

   All entries that a packet has of a row are in one lane, one behind the other, by column. So a
   thread that works off a lane (or several, T threads the lanes t, t + T, …) adds to its rows of y
   in shared memory without atomics and without barriers, and threads of a warp load neighbours.

   A lane has at most 2·⌈entries/PACKET_LANES⌉ + PACKET_SLACK entries, so that padding is bounded:
   what a row has beyond ⌈entries/PACKET_LANES⌉ + PACKET_SLACK is in the tail. */
/* clang-format on */
enum {
    PACKET_LANES = 256,
    PACKET_SLACK = 16,
    PACKET_MOST = 65535, /* rows, and columns, of a packet */
};
#define PACKET_NONE UINT32_C(0xffffffff)

/* Which packet has which rows and columns. Here rows and columns are those that have entries,
   numbered without gaps. Rows without entries come last, in packets of their own. */
typedef struct packet_cut {
    int64_t rows, columns;
    int64_t packets;              /* packets of rows that have entries */
    int64_t all_packets;          /* packets of all rows */
    const int64_t *begin;         /* [rows+1] the row's first entry */
    const int64_t *column_number; /* [columns] of the matrix */
    const int64_t *entry_column;  /* [entries] the number here of the entry's column */
    const int64_t *row_packet;    /* [rows] */
    const int64_t *column_packet; /* [columns]; −1: none takes it from x */
    const int64_t *inside;        /* [rows] how many entries of the row its packet has, */
    const int *lane;              /* [rows] and which of the packet's lanes */
    const int64_t *offset;        /* [packets+1] */
    int64_t sources, tail;        /* columns that are in a packet; entries that are in none */
} packet_cut;

/* A packet grows breadth first from a row, over the graph that joins a row with its columns, until
   the packet is full. The next packet begins where this one ended (greedy growing, C. Farhat,
   Computers & Structures 28 (1988) 579). Rows and columns of very many entries are not followed;
   such rows come last. A column then goes to the packet that has most of its entries. Time is n log
   n in the entries, memory a few words an entry. */
packet_cut packet_make(job *, const matrix *, int packet);

#endif
