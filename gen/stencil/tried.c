/* Schedules that the planner's search has tried. Takes: schedules. Makes: a set of them. */
#include "gen/stencil/search.h"

#include <string.h>

enum { FIRST_CAPACITY = 256 };

/* FNV-1a, over the bytes of a struct that has numbers alone and no gaps.
   G. Fowler, L. C. Noll, K.-P. Vo. */
static uint32_t hash(const schedule *s) {
    uint32_t h = 2166136261u;
    const unsigned char *bytes = (const unsigned char *)s;
    for (size_t i = 0; i < sizeof *s; i++)
        h = (h ^ bytes[i]) * 16777619u;
    return h;
}

/* Where it is, or the free slot where it goes. There are twice as many slots as schedules. */
static int *find(const schedule_set *set, const schedule *s) {
    const uint32_t mask = 2 * (uint32_t)set->capacity - 1;
    uint32_t at = hash(s) & mask;
    while (set->slots[at] != 0 && memcmp(&set->list[set->slots[at] - 1], s, sizeof *s) != 0)
        at = (at + 1) & mask;
    return &set->slots[at];
}

static void grow(job *j, schedule_set *set) {
    const schedule *old = set->list;
    set->capacity = set->capacity > 0 ? 2 * set->capacity : FIRST_CAPACITY;
    set->list = job_array(j, (size_t)set->capacity, sizeof *set->list);
    set->slots = job_array(j, 2 * (size_t)set->capacity, sizeof *set->slots);
    for (int i = 0; i < set->count; i++) {
        set->list[i] = old[i];
        *find(set, &old[i]) = i + 1;
    }
}

bool schedule_set_add(job *j, schedule_set *set, const schedule *s) {
    if (set->count == set->capacity)
        grow(j, set);
    int *slot = find(set, s);
    if (*slot != 0)
        return false;
    set->list[set->count++] = *s;
    *slot = set->count;
    return true;
}
