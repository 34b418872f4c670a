/* Sets of lines, and the greedy choice among them. */
#include "tests/runner/parts.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

enum { LONGEST_LINE = 512 };

/* Of a line up to its comment, a text: without spaces, each number as one 0 without its sign. */
static size_t squeeze(const char *line, size_t length, char kept[LONGEST_LINE + 1]) {
    size_t n = 0;
    for (size_t i = 0; i < length && n < LONGEST_LINE && strncmp(line + i, "//", 2) != 0; i++) {
        const bool number = isdigit((unsigned char)line[i]);
        if (isspace((unsigned char)line[i]) || (number && n > 0 && kept[n - 1] == '0'))
            continue;
        if (number && n > 1 && kept[n - 1] == '-' && strchr("(,<{=", kept[n - 2]) != NULL)
            n--;
        kept[n++] = number ? '0' : line[i];
    }
    kept[n] = '\0';
    return n;
}

static bool begins(const char *text, const char *word) {
    return strncmp(text, word, strlen(word)) == 0;
}

/* Of a squeezed line. Rows of tables of weights and of offsets begin with a number or a brace. */
static bool is_arithmetic(const char *text) {
    return text[0] == '0' || text[0] == '-' || begins(text, "{0") || strstr(text, "fma") != NULL ||
           begins(text, "constRealt") || begins(text, "out[") || begins(text, "sum[") ||
           begins(text, "usingHeldLines=") || strstr(text, "at.templatetap<") != NULL;
}

static bool is_word(char c) {
    return isalnum((unsigned char)c) || c == '_' || c == '.';
}

/* A word up to its first underscore, behind which a tap has its place; or one sign. */
static uint64_t next_word(const char *text, size_t length, size_t *at) {
    const size_t first = *at;
    while (*at < length && is_word(text[*at]))
        ++*at;
    if (*at == first)
        ++*at;
    const char *end = memchr(text + first, '_', *at - first);
    return checksum_of(text + first, end != NULL ? (size_t)(end - text) - first : *at - first, 0);
}

static void put(parts *p, uint64_t hash) {
    p->hashes[p->count++] = hash | 1;
}

static void put_pairs(parts *p, const char *text, size_t length) {
    uint64_t last = 0;
    for (size_t at = 0; at < length;) {
        const uint64_t word = next_word(text, length, &at);
        put(p, checksum_of(&word, sizeof word, last));
        last = word;
    }
}

static int by_hash(const void *a, const void *b) {
    const uint64_t first = *(const uint64_t *)a, second = *(const uint64_t *)b;
    return (first > second) - (first < second);
}

parts parts_of(job *j, const char *source, const char *arch) {
    parts p = {.bytes = strlen(source)};
    p.hashes = job_array(j, p.bytes + 1, sizeof *p.hashes);
    const uint64_t machine = checksum_of(arch, strlen(arch), 0);
    uint64_t target = machine; /* and the type of elements */
    for (const char *line = source; *line != '\0';) {
        const size_t whole = strcspn(line, "\n");
        char text[LONGEST_LINE + 1];
        const size_t length = squeeze(line, whole, text);
        line += whole + (line[whole] == '\n');
        if (length == 0)
            continue;
        const uint64_t hash = checksum_of(text, length, 0);
        if (begins(text, "usingReal="))
            target = checksum_of(&hash, sizeof hash, target);
        if (is_arithmetic(text) || strstr(text, "__grid_constant__") != NULL)
            put_pairs(&p, text, length);
        else
            put(&p, hash);
        if (strchr(text, '"') != NULL && strstr(text, "static_assert") == NULL &&
            !begins(text, "extern\"C\""))
            put(&p, checksum_of(&hash, sizeof hash, strchr(text, '%') != NULL ? target : machine));
    }
    qsort(p.hashes, p.count, sizeof *p.hashes, by_hash);
    size_t kept = 0;
    for (size_t i = 0; i < p.count; i++)
        if (kept == 0 || p.hashes[i] != p.hashes[kept - 1])
            p.hashes[kept++] = p.hashes[i];
    p.count = kept;
    return p;
}

/* ---- the choice ------------------------------------------------------------------------------ */

enum { TABLE = 1 << 18 }; /* ten times what there are */
enum { START = 20000 };   /* a compilation takes as long before it begins as for so many bytes */

/* How many of the chosen sets have each hash. */
typedef struct table {
    uint64_t *slots; /* 0 where free */
    int *holders;
} table;

static int *holders(const table *t, uint64_t hash) {
    uint64_t *at = &t->slots[hash / 2 % TABLE];
    while (*at != 0 && *at != hash)
        at = at + 1 < t->slots + TABLE ? at + 1 : t->slots;
    *at = hash;
    return &t->holders[at - t->slots];
}

static size_t new_ones(const table *t, const parts *p) {
    size_t count = 0;
    for (size_t i = 0; i < p->count; i++)
        count += *holders(t, p->hashes[i]) == 0;
    return count;
}

static void hold(const table *t, const parts *p, int change) {
    for (size_t i = 0; i < p->count; i++)
        *holders(t, p->hashes[i]) += change;
}

/* Those without which nothing is missing, the longest first. */
static void drop_spare(const table *t, const parts *sets, int count, bool *chosen) {
    bool *seen = chosen + count;
    for (;;) {
        int next = -1;
        for (int i = 0; i < count; i++)
            if (chosen[i] && !seen[i] && (next < 0 || sets[i].bytes > sets[next].bytes))
                next = i;
        if (next < 0)
            return;
        seen[next] = true;
        hold(t, &sets[next], -1);
        chosen[next] = new_ones(t, &sets[next]) > 0;
        if (chosen[next])
            hold(t, &sets[next], 1);
    }
}

bool *parts_cover(job *j, const parts *sets, int count) {
    const table covered = {job_array(j, TABLE, sizeof *covered.slots),
                           job_array(j, TABLE, sizeof *covered.holders)};
    bool *chosen = job_array(j, 2 * (size_t)count + 1, sizeof *chosen); /* and what was looked at */
    size_t *most = job_array(j, (size_t)count + 1, sizeof *most); /* new ones when last counted */
    for (int i = 0; i < count; i++)
        most[i] = sets[i].count;
    for (;;) {
        int best = 0;
        for (int i = 1; i < count; i++)
            best = most[i] * (START + sets[best].bytes) > most[best] * (START + sets[i].bytes)
                       ? i
                       : best;
        if (count == 0 || most[best] == 0)
            break;
        const size_t now = new_ones(&covered, &sets[best]);
        if (now > 0 && now == most[best]) {
            chosen[best] = true;
            hold(&covered, &sets[best], 1);
        }
        most[best] = chosen[best] ? 0 : now;
    }
    drop_spare(&covered, sets, count, chosen);
    return chosen;
}
