/* The two hashes of this program. SHA-256 (libmd) makes keys: nobody can make two contents with
   the same one. XXH64 (xxHash) makes checksums, which find damage and are no defence against
   intent; SHA-256 would take ten times as long as all else that reading a cached binary costs. */
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

/* The digest of the pieces and their lengths, so that ("ab", "c") and ("a", "bc") differ. An
   empty piece may be NULL. */
digest digest_of(const blob *pieces, int count);

/* The text as a piece, without its NUL. */
blob digest_piece(const char *text);

/* In hexadecimal, NUL-terminated. */
void digest_print(const digest *, char out[DIGEST_TEXT]);

bool digest_equal(const digest *, const digest *);

/* XXH64, the same on every machine. `seed` may be the checksum of the bytes before these. */
uint64_t checksum_of(const void *data, size_t size, uint64_t seed);

#endif
