/* The checksums of a checkpoint: one for each block of what follows its head, and one for these, at
   its end. Ranks share the blocks evenly, whatever their parts are, so that any number of ranks can
   compare them. The file is read again for that, mostly from memory that the system still has. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/io.h"
#include "cli/commands/run.h"

enum { BLOCK = 1 << 20 };

static uint64_t blocks_to(uint64_t end) {
    return (end - CHECKPOINT_HEAD + BLOCK - 1) / BLOCK;
}

uint64_t sums_bytes(uint64_t end) {
    return (blocks_to(end) + 1) * sizeof(uint64_t);
}

/* The blocks of a rank. */
typedef struct share {
    uint64_t first, count; /* its own */
    uint64_t most;         /* of any rank; at least 1 */
} share;

static share share_of(const rank *r, uint64_t end) {
    const uint64_t blocks = blocks_to(end), ranks = (uint64_t)r->of->count;
    share s = {.most = (blocks + ranks - 1) / ranks};
    s.first = s.most * (uint64_t)r->number;
    s.count = s.first < blocks ? blocks - s.first : 0;
    s.count = s.count < s.most ? s.count : s.most;
    return s;
}

static bool read_at(int file, uint64_t at, void *out, size_t bytes) {
    return lseek(file, (off_t)at, SEEK_SET) >= 0 && io_read_all(file, out, bytes) == (ssize_t)bytes;
}

/* Of the rank's own blocks. False: they cannot be read. */
static bool sum(int file, const share *s, uint64_t end, uint64_t *sums) {
    unsigned char *block = malloc(BLOCK);
    bool good = block != NULL;
    for (uint64_t i = 0; i < s->count && good; i++) {
        const uint64_t at = CHECKPOINT_HEAD + (s->first + i) * BLOCK;
        const size_t bytes = end - at < BLOCK ? (size_t)(end - at) : BLOCK;
        good = read_at(file, at, block, bytes);
        sums[i] = good ? checksum_of(block, bytes, 0) : 0;
    }
    free(block);
    return good;
}

/* Behind the data, and the checksum of all of them. `sums` has room for that. */
static bool put(int file, uint64_t end, uint64_t *sums) {
    const uint64_t count = blocks_to(end);
    sums[count] = checksum_of(sums, count * sizeof *sums, 0);
    return lseek(file, (off_t)end, SEEK_SET) >= 0 &&
           io_write_all(file, sums, (count + 1) * sizeof *sums) == 0;
}

void sums_write(local *l, const char *path, uint64_t end) {
    rank *r = l->rank;
    double place = r->number == 0 ? (double)end : 0; /* below 2^53 it is exact */
    if (!rank_agreed(r) ||
        !rank_good(r, sg_team_reduce(r->team, SG_COMBINE_SUM, &place, 1, &place)))
        return;
    end = (uint64_t)place;
    const share s = share_of(r, end);
    uint64_t *mine = calloc(s.most, sizeof *mine);
    uint64_t *all = calloc(s.most * (uint64_t)r->of->count + 1, sizeof *all);
    const int file = open(path, (r->number == 0 ? O_RDWR : O_RDONLY) | O_CLOEXEC);
    if (mine == NULL || all == NULL || file < 0 || !sum(file, &s, end, mine))
        rank_fail(r, "the checkpoint cannot be read again for its checksums");
    if (rank_agreed(r) && rank_good(r, sg_team_gather(r->team, mine, s.most * sizeof *mine, all)) &&
        r->number == 0 && !put(file, end, all))
        rank_fail(r, "the checkpoint cannot be written");
    if (file >= 0 && close(file) != 0)
        rank_fail(r, "the checkpoint cannot be written");
    free(all);
    free(mine);
}

/* Whether the rank's own blocks, and all checksums, are as they were written. */
static bool compare(int file, const share *s, uint64_t end, uint64_t *mine, uint64_t *all) {
    const uint64_t count = blocks_to(end);
    return sum(file, s, end, mine) && read_at(file, end, all, (count + 1) * sizeof *all) &&
           all[count] == checksum_of(all, count * sizeof *all, 0) &&
           memcmp(mine, all + s->first, s->count * sizeof *mine) == 0;
}

bool sums_compare(local *l) {
    rank *r = l->rank;
    const char *path = l->work->options->restart;
    const uint64_t end = checkpoint_end(&l->work->from);
    const share s = share_of(r, end);
    char why[MOST_PATH + 96];
    uint64_t *mine = calloc(s.most, sizeof *mine);
    uint64_t *all = calloc(blocks_to(end) + 1, sizeof *all);
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    snprintf(why, sizeof why, "%s: the checkpoint is damaged: its checksums are of other bytes",
             path);
    if (mine == NULL || all == NULL)
        rank_fail(r, "out of memory");
    else if (file < 0 || !compare(file, &s, end, mine, all))
        rank_fail(r, why);
    if (file >= 0)
        close(file);
    free(all);
    free(mine);
    return rank_agreed(r);
}
