/* The heads of checkpoints, what --restart and --checkpoint ask for, and checksums. */
#include "cli/commands/run.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/io.h"

static const char title[] = "stencilgen checkpoint 2\n";

/* The second line of a head: the checksum of all that follows it. */
enum { SEAL = sizeof "checksum 0123456789abcdef\n" - 1, SEALED = sizeof title - 1 + SEAL };

static void seal(const char *head, char line[SEAL + 1]) {
    snprintf(line, SEAL + 1, "checksum %016" PRIx64 "\n",
             checksum_of(head + SEALED, CHECKPOINT_HEAD - SEALED, 0));
}

static void digest_meaning(const sg_kernel *kernel, char out[72]) {
    const blob text = digest_piece(sg_kernel_text(kernel, SG_TEXT_MEANING));
    const digest d = digest_of(&text, 1);
    digest_print(&d, out);
}

void checkpoint_describe(const arrays *a, const sg_kernel *kernel, int64_t steps, checkpoint *out) {
    *out = (checkpoint){.steps = steps, .element = a->info.element_size};
    digest_meaning(kernel, out->meaning);
    snprintf(out->plan, sizeof out->plan, "%s", sg_kernel_text(kernel, SG_TEXT_PLAN));
    memcpy(out->size, a->size, sizeof out->size);
    for (int i = 0; i < a->count && out->count < CHECKPOINT_ARRAYS; i++)
        if (arrays_remains(a, i)) {
            out->bytes[out->count] = arrays_cell(a, i);
            snprintf(out->names[out->count++], sizeof out->names[0], "%s", a->items[i].info.name);
        }
}

uint64_t checkpoint_offset(const checkpoint *c, int index) {
    uint64_t bytes = 0;
    for (int i = 0; i < index; i++)
        bytes += c->bytes[i];
    return CHECKPOINT_HEAD +
           bytes * (uint64_t)c->size[0] * (uint64_t)c->size[1] * (uint64_t)c->size[2];
}

uint64_t checkpoint_record_offset(const checkpoint *c, int index) {
    uint64_t at = checkpoint_offset(c, c->count);
    for (int i = 0; i < index; i++)
        at += (uint64_t)c->records[i].rows * (uint64_t)c->records[i].row;
    return at;
}

int checkpoint_find(const checkpoint *c, bool is_monitor, const char *name) {
    int i = 0;
    while (i < c->record_count &&
           (c->records[i].is_monitor != is_monitor || strcmp(c->records[i].name, name) != 0))
        i++;
    return i < c->record_count ? i : -1;
}

uint64_t checkpoint_end(const checkpoint *c) {
    return checkpoint_record_offset(c, c->record_count);
}

/* There is a checksum for each block of what follows the head, and one for these, at the end. */
enum { BLOCK = 1 << 20 };

static uint64_t blocks_to(uint64_t end) {
    return (end - CHECKPOINT_HEAD + BLOCK - 1) / BLOCK;
}

uint64_t checkpoint_bytes(const checkpoint *c) {
    return checkpoint_end(c) + (blocks_to(checkpoint_end(c)) + 1) * sizeof(uint64_t);
}

bool checkpoint_head(const checkpoint *c, char head[CHECKPOINT_HEAD]) {
    char line[SEAL + 1];
    memset(head, 0, CHECKPOINT_HEAD);
    int at = snprintf(head, CHECKPOINT_HEAD,
                      "%s%*smeaning %s\nplan %s\nsteps %" PRId64 "\nsize %" PRId64 " %" PRId64
                      " %" PRId64 "\nelement %zu\n",
                      title, SEAL, "", c->meaning, c->plan, c->steps, c->size[0], c->size[1],
                      c->size[2], c->element);
    for (int i = 0; i < c->count && at < CHECKPOINT_HEAD; i++) {
        at += snprintf(head + at, (size_t)(CHECKPOINT_HEAD - at), "array %s", c->names[i]);
        if (c->bytes[i] != c->element && at < CHECKPOINT_HEAD)
            at += snprintf(head + at, (size_t)(CHECKPOINT_HEAD - at), " %zu", c->bytes[i]);
        if (at < CHECKPOINT_HEAD)
            at += snprintf(head + at, (size_t)(CHECKPOINT_HEAD - at), "\n");
    }
    for (int i = 0; i < c->record_count && at < CHECKPOINT_HEAD; i++) {
        const checkpoint_record *r = &c->records[i];
        at += snprintf(head + at, (size_t)(CHECKPOINT_HEAD - at), "%s %s %" PRId64 " %" PRId64 "\n",
                       r->is_monitor ? "samples" : "traces", r->name, r->rows, r->row);
    }
    seal(head, line);
    memcpy(head + sizeof title - 1, line, SEAL);
    return at < CHECKPOINT_HEAD;
}

