/* A whole array in one rank's host memory, handed out to the parts of a team and collected from
   them. Rows move in pieces, so that the rank which has the array needs little room besides; every
   exchange serves all ranks, so that none waits long. */
#include <string.h>

#include "runtime/team/team.h"

enum { MOST_BYTES = 8 << 20 }; /* of all pieces of an exchange, but for a row of each rank */

/* What the ranks tell each other first. */
typedef struct share {
    int64_t begin[3], end[3], global[3];
    int64_t root, element;
} share;

typedef struct moving {
    sg_team *team;
    const sg_team_part *part;
    int root;
    size_t element;
    bool collects;
    unsigned char *mine, *whole;
    share *shares;
    int64_t rows; /* of a piece */
    int64_t most; /* rows of the largest share */
    unsigned char *pieces;
    sg_message *messages;
} moving;

enum { MOST_ELEMENT = 1 << 16 };

static void check(job *j, void *argument) {
    const moving *m = argument;
    const sg_team_part *p = m->part;
    const char *call = m->collects ? "sg_team_get" : "sg_team_put";
    const int ranks = m->team->transport.ranks;
    if (p == NULL || p->size[0] <= 0)
        context_refuse(j, "%s: the part is not from sg_team_arrange", call);
    if (m->root < 0 || m->root >= ranks)
        context_refuse(j, "%s: there is no rank %d of %d", call, m->root, ranks);
    if (m->element == 0 || m->element > MOST_ELEMENT || m->mine == NULL)
        context_refuse(j, "%s: elements of %zu bytes, an array at %p", call, m->element,
                       (void *)m->mine);
    if (m->team->transport.rank == m->root && m->whole == NULL)
        context_refuse(j, "%s: rank %d has the whole array, and gives none", call, m->root);
}

static int64_t extent(const share *s, int axis) {
    return s->end[axis] - s->begin[axis];
}

/* Every rank sees all shares, so all refuse alike. */
static void learn(job *j, moving *m) {
    const int ranks = m->team->transport.ranks;
    share own = {.root = m->root, .element = (int64_t)m->element};
    memcpy(own.begin, m->part->begin, sizeof own.begin);
    memcpy(own.end, m->part->end, sizeof own.end);
    memcpy(own.global, m->part->global, sizeof own.global);
    for (int axis = 0; axis < 3; axis++)
        own.global[axis] = own.global[axis] > 0 ? own.global[axis] : 1;
    m->shares = job_array(j, (size_t)ranks, sizeof *m->shares);
    team_gather(j, m->team, &own, sizeof own, m->shares);
    int64_t longest = 1;
    for (int i = 0; i < ranks; i++) {
        const share *s = &m->shares[i];
        longest = extent(s, 0) > longest ? extent(s, 0) : longest;
        if (s->root != m->shares[0].root || s->element != m->shares[0].element ||
            memcmp(s->global, m->shares[0].global, sizeof s->global) != 0)
            context_refuse(j, "rank %d gives another rank, element or grid than rank 0", i);
    }
    m->rows = MOST_BYTES / (longest * own.element * ranks);
    m->rows = m->rows > 0 ? m->rows : 1;
}

static int64_t count_rows(const share *s) {
    return extent(s, 1) * extent(s, 2);
}

/* Rows of a rank's own cells, and a dense piece. In the whole array they lie at `begin`, in the
   rank's behind its ghost cells. */
static void copy_rows(const moving *m, const share *s, unsigned char *array, const int64_t size[3],
                      const int64_t at[3], int64_t first, int64_t count, unsigned char *piece,
                      bool to_array) {
    const size_t bytes = (size_t)extent(s, 0) * m->element;
    for (int64_t row = first; row < first + count; row++, piece += bytes) {
        const int64_t y = at[1] + row % extent(s, 1), z = at[2] + row / extent(s, 1);
        unsigned char *there = array + (size_t)((z * size[1] + y) * size[0] + at[0]) * m->element;
        memcpy(to_array ? there : piece, to_array ? piece : there, bytes);
    }
}

static void copy_whole(const moving *m, int rank, int64_t first, int64_t count,
                       unsigned char *piece, bool to_array) {
    const share *s = &m->shares[rank];
    copy_rows(m, s, m->whole, s->global, s->begin, first, count, piece, to_array);
}

