/* What the best systems with temporal blocking reach on an H100 80 GB HBM3 with CUDA 13.0, each at
   its best number of steps: AN5D (Matsumura et al., CGO 2020), EBISU (Zhang et al., ICS 2023),
   LoRAStencil (Zhang et al., SC 2024), FastStencil (2026). */
#include <string.h>

#include "stencils.h"

static const rival rivals[] = {
    {"1d3", true, {0}, 535, "LoRAStencil"},
    {"1d5", true, {0}, 357, "LoRAStencil"},
    {"2d5", false, {16384, 16384}, 1511, "AN5D, 10 steps"},
    {"2d5", false, {8192, 8192}, 687, "EBISU"},
    {"2d5", true, {11616, 11616}, 2055, "FastStencil, 32 steps"},
    {"2d5", true, {4096, 4096}, 1609, "FastStencil"},
    {"2d5", true, {8192, 8192}, 1672, "FastStencil"},
    {"2d5", true, {16384, 16384}, 1508, "FastStencil"},
    {"2d9", false, {16384, 16384}, 845, "AN5D, 5 steps"},
    {"2d9", false, {8192, 8192}, 521, "EBISU"},
    {"2d9", true, {12672, 12672}, 1080, "FastStencil"},
    {"2d9", true, {8192, 8192}, 926, "FastStencil"},
    {"2d9", true, {16384, 16384}, 1032, "FastStencil"},
    {"2d9box", false, {10560, 10560}, 1061, "EBISU, 8 steps"},
    {"2d9box", false, {8192, 8192}, 569, "EBISU"},
    {"2d9box", true, {9504, 9504}, 1340, "FastStencil"},
    {"2d9box", true, {8192, 8192}, 1151, "FastStencil"},
    {"2d9box", true, {16384, 16384}, 1205, "FastStencil"},
    {"3d7", false, {768, 352, 2560}, 642, "EBISU, 8 steps"},
    {"3d7", false, {512, 512, 512}, 602, "EBISU"},
    {"3d7", true, {2560, 216, 572}, 578, "FastStencil"},
    {"3d7", true, {256, 256, 256}, 272, "FastStencil"},
    {"3d7", true, {512, 512, 512}, 394, "FastStencil"},
    {"3d7", true, {768, 768, 768}, 537, "FastStencil"},
    {"3d13", false, {512, 512, 512}, 256, "AN5D, 2 steps"},
    {"3d13", true, {0}, 267, "FastStencil"},
    {"3d13", true, {512, 512, 512}, 174, "FastStencil"},
    {"3d13", true, {768, 768, 768}, 243, "FastStencil"},
    {"3d27", false, {512, 512, 512}, 321, "EBISU, 5 steps"},
    {"3d27", true, {2560, 220, 540}, 331, "FastStencil"},
    {"3d27", true, {512, 512, 512}, 168, "FastStencil"},
    {"3d27", true, {768, 768, 768}, 255, "FastStencil"},
};

static bool same_size(const int64_t a[AXES], const int64_t b[AXES]) {
    for (int axis = 0; axis < AXES; axis++)
        if ((a[axis] > 1 ? a[axis] : 1) != (b[axis] > 1 ? b[axis] : 1))
            return false;
    return true;
}

static const rival *find(const shape *s, bool wide, const int64_t *size) {
    const rival *best = NULL;
    for (size_t i = 0; i < sizeof rivals / sizeof *rivals; i++) {
        const rival *r = &rivals[i];
        if (strcmp(r->shape, s->name) == 0 && r->wide == wide &&
            (size == NULL || same_size(r->size, size)) && (best == NULL || r->rate > best->rate))
            best = r;
    }
    return best;
}

const rival *rival_best(const shape *s, bool wide) {
    return find(s, wide, NULL);
}

const rival *rival_here(const shape *s, bool wide, const int64_t size[AXES]) {
    return find(s, wide, size);
}