/* "traces NAME ROWS BYTES", or "samples". */
static bool take_record(checkpoint *c, const char *line) {
    char unit[24] = "";
    if (c->record_count == CHECKPOINT_RECORDS)
        return false;
    checkpoint_record *r = &c->records[c->record_count];
    if (sscanf(line, "%23s %71s %" SCNd64 " %" SCNd64, unit, r->name, &r->rows, &r->row) != 4 ||
        (strcmp(unit, "traces") != 0 && strcmp(unit, "samples") != 0))
        return false;
    r->is_monitor = strcmp(unit, "samples") == 0;
    c->record_count++;
    return r->rows >= 0 && r->row >= 0 && (r->row == 0 || r->rows <= INT64_MAX / 64 / r->row);
}

/* "array NAME", and the bytes of a cell where they are not those of the dtype. */
static bool take_array(checkpoint *c, const char *line) {
    if (c->count == CHECKPOINT_ARRAYS)
        return false;
    c->bytes[c->count] = c->element;
    if (sscanf(line, "array %71s %zu", c->names[c->count], &c->bytes[c->count]) < 1)
        return false;
    const size_t bytes = c->bytes[c->count++];
    return bytes == 2 || bytes == 4 || bytes == 8;
}

/* One line of a head. */
static bool take_line(checkpoint *c, const char *line) {
    char unit[24] = "";
    if (sscanf(line, "meaning %71s", c->meaning) == 1 ||
        sscanf(line, "steps %" SCNd64, &c->steps) == 1 ||
        sscanf(line, "element %zu", &c->element) == 1 ||
        sscanf(line, "size %" SCNd64 " %" SCNd64 " %" SCNd64, &c->size[0], &c->size[1],
               &c->size[2]) == 3)
        return true;
    if (sscanf(line, "%23s", unit) == 1 && strcmp(unit, "plan") == 0) {
        snprintf(c->plan, sizeof c->plan, "%s", line + sizeof "plan" - 1 + (line[4] == ' '));
        return true;
    }
    return strncmp(line, "array ", 6) == 0 ? take_array(c, line) : take_record(c, line);
}

static bool parse(char *head, checkpoint *c) {
    for (char *line = head + SEALED; *line != '\0';) {
        char *end = strchr(line, '\n');
        if (end == NULL)
            return false;
        *end = '\0';
        if (!take_line(c, line))
            return false;
        line = end + 1;
    }
    uint64_t room = (UINT64_C(1) << 60) / CHECKPOINT_ARRAYS;
    for (int axis = 0; axis < 3; axis++) {
        if (c->size[axis] < 1 || (uint64_t)c->size[axis] > room)
            return false;
        room /= (uint64_t)c->size[axis];
    }
    return c->steps >= 0 && c->count > 0 && (c->element == 4 || c->element == 8) && room >= 8;
}

/* What is wrong with the bytes of a head; NULL: nothing. */
static const char *judge_head(const char *head, size_t length) {
    char line[SEAL + 1];
    if (length != CHECKPOINT_HEAD || strncmp(head, title, sizeof title - 1) != 0)
        return "this is no checkpoint of stencilgen";
    seal(head, line);
    return memcmp(head + sizeof title - 1, line, SEAL) == 0
               ? NULL
               : "the checkpoint is damaged: the checksum of its head is of other bytes";
}

