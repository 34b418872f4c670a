/* Which cells of a grid a check judges. Takes: a grid, its kernel's blocks, and how many cells may
   be judged. Makes: pieces, each a few cells in a line, which cover every cell of the grid once and
   say whether theirs are judged.

   On a grid that is too large to be judged whole these are:
   - the shell: all cells so near to a face that the shape reaches beyond it;
   - the first block, the last block and both sides of a seam between two others, along each axis
   and in every combination: what a kernel does at the borders of its blocks;
   - segments of rows, drawn at random, each with the same probability `share`. A fault that spoils
     cells of k segments is missed with the probability (1 − share)^k at most: of a fault that comes
     back in every block, in a lane or a row of it, next to nothing is left. */
#ifndef SG_RUNTIME_CHECK_CELLS_H
#define SG_RUNTIME_CHECK_CELLS_H

#include "base/program.h"

typedef struct cells {
    int64_t size[PROGRAM_AXES];
    int dims;
    bool all;                                        /* cells are judged */
    int segment;                                     /* cells in one, of a row */
    int64_t segments;                                /* of a row */
    int64_t shell[PROGRAM_AXES], near[PROGRAM_AXES]; /* how deep the shell and the blocks' parts */
    int64_t seam[PROGRAM_AXES];                      /* 0: there is one block */
    double share;
    uint64_t seed;
} cells;

typedef struct cells_piece {
    int64_t at[PROGRAM_AXES];
    int along; /* which axis its cells lie */
    int count; /* may be 0 */
    bool judged;
} cells_piece;

/* `radius`: how far the shape reaches, in all steps of a launch. */
void cells_choose(cells *, const program *, const int64_t size[PROGRAM_AXES], int radius,
                  int64_t most, uint64_t seed);

int64_t cells_pieces(const cells *);
int cells_longest(const cells *); /* cells that a piece has at most */
void cells_get(const cells *, int64_t piece, cells_piece *out);

#endif
