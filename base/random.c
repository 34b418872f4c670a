/* The generator, and the numbers of samples. */
#include "base/random.h"

#include <math.h>

#include "base/clock.h"

uint64_t random_bits(uint64_t seed, uint64_t index) {
    uint64_t z = seed + (index + 1) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

uint64_t random_next(uint64_t *state) {
    const uint64_t bits = random_bits(*state, 0);
    *state += UINT64_C(0x9e3779b97f4a7c15);
    return bits;
}

double random_unit(uint64_t seed, uint64_t index) {
    return (double)(random_bits(seed, index) >> 11) * 0x1p-53;
}

uint64_t random_stream(uint64_t seed, uint64_t stream) {
    return random_bits(random_bits(seed, 0), stream);
}

uint64_t random_fresh(void) {
    const struct timespec now = clock_date();
    const uint64_t seed = random_bits((uint64_t)now.tv_sec, (uint64_t)now.tv_nsec);
    return seed != 0 ? seed : 1;
}

typedef struct filling {
    void *to;
    dtype type;
    int64_t first, count;
    uint64_t seed;
    const sample *sample;
} filling;

enum { PIECE = 1 << 16 };

static void fill_piece(void *argument, int64_t piece, int worker) {
    const filling *f = argument;
    (void)worker;
    const int64_t begin = piece * PIECE;
    const int64_t end = begin + PIECE < f->count ? begin + PIECE : f->count;
    if (f->type == DTYPE_FLOAT) {
        float *to = f->to;
        for (int64_t i = begin; i < end; i++)
            to[i] = (float)(random_bits(f->seed, (uint64_t)(f->first + i)) >> 40) * 0x1p-23f - 1;
    } else if (f->type == DTYPE_DOUBLE) {
        double *to = f->to;
        for (int64_t i = begin; i < end; i++)
            to[i] = (double)(random_bits(f->seed, (uint64_t)(f->first + i)) >> 11) * 0x1p-52 - 1;
    } else {
        uint16_t *to = f->to;
        for (int64_t i = begin; i < end; i++)
            to[i] = dtype_narrow(f->type, 2 * random_unit(f->seed, (uint64_t)(f->first + i)) - 1);
    }
}

static void sample_piece(void *argument, int64_t piece, int worker) {
    const filling *f = argument;
    (void)worker;
    const int64_t begin = piece * PIECE;
    const int64_t end = begin + PIECE < f->count ? begin + PIECE : f->count;
    for (int64_t i = begin; i < end; i++) {
        const double v = sample_real(f->sample, random_bits(f->seed, (uint64_t)(f->first + i)));
        dtype_store(f->type, (char *)f->to + (size_t)i * dtype_words[f->type].bytes, v);
    }
}

void random_fill_sampled(workers *w, void *to, dtype type, int64_t first, int64_t count,
                         uint64_t seed, const sample *s) {
    filling f = {to, type, first, count, seed, s};
    workers_run(w, (count + PIECE - 1) / PIECE, sample_is_plain(s) ? fill_piece : sample_piece, &f);
}

/* The lowest bits choose the share and the highest 53 the number, so that the two are
   independent. */

const sample sample_plain = {.low = -1, .high = 1};

bool sample_is_plain(const sample *s) {
    return s->of_values == 0 && s->of_ties == 0 && s->of_wide == 0 && s->low == -1 && s->high == 1;
}

sample_share sample_share_of(const sample *s, uint64_t bits) {
    const int part = (int)(bits % SAMPLE_PARTS);
    return part < s->of_values                             ? SAMPLE_VALUE
           : part < s->of_values + s->of_ties              ? SAMPLE_TIE
           : part < s->of_values + s->of_ties + s->of_wide ? SAMPLE_WIDE
                                                           : SAMPLE_USUAL;
}

double sample_real(const sample *s, uint64_t bits) {
    const uint64_t rest = bits >> 11;
    const double unit = (double)rest * 0x1p-53;
    switch (sample_share_of(s, bits)) {
    case SAMPLE_VALUE:
        return s->values[rest % (uint64_t)s->count];
    case SAMPLE_TIE:
        return s->ties[rest % (uint64_t)s->tie_count];
    case SAMPLE_WIDE: /* the difference of the ends might overflow */
        return s->wide_low * (1 - unit) + s->wide_high * unit;
    default:
        return fmin(fmax(s->low * (1 - unit) + s->high * unit, s->low), s->high);
    }
}
