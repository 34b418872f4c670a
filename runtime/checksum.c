/* XXH64. The names and numbers are those of its description. */
#include "runtime/checksum.h"

static const uint64_t prime_1 = 0x9E3779B185EBCA87, prime_2 = 0xC2B2AE3D27D4EB4F,
                      prime_3 = 0x165667B19E3779F9, prime_4 = 0x85EBCA77C2B2AE63,
                      prime_5 = 0x27D4EB2F165667C5;

static uint64_t rotate(uint64_t x, int by) {
    return x << by | x >> (64 - by);
}

static uint64_t load_32(const unsigned char *at) {
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static uint64_t load_64(const unsigned char *at) {
    return load_32(at) | load_32(at + 4) << 32;
}

static uint64_t mix(uint64_t accumulator, uint64_t lane) {
    return rotate(accumulator + lane * prime_2, 31) * prime_1;
}

static uint64_t merge(uint64_t accumulator, uint64_t other) {
    return (accumulator ^ mix(0, other)) * prime_1 + prime_4;
}

/* All whole stripes of 32 bytes; they go through four accumulators that do not wait for each
   other. */
static uint64_t take_stripes(const unsigned char **at, size_t stripes, uint64_t seed) {
    uint64_t a = seed + prime_1 + prime_2, b = seed + prime_2, c = seed, d = seed - prime_1;
    for (; stripes > 0; stripes--, *at += 32) {
        a = mix(a, load_64(*at));
        b = mix(b, load_64(*at + 8));
        c = mix(c, load_64(*at + 16));
        d = mix(d, load_64(*at + 24));
    }
    const uint64_t sum = rotate(a, 1) + rotate(b, 7) + rotate(c, 12) + rotate(d, 18);
    return merge(merge(merge(merge(sum, a), b), c), d);
}

uint64_t checksum_of(const void *data, size_t size, uint64_t seed) {
    const unsigned char *at = data;
    size_t left = size % 32;
    uint64_t h = size < 32 ? seed + prime_5 : take_stripes(&at, size / 32, seed);
    h += size;
    for (; left >= 8; left -= 8, at += 8)
        h = rotate(h ^ mix(0, load_64(at)), 27) * prime_1 + prime_4;
    if (left >= 4) {
        h = rotate(h ^ load_32(at) * prime_1, 23) * prime_2 + prime_3;
        left -= 4;
        at += 4;
    }
    for (; left > 0; left--, at++)
        h = rotate(h ^ *at * prime_5, 11) * prime_1;
    h = (h ^ h >> 33) * prime_2;
    h = (h ^ h >> 29) * prime_3;
    return h ^ h >> 32;
}
