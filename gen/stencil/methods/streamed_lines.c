/* The lines of the arrays that threads of the method streamed read. Takes: a plan that has its rows
   of a thread. Makes: how much a thread holds of them, and what plan.h says of them. */
#include "gen/stencil/methods/streamed.h"

/* ---- rows of the shape ----------------------------------------------------------------------- */

/* The plane of a row, along the axis that is walked. */
static int plane_of(const plan_facts *f, const plan_row *r) {
    return f->model->dims == 3 ? r->dz : r->dy;
}

/* Whether neighbours along x are read in several planes, and would have to stay in registers. */
static bool reaches_in_planes(const plan_facts *f) {
    for (const plan_row *r = f->rows; r < f->rows + f->row_count; r++)
        for (const plan_row *q = f->rows; q < r; q++)
            if (r->low + r->high > 0 && q->low + q->high > 0 && r->array == q->array &&
                plane_of(f, r) != plane_of(f, q))
                return true;
    return false;
}

bool streamed_adds_planes(const plan_facts *f) {
    return f->linear && reaches_in_planes(f);
}

bool streamed_walks_long(const plan_facts *f) {
    return f->model->dims == 2 && streamed_adds_planes(f) &&
           f->model->low[1] + f->model->high[1] > 4;
}

/* Of these rows, in `rows`. */
static int find_rows(const plan *p, const plan_row *of, int of_count, plan_row *rows) {
    const plan_facts *f = p->facts;
    const bool sums = p->form->sums;
    int count = 0;
    for (int i = 0; i < of_count; i++) {
        plan_row r = of[i], *same = NULL;
        r.dz = sums ? 0 : plane_of(f, &of[i]); /* sums take a plane at a time */
        r.dy = f->model->dims == 3 ? r.dy : 0;
        for (int k = 0; k < count; k++)
            if (rows[k].array == r.array && rows[k].dy == r.dy && rows[k].dz == r.dz)
                same = &rows[k];
        if (same == NULL)
            same = &rows[count++], *same = r;
        same->low = larger(same->low, r.low);
        same->high = larger(same->high, r.high);
    }
    return count;
}

/* What a thread loads of a line, which is an array at one offset in y from the thread's first row.
   Returns the elements that it holds of it from plane to plane. */
static int add_line(plan *p, const plan_row *rows, int count, int array, int y) {
    int first = 0, last = 0, low = 0, high = 0, planes = 0;
    bool used = false;
    for (int r = 0; r < count; r++) {
        const int row = y - rows[r].dy;
        if (rows[r].array != array || row < 0 || row >= p->streamed.lane_y)
            continue;
        first = used ? smaller(first, rows[r].dz) : rows[r].dz;
        last = used ? larger(last, rows[r].dz) : rows[r].dz;
        low = larger(low, rows[r].low);
        high = larger(high, rows[r].high);
        planes += rows[r].low + rows[r].high > 0;
        used = true;
    }
    if (!used)
        return 0;
    const int depth = last - first + 1, beside = planes > 0 ? low + high : 0;
    p->streamed.packs++;
    p->streamed.beside += beside;
    return depth * p->schedule.vector + beside * (planes > 1 ? depth : 1);
}

int streamed_hold(job *j, plan *p) {
    const plan_facts *f = p->facts;
    const model *m = f->model;
    plan_row *rows = job_array(j, (size_t)f->row_count, sizeof *rows);
    const int count = p->streamed.carries
                          ? find_rows(p, f->carried_rows, f->carried_row_count, rows)
                          : find_rows(p, f->rows, f->row_count, rows);
    int held = 0;
    for (int array = 0; array < m->array_count; array++)
        for (int y = -p->low[1]; y < p->streamed.lane_y + p->high[1]; y++)
            held += add_line(p, rows, count, array, y);
    if (p->form->sums)
        held += m->output_count * (p->low[2] + 1 + p->high[2]) * p->schedule.vector *
                p->streamed.lane_y;
    return held;
}

/* ---- in plan.h ------------------------------------------------------------------------------- */

/* What the rows of the shape ask of a line: its planes; in how many of them the shape reaches along
   x, the last of these, and how far at most. */
typedef struct line_needs {
    int first, last, sides, plane, low, high;
} line_needs;

