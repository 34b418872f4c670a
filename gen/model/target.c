/* What the planner knows of GPUs. Limits are those of the CUDA C++ Programming Guide's table of
   technical specifications per compute capability; rates are of one common board of each. */
#include "gen/model/target.h"

#include <string.h>

enum { KIB = 1024 };

static const target targets[] = {
    /* board, SMs, shared a block and an SM, threads and blocks an SM, clock, copy rate, L2, lanes
     */
    {"sm_75", "T4", 40, 64 * KIB, 64 * KIB, 1024, 16, 1.59e9, 0.25e12, 4e6, {64, 2}},
    {"sm_80", "A100", 108, 163 * KIB, 164 * KIB, 2048, 32, 1.41e9, 1.35e12, 40e6, {64, 32}},
    {"sm_86", "RTX 3090", 84, 99 * KIB, 100 * KIB, 1536, 16, 1.70e9, 0.80e12, 6e6, {128, 2}},
    {"sm_89", "RTX 4090", 128, 99 * KIB, 100 * KIB, 1536, 24, 2.52e9, 0.90e12, 72e6, {128, 2}},
    {"sm_90", "H100", 132, 227 * KIB, 228 * KIB, 2048, 32, 1.98e9, 3.0e12, 50e6, {128, 64}},
    {"sm_100", "B200", 148, 227 * KIB, 228 * KIB, 2048, 32, 1.85e9, 7.0e12, 126e6, {128, 64}},
    {"sm_120", "RTX 5090", 170, 99 * KIB, 100 * KIB, 1536, 24, 2.4e9, 1.6e12, 96e6, {128, 2}},
};

const target *target_at(int index) {
    const int count = sizeof targets / sizeof targets[0];
    return index >= 0 && index < count ? &targets[index] : NULL;
}

const target *target_find(const char *arch) {
    size_t length = strlen(arch);
    if (length > 0 && (arch[length - 1] == 'a' || arch[length - 1] == 'f'))
        length--;
    for (int i = 0; target_at(i) != NULL; i++)
        if (strlen(targets[i].arch) == length && memcmp(targets[i].arch, arch, length) == 0)
            return &targets[i];
    return NULL;
}
