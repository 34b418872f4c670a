/* The numbers of sample.h. The lowest bits choose the share and the highest 53 the number, so that
   the two are independent. */
#include "base/sample.h"

#include <math.h>

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
