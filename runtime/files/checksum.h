/* A fast checksum that shows damage; it is no defence against intent. Takes: bytes. Makes: XXH64 of
   them, the same on every machine; SHA-256 would take ten times as long as all else that reading a
   cached binary costs. Needs: xxHash's header. */
#ifndef SG_RUNTIME_FILES_CHECKSUM_H
#define SG_RUNTIME_FILES_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/* `seed` may be the checksum of what came before. */
uint64_t checksum_of(const void *data, size_t size, uint64_t seed);

#endif
