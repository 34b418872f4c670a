/* Results that a report keeps, and which belong together. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report/page.h"

/* The texts of a result, to be copied and freed. */
static const size_t texts[] = {
    offsetof(sg_result, name),      offsetof(sg_result, family),   offsetof(sg_result, model),
    offsetof(sg_result, key),       offsetof(sg_result, device),   offsetof(sg_result, device_name),
    offsetof(sg_result, arch),      offsetof(sg_result, compiler), offsetof(sg_result, plan),
    offsetof(sg_result, generator), offsetof(sg_result, state),    offsetof(sg_result, reason),
};
enum { TEXTS = sizeof texts / sizeof *texts };

static char **text_of(sg_result *r, int i) {
    return (char **)((char *)r + texts[i]);
}

void page_keep(page_results *all, const sg_result *r) {
    if (all->count == all->capacity) {
        all->capacity = all->capacity > 0 ? 2 * all->capacity : 64;
        sg_result *list = new_array((size_t)all->capacity, sizeof *list);
        if (all->count > 0)
            memcpy(list, all->list, (size_t)all->count * sizeof *list);
        all->list = list;
    }
    sg_result *kept = &all->list[all->count++];
    *kept = *r;
    for (int i = 0; i < TEXTS; i++)
        *text_of(kept, i) = new_copy(*text_of(kept, i));
    kept->seconds = NULL;
    if (r->repeats > 0 && r->seconds != NULL) {
        double *seconds = new_array((size_t)r->repeats, sizeof *seconds);
        memcpy(seconds, r->seconds, (size_t)r->repeats * sizeof *seconds);
        kept->seconds = seconds;
    }
}

void page_keep_drift(page_drifts *all, const sg_drift *d) {
    if ((all->count & (all->count - 1)) == 0) { /* twice as many */
        sg_drift *list = new_array(2 * (size_t)all->count + 1, sizeof *list);
        if (all->count > 0)
            memcpy(list, all->list, (size_t)all->count * sizeof *list);
        all->list = list;
    }
    all->list[all->count] = *d;
    all->list[all->count++].plan = new_copy(d->plan);
}

bool page_is_right(const sg_result *r) {
    return strcmp(r->state, "right") == 0 && isfinite(r->median) && r->median > 0;
}

double page_time(const sg_result *r) {
    return r->final_seconds > 0 ? r->final_seconds : r->median;
}

bool page_is_faster(const sg_result *a, const sg_result *b) {
    const double x = a->settled_seconds > 0 ? a->settled_seconds : a->median;
    const double y = b->settled_seconds > 0 ? b->settled_seconds : b->median;
    const bool final = a->final_seconds > 0, other_final = b->final_seconds > 0;
    if (x != y)
        return x < y;
    return final != other_final ? final : a->median < b->median;
}

bool page_same_kind(const sg_result *a, const sg_result *b) {
    return strcmp(a->key, b->key) == 0 && strcmp(a->generator, b->generator) == 0 &&
           strcmp(a->device, b->device) == 0 && strcmp(a->device_name, b->device_name) == 0 &&
           strcmp(a->arch, b->arch) == 0 && a->multiprocessors == b->multiprocessors &&
           a->memory >> 30 == b->memory >> 30 && a->steps == b->steps;
}

bool page_same_size(const sg_result *a, const sg_result *b) {
    return a->size_count == b->size_count &&
           memcmp(a->size, b->size, (size_t)a->size_count * sizeof *a->size) == 0;
}

bool page_same_place(const sg_result *a, const sg_result *b) {
    return page_same_kind(a, b) && page_same_size(a, b);
}

bool page_is_of_matrix(const sg_result *r) {
    enum { MATRIX = 6 };
    return r->size_count == MATRIX;
}

double page_points(const sg_result *r) {
    enum { ENTRIES = 2 };
    if (page_is_of_matrix(r))
        return (double)r->size[ENTRIES];
    double points = 1;
    for (int i = 0; i < r->size_count; i++)
        points *= (double)r->size[i];
    return points;
}

double page_of_copy(const sg_result *r) {
    if (!(r->copy_seconds > 0))
        return (double)NAN;
    /* A copy of what one step must move; all steps of a run are beside as many of them. */
    return (double)(r->steps > 1 ? r->steps : 1) * r->copy_seconds / page_time(r);
}
