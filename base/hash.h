/* SHA-256, as the key of what a binary depends on. Takes: pieces of bytes. Makes: 32 bytes.
   Needs: libmd. */
#ifndef SG_BASE_HASH_H
#define SG_BASE_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct blob {
    const void *data;
    size_t size;
} blob;

typedef struct digest {
    unsigned char bytes[32];
} digest;

enum { DIGEST_TEXT = 2 * sizeof(digest) + 1 };

/* Of the pieces and their lengths, so that no two lists of pieces run together. A piece of no bytes
   may be NULL. */
digest digest_of(const blob *pieces, int count);

/* A piece: a text without its end. */
blob digest_piece(const char *text);

/* In hexadecimal, NUL-terminated. */
void digest_print(const digest *, char out[DIGEST_TEXT]);

bool digest_equal(const digest *, const digest *);

/* A fast checksum that shows damage; it is no defence against intent. Takes: bytes. Makes: XXH64 of
   them, the same on every machine; SHA-256 would take ten times as long as all else that reading a
   cached binary costs. Needs: xxHash's header. */

/* `seed` may be the checksum of what came before. */
uint64_t checksum_of(const void *data, size_t size, uint64_t seed);

#endif