static void copy_mine(const moving *m, int64_t first, int64_t count, unsigned char *piece,
                      bool to_array) {
    copy_rows(m, &m->shares[m->team->transport.rank], m->mine, m->part->size, m->part->low, first,
              count, piece, to_array);
}

/* Rows of a rank from `first` on that one piece holds; 0: it has no more. */
static int64_t rows_from(const moving *m, int rank, int64_t first) {
    const int64_t left = count_rows(&m->shares[rank]) - first;
    return left < m->rows ? left > 0 ? left : 0 : m->rows;
}

/* At the rank that has the whole: a piece of every other one. */
static void move_all(job *j, const moving *m, int64_t first, unsigned char *pieces,
                     sg_message *messages) {
    const int ranks = m->team->transport.ranks;
    int count = 0;
    for (int pass = 0; pass < 2; pass++) { /* packed before they are sent, or placed afterwards */
        unsigned char *piece = pieces;
        for (int i = 0; i < ranks; i++) {
            const int64_t rows = rows_from(m, i, first);
            const size_t bytes = (size_t)(rows * extent(&m->shares[i], 0)) * m->element;
            if (rows == 0 || i == m->root)
                continue;
            if (pass == 0)
                messages[count++] = (sg_message){i, piece, bytes};
            if (m->collects == (pass == 1))
                copy_whole(m, i, first, rows, piece, m->collects);
            piece += bytes;
        }
        if (pass == 0)
            team_exchange(j, m->team, messages, m->collects ? 0 : count, messages,
                          m->collects ? count : 0);
    }
}

static void move_own(job *j, const moving *m, int64_t first, unsigned char *piece) {
    const int rank = m->team->transport.rank;
    const int64_t rows = rows_from(m, rank, first);
    const size_t bytes = (size_t)(rows * extent(&m->shares[rank], 0)) * m->element;
    const sg_message message = {m->root, piece, bytes};
    if (rows == 0)
        return;
    if (m->collects)
        copy_mine(m, first, rows, piece, false);
    team_exchange(j, m->team, &message, m->collects, &message, !m->collects);
    if (!m->collects)
        copy_mine(m, first, rows, piece, true);
}

/* Of pieces: a rank's own, and where the whole is one of each rank. */
static void make_room(job *j, moving *m) {
    const int ranks = m->team->transport.ranks;
    const bool all = m->team->transport.rank == m->root;
    int64_t longest = 1;
    for (int i = 0; i < ranks; i++) {
        const int64_t rows = count_rows(&m->shares[i]), x = extent(&m->shares[i], 0);
        m->most = rows > m->most ? rows : m->most;
        longest = x > longest ? x : longest;
    }
    const int64_t rows = m->most < m->rows ? m->most : m->rows;
    m->pieces = job_array(j, all ? (size_t)ranks : 1, (size_t)(rows * longest) * m->element + 1);
    m->messages = job_array(j, (size_t)ranks, sizeof *m->messages);
}

static void move(job *j, void *argument) {
    moving *m = argument;
    const int rank = m->team->transport.rank;
    team_together(j, m->team, check, m);
    learn(j, m);
    make_room(j, m);
    unsigned char *pieces = m->pieces;
    for (int64_t first = 0; first < m->most; first += m->rows) {
        if (rank != m->root) {
            move_own(j, m, first, pieces);
            continue;
        }
        const int64_t rows = rows_from(m, rank, first);
        if (m->collects)
            copy_mine(m, first, rows, pieces, false);
        copy_whole(m, rank, first, rows, pieces, m->collects);
        if (!m->collects)
            copy_mine(m, first, rows, pieces, true);
        move_all(j, m, first, pieces, m->messages);
    }
}

sg_status sg_team_put(sg_team *team, const sg_team_part *part, int rank, size_t element,
                      const void *whole, void *mine) {
    /* `whole` is only read. */
    moving m = {.team = team, .part = part, .root = rank, .element = element, .mine = mine};
    m.whole = (unsigned char *)whole;
    return team_run(team, move, &m);
}

sg_status sg_team_get(sg_team *team, const sg_team_part *part, int rank, size_t element,
                      const void *mine, void *whole) {
    /* `mine` is only read. */
    moving m = {.team = team, .part = part, .root = rank, .element = element, .collects = true};
    m.mine = (unsigned char *)mine;
    m.whole = whole;
    return team_run(team, move, &m);
}
