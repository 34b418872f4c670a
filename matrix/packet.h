/* The packet format (PKT): rows and columns are put in a new order in which entries gather near the
   diagonal; there the matrix is cut into packets, blocks so small that their parts of x and y fit
   into shared memory; entries outside the packets are a tail as in COO.
   Takes: sorted entries. Makes: the cut, and from it the format's arrays.
   Source: N. Bell, M. Garland, Efficient Sparse Matrix-Vector Multiplication on CUDA, NVIDIA
   NVR-2008-004. */
#ifndef SG_MATRIX_PACKET_H
#define SG_MATRIX_PACKET_H

#include "matrix/format.h"

/* The arrays, where P is the number of packets (0 without rows) and B is storage.packet:

     row[P+1], order[M]    packet p computes the rows order[row[p]] … order[row[p+1] − 1], at most B
                           of them and at least one. row[P] is M: every row is in one packet,
                           also a row without entries. Ascending within a packet.
     column[P+1], source[·]
                           it takes from x the columns source[column[p]] … source[column[p+1] − 1],
                           at most B, or none. A column is in one packet at most. Ascending within a
                           packet.
     offset[P+1]           its entries are place and value from offset[p] to offset[p+1] − 1, a
                           multiple of PACKET_LANES: entry k of lane l is the one at
                           offset[p] + k·PACKET_LANES + l.
     place[·], value[·]    place is local row · 65536 + local column: row order[row[p] + local row],
                           column source[column[p] + local column]. PACKET_NONE, and the value 0,
   where a lane has no more entries; none follow then in that lane. tail_row[t], tail_column[t],
   tail_value[t] all other entries, by row and then column, by the matrix's own numbers.

   All entries that a packet has of a row are in one lane, one behind the other, by column. So a
   thread that works off a lane (or several, T threads the lanes t, t + T, …) adds to its rows of y
   in shared memory without atomics and without barriers, and threads of a warp load neighbours.

   A lane has at most 2·⌈entries/PACKET_LANES⌉ + 2·PACKET_SLACK entries, so that padding is bounded:
   what a row has beyond ⌈entries/PACKET_LANES⌉ + PACKET_SLACK is in the tail. */
enum {
    PACKET_LANES = 256,
    PACKET_SLACK = 16,
    PACKET_MOST = 65535, /* rows, and columns, of a packet */
};
#define PACKET_NONE UINT32_C(0xffffffff)

/* Which packet has which rows and columns. */
typedef struct packet_cut {
    int64_t packets;
    int64_t *row, *order; /* as the arrays above */
    int64_t *column, *source;
    int64_t *offset;
    int64_t tail;    /* entries outside of the packets */
    int32_t *lane;   /* of each row of `order`: which lane of its packet has its entries */
    int64_t *inside; /* of each row of `order`: how many entries its packet has of it */
} packet_cut;

/* Rows and columns are visited breadth first from rows of few entries (Cuthill and McKee's order on
   the graph that joins a row with its columns); rows and columns of very many entries come last
   and lead nowhere. The order of rows is cut where a packet is full, and a column goes to the
   packet that has most of its entries. Time n log n, memory a few words an entry. */
packet_cut packet_make(job *, const matrix *, const storage *);

#endif
