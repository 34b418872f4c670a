/* How the planes of a chain of stages lie in rings, or its rows in columns. Takes: a plan with its
   tile. Makes: the turns after which each source and stage comes, and where all of it is kept. */
#include "gen/stencil/methods/chained.h"

#include <string.h>

/* How far a stage reads its array i along a kernel axis. */
void chained_reach(const plan *p, const chain_stage *s, int i, int k, int *low, int *high) {
    const model_array *a = &s->model->arrays[i];
    *low = along(p, a->low, k);
    *high = along(p, a->high, k);
    if (p->axes[k] >= 0 && chain_of(p)->mirrored[p->axes[k]])
        *low = *high = larger(*low, *high);
}

int chained_lag(const model_chain *c, const chain_layout *l, int source) {
    const chain_source *s = &c->sources[source];
    return s->array >= 0 ? l->late[source] : l->lag[s->stage];
}

/* Other threads read a result in the turn after it was made. */
static int lag_after(const plan *p, const chain_layout *l, int source, int high) {
    const model_chain *c = chain_of(p);
    const bool waits = c->sources[source].array < 0 && !has_strips(p);
    return chained_lag(c, l, source) + waits + high;
}

static void lay_lags(const plan *p, chain_layout *l) {
    const model_chain *c = chain_of(p);
    for (int e = 0; e < c->stage_count; e++) {
        const chain_stage *s = &c->stages[e];
        int low, high;
        for (int i = 0; i < s->model->array_count; i++)
            if (s->from[i] >= 0) {
                chained_reach(p, s, i, 2, &low, &high);
                l->lag[e] = larger(l->lag[e], lag_after(p, l, s->from[i], high));
            }
        for (int o = 0; o < s->model->output_count; o++)
            if (s->old[o] >= 0)
                l->lag[e] = larger(l->lag[e], lag_after(p, l, s->old[o], 0));
    }
}

static void hold(const plan *p, chain_layout *l, int source, int planes) {
    const model_chain *c = chain_of(p);
    const int lag = chained_lag(c, l, source);
    const int ahead = c->sources[source].array >= 0 && !has_columns(p) ? AHEAD : 0;
    l->slots[source] = larger(l->slots[source], planes - lag + 1 + ahead);
}

static void lay_rings(const plan *p, chain_layout *l) {
    const model_chain *c = chain_of(p);
    for (int e = 0; e < c->stage_count; e++) {
        const chain_stage *s = &c->stages[e];
        int low, high;
        for (int i = 0; i < s->model->array_count; i++)
            if (s->from[i] >= 0) {
                chained_reach(p, s, i, 2, &low, &high);
                hold(p, l, s->from[i], l->lag[e] + low);
            }
        for (int o = 0; o < s->model->output_count; o++)
            if (s->old[o] >= 0)
                hold(p, l, s->old[o], l->lag[e]);
    }
    for (int i = 0; i < c->source_count && !has_columns(p); i++) {
        l->place[i] = (int)l->elements;
        l->elements += (int64_t)l->slots[i] * l->plane;
    }
}

/* Rows of arrays are loaded when a stage first reads them. */
static void lay_late(const plan *p, chain_layout *l) {
    const model_chain *c = chain_of(p);
    int late[CHAIN_SOURCES];
    for (int i = 0; i < c->source_count; i++)
        late[i] = INT32_MAX;
    for (int e = 0; e < c->stage_count; e++) {
        const chain_stage *s = &c->stages[e];
        int low, high;
        for (int i = 0; i < s->model->array_count; i++)
            if (s->from[i] >= 0) {
                chained_reach(p, s, i, 2, &low, &high);
                late[s->from[i]] = smaller(late[s->from[i]], l->lag[e] - high);
            }
        for (int o = 0; o < s->model->output_count; o++)
            if (s->old[o] >= 0)
                late[s->old[o]] = smaller(late[s->old[o]], l->lag[e]);
    }
    for (int i = 0; i < c->source_count; i++)
        l->late[i] = c->sources[i].array >= 0 && late[i] < INT32_MAX ? late[i] : 0;
}

/* The turns after which a stage reads a row of a source. */
static int back_of(const plan *p, const chain_layout *l, int e, const plan_row *row, int *source) {
    *source = chain_of(p)->stages[e].from[row->array];
    return l->lag[e] - chained_lag(chain_of(p), l, *source) - row->dy;
}

