/* Whether walks take turns. Takes: a plan. Makes: a line of plan.h. */
#include "gen/stencil/turns.h"

/* What a wave of blocks reads and writes stays in the second-level cache if it is so small, and
   then another order only costs: Cahn-Hilliard in double, walks of 8 rows, 17 of an H200's 63
   MB, 1.04 times the time; of 16 rows, 35 MB, 0.98. */
int plan_turns(const plan *p) {
    static const double share = 0.5;
    const int blocks = p->blocks * p->gpu->multiprocessors;
    const double wave =
        (double)blocks * p->tile[0] * p->walk * model_bytes_per_point(p->facts->model);
    return wave > share * p->gpu->l2_bytes ? blocks : 0;
}

void write_turns(text *t, int blocks) {
    if (blocks > 0)
        text_printf(t,
                    "#define PLAN_WAVE %d // blocks that run at a time; their walks take turns\n",
                    blocks);
}
