/* The tables of gpu.h. */
#include "gen/model/gpu.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { KIB = 1024 };
#define GB 1e9
#define MIB 1048576.0
#define GIB 1073741824.0

/* Lanes for float and double. */
#define LANES(single, real)                                                                        \
    { single, real }

/* Shared memory of a block and of a multiprocessor; threads and blocks of a multiprocessor. */
#define SM_75 "sm_75", 64 * KIB, 64 * KIB, 1024, 16, LANES(64, 2)
#define SM_80 "sm_80", 163 * KIB, 164 * KIB, 2048, 32, LANES(64, 32)
#define SM_86 "sm_86", 99 * KIB, 100 * KIB, 1536, 16, LANES(128, 2)
#define SM_89 "sm_89", 99 * KIB, 100 * KIB, 1536, 24, LANES(128, 2)
#define SM_90 "sm_90", 227 * KIB, 228 * KIB, 2048, 32, LANES(128, 64)
#define SM_100 "sm_100", 227 * KIB, 228 * KIB, 2048, 32, LANES(128, 64)
#define SM_120 "sm_120", 99 * KIB, 100 * KIB, 1536, 24, LANES(128, 2)

/* The first board of an architecture is its usual one. Memory is what drivers report: less than
   boards are sold with, where error correction takes some. */
static const gpu gpus[] = {
    {"T4", SM_75, 40, 1.59e9, 320 * GB, 4 * MIB, 15 * GIB, NULL, NULL},
    {"A100", SM_80, 108, 1.41e9, 1555 * GB, 40 * MIB, 40 * GIB, NULL, NULL},
    {"RTX 3090", SM_86, 82, 1.70e9, 936 * GB, 6 * MIB, 24 * GIB, NULL, NULL},
    {"RTX 4090", SM_89, 128, 2.52e9, 1008 * GB, 72 * MIB, 24 * GIB, NULL, NULL},
    {"L40S", SM_89, 142, 2.52e9, 864 * GB, 96 * MIB, 45 * GIB, NULL, NULL},
    {"H100", SM_90, 132, 1.98e9, 3352 * GB, 50 * MIB, 80 * GIB, NULL, NULL},
    {"H200", SM_90, 132, 1.98e9, 4800 * GB, 60 * MIB, 141 * GIB, NULL, NULL},
    {"B200", SM_100, 148, 1.85e9, 8000 * GB, 126 * MIB, 179 * GIB, NULL, NULL},
    {"RTX 5090", SM_120, 170, 2.41e9, 1792 * GB, 96 * MIB, 32 * GIB, NULL, NULL},
};

/* Measured: 3.0 of 3.35 TB/s on an H100, 4.26 of 4.8 on an H200. */
double gpu_copy_rate(const gpu *g) {
    static const double share = 3.0 / 3.352;
    return share * g->memory_rate;
}

/* Measured on an H200: 10.1 TB/s, by kernels that keep the cache 96 to 98 % busy; fitted with the
   model of `streamed`. Other boards are taken to have as much for each multiprocessor and cycle. */
double gpu_l2_rate(const gpu *g) {
    static const double bytes_a_cycle = 41.4;
    return bytes_a_cycle * g->multiprocessors * g->clock;
}

const gpu *gpu_at(int index) {
    const int count = sizeof gpus / sizeof gpus[0];
    return index >= 0 && index < count ? &gpus[index] : NULL;
}

/* The letters and digits of a name, without their case. */
static bool same_name(const char *a, const char *b) {
    for (;; a++, b++) {
        while (*a == ' ' || *a == '-' || *a == '_')
            a++;
        while (*b == ' ' || *b == '-' || *b == '_')
            b++;
        if (tolower((unsigned char)*a) != tolower((unsigned char)*b))
            return false;
        if (*a == '\0')
            return true;
    }
}

bool gpu_has_bulk(const gpu *t) {
    return strlen(t->arch) > strlen("sm_90") || strcmp(t->arch, "sm_90") >= 0;
}

bool gpu_same_arch(const char *known, const char *arch) {
    size_t length = strlen(arch);
    if (length > 0 && (arch[length - 1] == 'a' || arch[length - 1] == 'f'))
        length--;
    return strlen(known) == length && memcmp(known, arch, length) == 0;
}

const gpu *gpu_find(const char *name) {
    for (int i = 0; gpu_at(i) != NULL; i++)
        if (same_name(gpus[i].name, name) || gpu_same_arch(gpus[i].arch, name))
            return &gpus[i];
    return NULL;
}

int gpu_arch_number(const char *arch) {
    return strncmp(arch, "sm_", 3) == 0 ? atoi(arch + 3) : 0;
}

const gpu *gpu_described(job *j, const char *name, const char *arch, const gpu_facts *f) {
    const gpu *nearest = NULL;
    for (int i = 0; gpu_at(i) != NULL; i++) {
        const int number = gpu_arch_number(gpus[i].arch);
        if (number <= gpu_arch_number(arch) &&
            (nearest == NULL || number > gpu_arch_number(nearest->arch)))
            nearest = &gpus[i];
    }
    if (nearest == NULL)
        return NULL;
    gpu *own = job_alloc(j, sizeof *own);
    *own = *nearest;
    own->name = name;
    own->arch = job_string(j, arch);
    own->multiprocessors = f->multiprocessors > 0 ? f->multiprocessors : own->multiprocessors;
    own->clock = f->clock > 0 ? f->clock : own->clock;
    own->memory_rate = f->memory_rate > 0 ? f->memory_rate : own->memory_rate;
    own->l2_bytes = f->l2_bytes > 0 ? f->l2_bytes : own->l2_bytes;
    own->memory = f->memory > 0 ? f->memory : own->memory;
    return own;
}

const gpu *gpu_of_processor(job *j, const char *name, const char *arch, const processor *of) {
    gpu *own = job_alloc(j, sizeof *own);
    processor *facts = job_alloc(j, sizeof *facts);
    *own = *gpu_find(arch);
    *facts = *of;
    own->name = name;
    own->processor = facts;
    own->multiprocessors = of->cores;
    own->clock = of->clock;
    own->memory_rate = of->copy_rate;
    own->l2_bytes = of->shared_cache;
    const int cache = (int)(of->core_cache * 3 / 4); /* what blocks hold is to stay there */
    own->shared_per_block = cache > own->shared_per_block ? cache : own->shared_per_block;
    own->shared_per_multiprocessor = own->shared_per_block;
    return own;
}

const char *gpu_processor_words(job *j, const gpu *g) {
    const processor *of = g->processor;
    return job_print(j, "planned for this processor (%d core%s, vectors of %d bytes)", of->cores,
                     of->cores == 1 ? "" : "s", of->vector_bytes);
}
