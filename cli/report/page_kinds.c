/* Which mark which candidate has: those of one method, algorithm or format look alike. */
#include <stdlib.h>

#include "cli/report/page.h"
#include "cli/report/page_svg.h"

const page_axis *page_way(const page *p) {
    static const char *const names[] = {"method", "format", "algorithm"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (page_axis_named(&p->axes, names[i]) != NULL)
            return page_axis_named(&p->axes, names[i]);
    return NULL;
}

static int count_of(const page *p, const page_axis *a, int value) {
    int count = 0;
    for (int i = 0; i < p->count; i++)
        count += a->of[i] == value;
    return count;
}

/* How many ways come before this one: the best plan's is the first, then those with more rows. */
static int place_of(const page *p, const page_axis *a, int value) {
    const int best = p->best >= 0 ? a->of[p->best] : -1, own = count_of(p, a, value);
    int before = 0;
    for (int v = 0; v < a->count; v++) {
        const int count = count_of(p, a, v);
        if (v != value && value != best &&
            (v == best || count > own || (count == own && v < value)))
            before++;
    }
    return before;
}

void page_kinds_find(page *p) {
    const page_axis *a = page_way(p);
    p->kinds = new_array((size_t)p->count + 1, sizeof *p->kinds);
    p->kind_count = 0;
    for (int v = 0; a != NULL && v < a->count; v++) {
        const int place = place_of(p, a, v);
        const int kind = place < CHART_KINDS ? place : CHART_KINDS - 1;
        for (int i = 0; i < p->count; i++)
            if (a->of[i] == v)
                p->kinds[i] = kind;
        p->kind_names[kind] = place >= CHART_KINDS ? "others" : a->values[v];
        p->kind_count = a->count < CHART_KINDS ? a->count : CHART_KINDS;
    }
    if (a != NULL && a->count > CHART_KINDS)
        p->kind_names[CHART_KINDS - 1] = "others";
}

void page_write_kinds(const page *p, bool lost, text *out) {
    if (p->kind_count > 1 || lost)
        svg_legend(out, p->kind_names, p->kind_count > 1 ? p->kind_count : 0, lost);
}
