/* SHA-256 by libmd. */
#include "base/hash.h"

#include <assert.h>
#include <sha2.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

static_assert(sizeof(digest) == SHA256_DIGEST_LENGTH, "a digest is what SHA-256 makes");

digest digest_of(const blob *pieces, int count) {
    SHA2_CTX state;
    digest d;
    SHA256Init(&state);
    for (int i = 0; i < count; i++) {
        uint8_t length[8];
        for (int b = 0; b < 8; b++)
            length[b] = (uint8_t)((uint64_t)pieces[i].size >> (8 * b));
        SHA256Update(&state, length, sizeof length);
        if (pieces[i].size > 0) /* else its data may be NULL */
            SHA256Update(&state, pieces[i].data, pieces[i].size);
    }
    SHA256Final(d.bytes, &state);
    return d;
}

blob digest_piece(const char *text) {
    return (blob){.data = text, .size = strlen(text)};
}

void digest_print(const digest *d, char out[DIGEST_TEXT]) {
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < sizeof d->bytes; i++) {
        out[2 * i] = digits[d->bytes[i] >> 4];
        out[2 * i + 1] = digits[d->bytes[i] & 15];
    }
    out[DIGEST_TEXT - 1] = '\0';
}

bool digest_equal(const digest *a, const digest *b) {
    return memcmp(a->bytes, b->bytes, sizeof a->bytes) == 0;
}

/* XXH64 by xxHash, compiled in: nothing to link. */

uint64_t checksum_of(const void *data, size_t size, uint64_t seed) {
    return XXH64(data, size, seed);
}