/* Reads the head of a file and compares its length. An exit code, after an error. */
static int read_head(const char *path, checkpoint *out) {
    char head[CHECKPOINT_HEAD + 1] = {0};
    struct stat about;
    *out = (checkpoint){.steps = -1};
    FILE *file = fopen(path, "rbe");
    if (file == NULL || fstat(fileno(file), &about) != 0) {
        const int error = errno;
        if (file != NULL)
            fclose(file);
        return complain(EXIT_DATA, path, "cannot open: %s", strerror(error));
    }
    const size_t length = fread(head, 1, CHECKPOINT_HEAD, file);
    fclose(file);
    const char *wrong = judge_head(head, length);
    if (wrong != NULL)
        return complain(EXIT_DATA, path, "%s", wrong);
    if (!parse(head, out))
        return complain(EXIT_DATA, path, "this is no checkpoint of stencilgen");
    if ((uint64_t)about.st_size != checkpoint_bytes(out))
        return complain(EXIT_DATA, path,
                        "the checkpoint has %lld bytes, but its head says %" PRIu64,
                        (long long)about.st_size, checkpoint_bytes(out));
    return EXIT_DONE;
}

int checkpoint_judge(const char *path, const checkpoint *c, const arrays *a,
                     const sg_kernel *kernel) {
    checkpoint ours;
    checkpoint_describe(a, kernel, c->steps, &ours);
    if (strcmp(ours.meaning, c->meaning) != 0 || ours.count != c->count ||
        ours.element != c->element)
        return complain(EXIT_DATA, path, "the checkpoint is of another spec");
    for (int i = 0; i < c->count; i++)
        if (strcmp(c->names[i], ours.names[i]) != 0 || c->bytes[i] != ours.bytes[i])
            return complain(EXIT_DATA, path, "the checkpoint has other arrays");
    if (memcmp(ours.size, c->size, sizeof c->size) != 0)
        return complain(EXIT_DATA, path, "the checkpoint is of %s, and this run of %s",
                        in_extents(c->size, a->info.dims), in_extents(a->size, a->info.dims));
    return EXIT_DONE;
}

/* ---- options --------------------------------------------------------------------------------- */

/* Whether --size, if it is there, is the state's. */
static bool is_of_size(const options *own, const int64_t *size) {
    bool same = true;
    for (int i = 0; own->size_count > 0 && i < 3; i++)
        same = same && (i < own->size_count ? own->size[i] : 1) == size[i];
    return same;
}

int checkpoint_begin(options *own, checkpoint *out) {
    if (own->restart == NULL)
        return EXIT_DONE;
    const int code = read_head(own->restart, out);
    if (code != EXIT_DONE)
        return code;
    if (own->schedule == NULL)
        own->schedule = out->plan;
    int dims = 3; /* the spec's are not known yet */
    while (dims > own->size_count && out->size[dims - 1] == 1)
        dims--;
    if (!is_of_size(own, out->size))
        return complain(EXIT_USAGE, own->restart, "its grid is %s, but --size is %s",
                        in_extents(out->size, dims), in_extents(own->size, own->size_count));
    memcpy(own->size, out->size, sizeof own->size);
    own->size_count = 3;
    if (own->steps < out->steps)
        return complain(EXIT_USAGE, own->restart, "%s made already; --steps counts all of them",
                        out->steps == 1 ? "1 step is"
                                        : phrase("%" PRId64 " steps are", out->steps));
    return EXIT_DONE;
}

int checkpoint_try(const char *path) {
    output *file;
    output_set alone = {0};
    int code = output_begin(&file, &alone, path);
    if (code == EXIT_DONE && output_stretch(file, 0, NULL, 0) == NULL)
        code = EXIT_DATA;
    output_drop(file);
    return code;
}

/* ---- checksums ------------------------------------------------------------------------------- */

/* Ranks share the blocks evenly, whatever their parts are, so that any number of ranks can compare
   them. The file is read again for that, mostly from memory that the system still has. */

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