/* Of the line that lies y rows from the thread's first. */
static line_needs ask(const plan *p, const plan_row *rows, int count, int array, int y) {
    line_needs a = {.first = 1 << 20, .last = -(1 << 20)};
    int low_at[2 * MAX_REACH + 1] = {0}, high_at[2 * MAX_REACH + 1] = {0};
    for (int r = 0; r < count; r++) {
        const int lane = y - rows[r].dy, dz = rows[r].dz;
        if (p->kernel_array[rows[r].array] != array || lane < 0 || lane >= p->streamed.lane_y)
            continue;
        a.first = dz < a.first ? dz : a.first;
        a.last = dz > a.last ? dz : a.last;
        low_at[dz + MAX_REACH] = larger(low_at[dz + MAX_REACH], rows[r].low);
        high_at[dz + MAX_REACH] = larger(high_at[dz + MAX_REACH], rows[r].high);
    }
    for (int dz = a.first; dz <= a.last; dz++) {
        const int below = low_at[dz + MAX_REACH], above = high_at[dz + MAX_REACH];
        if (below > 0 || above > 0) {
            a.sides++;
            a.plane = dz;
        }
        a.low = larger(a.low, below);
        a.high = larger(a.high, above);
    }
    return a;
}

/* Calls of each line that is read. */
static void for_lines(text *t, const plan *p,
                      void (*write)(text *, void *, int array, int y, const line_needs *),
                      void *to) {
    plan_row *rows = job_array(t->job, (size_t)p->facts->row_count, sizeof *rows);
    const int count = find_rows(p, p->facts->rows, p->facts->row_count, rows);
    for (int array = 0; array < p->array_count; array++)
        for (int y = -p->low[1]; y < p->streamed.lane_y + p->high[1]; y++) {
            const line_needs a = ask(p, rows, count, array, y);
            if (a.first <= a.last)
                write(t, to, array, y, &a);
        }
}

static void write_ask(text *t, void *to, int array, int y, const line_needs *a) {
    (void)to;
    text_printf(t,
                "template <> struct Asks<%d, %d> { static constexpr int first = %d, last = %d, "
                "sides = %d, plane = %d, low = %d, high = %d; };\n",
                array, y, a->first, a->last, a->sides, a->plane, a->low, a->high);
}

static void write_name(text *t, void *to, int array, int y, const line_needs *a) {
    bool *more = to;
    (void)a;
    text_printf(t, "%sHeldLine<%d, %d>", *more ? ", " : "", array, y);
    *more = true;
}

static void find_held(text *t, void *to, int array, int y, const line_needs *a) {
    bool *held = to;
    (void)t, (void)array, (void)y;
    *held |= a->sides > 1;
}

bool streamed_holds_sides(text *t, const plan *p) {
    bool held = false;
    for_lines(t, p, find_held, &held);
    return held;
}

/* The kernel's array that holds the current value of an output's point while the point is made; -1:
   none does. */
static int kept_array(const plan *p, int output) {
    const plan_facts *f = p->facts;
    const model *m = f->model;
    for (const plan_row *r = f->rows; r < f->rows + f->row_count && !p->form->sums; r++)
        if (r->dy == 0 && r->dz == 0 && !m->arrays[r->array].previous &&
            m->arrays[r->array].field == m->outputs[output].field)
            return p->kernel_array[r->array];
    return -1;
}

bool streamed_holds_kept(const plan *p) {
    const model *m = p->facts->model;
    bool holds = model_keeps(m);
    for (int o = 0; o < m->output_count; o++)
        holds &= kept_array(p, o) >= 0;
    return holds;
}

static void write_held_row(text *t, const plan *p) {
    text_add(t, "// The current values of the thread's row j.\n"
                "template <int j> struct HeldRow {\n"
                "    const HeldLines &lines;\n"
                "    template <int output> __device__ __forceinline__ const auto &of() const {\n");
    for (int o = 0; o < p->facts->model->output_count; o++) {
        const int array = kept_array(p, o);
        text_printf(
            t,
            "        if constexpr (output == %d)\n"
            "            return static_cast<const HeldLine<%d, j> &>(lines).own[-HeldLine<%d, "
            "j>::first];\n",
            o, array, array);
    }
    text_add(t, "    }\n};\n");
}

void streamed_write_lines(text *t, const plan *p) {
    bool more = false;
    text_add(t, "// The lines of y (0: the thread's first row) that a thread reads: the first and "
                "last plane; in how\n// many planes the shape reaches along x, the last of these, "
                "and how far.\ntemplate <int array, int y> struct Asks;\n");
    for_lines(t, p, write_ask, NULL);
    text_add(
        t, "template <int array, int y> struct HeldLine;\ntemplate <class... Each> struct LinesOf;"
           "\nusing HeldLines = LinesOf<");
    for_lines(t, p, write_name, &more);
    text_add(t, ">;\n");
    if (streamed_holds_kept(p))
        write_held_row(t, p);
    text_add(t, "\n");
}