/* The rows that threads read of each other's columns. */
static void lay_exchanges(const plan *p, chain_layout *l) {
    const model_chain *c = chain_of(p);
    for (int e = 0; e < c->stage_count; e++) {
        const plan_facts *f = c->stages[e].facts;
        for (int r = 0; r < f->row_count; r++) {
            int source;
            const int back = back_of(p, l, e, &f->rows[r], &source);
            if (f->rows[r].low + f->rows[r].high > 0 && back < MOST_BACK &&
                l->exchange[source][back] == 0)
                l->exchange[source][back] = ++l->exchanges;
        }
    }
    l->elements = 2 * (int64_t)l->exchanges * round_up(l->plane, WARP);
}

/* What lanes read of each other's columns. */
static void lay_strips(const plan *p, chain_layout *l) {
    const model_chain *c = chain_of(p);
    for (int i = 0; i < c->source_count; i++)
        l->widened[i] = -1;
    for (int e = 0; e < c->stage_count; e++) {
        const plan_facts *f = c->stages[e].facts;
        for (int r = 0; r < f->row_count; r++) {
            const plan_row *row = &f->rows[r];
            int source;
            const int back = back_of(p, l, e, row, &source);
            if (row->low <= 0 && row->high <= 0)
                continue;
            l->reach[source][0] = larger(l->reach[source][0], row->low);
            l->reach[source][1] = larger(l->reach[source][1], row->high);
            if (l->widened[source] < 0 || back < l->widened[source])
                l->widened[source] = back;
        }
    }
    if (l->strip > 0)
        l->elements =
            (int64_t)(p->tile[0] / l->strip) * (STRIP_AHEAD + 1) * p->array_count * l->width[0];
}

/* Strips begin with whole points of lanes, and what they store with whole sectors of memory. */
int chained_strip(const model *m, int points) {
    const int sector = SECTOR / (int)dtype_words[m->dtype].bytes;
    int low = 0, high = 0;
    for (int i = 0; i < m->chain->source_count; i++) {
        low = larger(low, m->chain->sources[i].low[0]);
        high = larger(high, m->chain->sources[i].high[0]);
    }
    const int left = WARP * points - round_up(low, points) - high;
    return left < sector ? 0 : left / sector * sector;
}

static void lay_width(const plan *p, chain_layout *l, int low) {
    const int points = p->schedule.lane[0];
    l->halo_low[0] = round_up(low, points);
    l->strip = chained_strip(p->facts->model, points);
    l->width[0] = WARP * points;
}

void chained_lay(const plan *p, chain_layout *l) {
    const model_chain *c = chain_of(p);
    *l = (chain_layout){.plane = 1};
    for (int k = 0; k < 2; k++) {
        int low = 0, high = 0;
        for (int i = 0; i < c->source_count; i++) {
            low = larger(low, along(p, c->sources[i].low, k));
            high = larger(high, along(p, c->sources[i].high, k));
        }
        const int step = k == 0 ? p->schedule.vector : 1;
        l->halo_low[k] = round_up(low, step);
        l->width[k] = round_up(l->halo_low[k] + p->tile[k] + high, step);
        if (k == 0 && has_strips(p))
            lay_width(p, l, low);
        l->plane *= l->width[k];
    }
    lay_lags(p, l);
    if (has_columns(p))
        lay_late(p, l);
    lay_rings(p, l);
    if (has_strips(p))
        lay_strips(p, l);
    else if (has_columns(p))
        lay_exchanges(p, l);
    for (int i = 0; i < c->source_count; i++)
        if (c->sources[i].array >= 0) {
            l->before = larger(l->before, along(p, c->sources[i].low, 2));
            l->behind = larger(l->behind, along(p, c->sources[i].high, 2));
        }
    for (int e = 0; e < c->stage_count; e++) /* one may read no array */
        l->before = larger(l->before, along(p, c->stages[e].low, 2));
    for (int e = 0; e < c->stage_count; e++)
        for (int o = 0; o < c->stages[e].model->output_count; o++)
            if (c->stages[e].stored[o] >= 0)
                l->turns = larger(l->turns, l->lag[e]);
    l->points = larger(p->schedule.lane[0], 1);
}
