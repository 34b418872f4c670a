/* The table as text; a line is printed as soon as it is measured. */
#include <string.h>

#include "stencils.h"

enum { SIZE_TEXT = 32, ENTRY_TEXT = 24 };

static const char *const titles[PARTS] = {
    [PART_ONE_STEP] = "One step a pass: share of a copy",
    [PART_STEPS] = "Many steps: billions of point updates a second",
    [PART_SMALL] = "Small grids: microseconds a step",
};

static const char *dtype_of(const row *r) {
    return r->wide ? "double" : "float";
}

static void print_size(const row *r, char out[SIZE_TEXT]) {
    int used = snprintf(out, SIZE_TEXT, "%lld", (long long)r->size[0]);
    for (int axis = 1; axis < r->shape->dims; axis++)
        used += snprintf(out + used, (size_t)(SIZE_TEXT - used), "x%lld", (long long)r->size[axis]);
}

/* The word in place of a figure. */
static const char *no_figure(const row *r) {
    switch (r->state) {
    case ROW_WRONG:
        return "WRONG";
    case ROW_FAILED:
        return "FAILED";
    case ROW_REFUSED:
        return "-";
    default:
        return "."; /* no time was left, or the device has no such way */
    }
}

static void print_entry(const row *r, double value, int digits, char out[ENTRY_TEXT]) {
    if (r->timed && r->state == ROW_RIGHT)
        snprintf(out, ENTRY_TEXT, "%.*f", digits, value);
    else
        snprintf(out, ENTRY_TEXT, "%s", no_figure(r));
}

static void print_troubles(const bench *b, int first, int end) {
    for (const row *r = b->rows + first; r < b->rows + end; r++)
        if (r->state == ROW_WRONG || r->state == ROW_FAILED)
            printf("  %s: %s: %s\n", no_figure(r), r->plan != NULL ? r->plan : r->schedule,
                   r->error);
}

void report_begin(const bench *b) {
    printf("%s, %s, stencilgen %s; %d figures\n", b->facts.name, b->facts.arch, sg_version(),
           b->count);
    copies_print(b->copies);
    if (b->options.weights != WEIGHTS_HEAT)
        printf("weights: %s\n", weights_words[b->options.weights]);
    if (strcmp(b->options.boundary, "fixed") != 0)
        printf("boundary: %s\n", b->options.boundary);
}

/* ---- lines ----------------------------------------------------------------------------------- */

static void one_step_line(const bench *b, int first, int end) {
    const row *line = &b->rows[first];
    for (int i = first; i < end; i++) {
        char entry[ENTRY_TEXT];
        const row *r = &b->rows[i];
        print_entry(r, r->timed ? row_of_copy(r) : 0, 3, entry);
        printf(" %9s", entry);
    }
    if (row_goal(line) > 0)
        printf("  goal %.2f", row_goal(line));
    if (line->plan != NULL)
        printf("  %s", line->plan);
}

static void print_rival(const row *r, const rival *other) {
    if (other == NULL)
        printf(" %6s %5s", "", "");
    else
        printf(" %6.0f %5.2f", other->rate, row_rate(r) * 1e-9 / other->rate);
}

static void steps_line(const bench *b, int first, int end) {
    (void)end;
    char entry[ENTRY_TEXT];
    const row *r = &b->rows[first];
    print_entry(r, r->timed ? row_rate(r) * 1e-9 : 0, 1, entry);
    printf(" %8s", entry);
    if (!r->timed)
        return;
    printf(" %6.2f", row_of_copy(r));
    print_rival(r, rival_best(r->shape, r->wide));
    print_rival(r, rival_here(r->shape, r->wide, r->size));
    if (row_goal(r) > 0)
        printf("  goal %g copies", row_goal(r));
    printf("  %s", r->plan);
}

static void small_line(const bench *b, int first, int end) {
    for (int i = first; i < end; i++) {
        char entry[ENTRY_TEXT];
        print_entry(&b->rows[i], b->rows[i].seconds * 1e6, 3, entry);
        printf(" %9s", entry);
    }
    printf("  %s", b->rows[end - 1].plan != NULL ? b->rows[end - 1].plan : "");
}

static void sweep_line(const row *r) {
    char entry[ENTRY_TEXT], estimate[ENTRY_TEXT] = "";
    print_entry(r, r->seconds * 1e3, 4, entry);
    if (r->estimate > 0)
        snprintf(estimate, sizeof estimate, "%.4f", r->estimate * 1e3);
    printf(" %9s %9s %6.3f %8.1f %4d %5d %3d  %s%s\n", entry, estimate,
           r->timed ? row_of_copy(r) : 0, r->timed ? row_rate(r) * 1e-9 : 0, r->info.registers,
           r->info.local_bytes, r->info.blocks_resident, r->plan != NULL ? r->plan : r->schedule,
           strcmp(r->method, "auto") == 0 ? "  (auto)" : "");
}

/* How far two schedules are behind the best: the one that `auto` takes, and the one that the model
   likes best in the sweep. */
static void sweep_verdict(const bench *b, int first, int end) {
    const int best = rows_fastest(b, first, end), liked = rows_estimated(b, first, end);
    const row *chosen = &b->rows[first];
    if (best < 0)
        return;
    printf("  best: %s", b->rows[best].plan);
    if (chosen->timed && strcmp(chosen->method, "auto") == 0)
        printf("; auto is %.1f %% behind", 100 * (chosen->seconds / b->rows[best].seconds - 1));
    if (liked >= 0)
        printf("; the model's is %s, %.1f %% behind", b->rows[liked].plan,
               100 * (b->rows[liked].seconds / b->rows[best].seconds - 1));
    printf("\n");
}

static void print_heading(const bench *b, const row *r) {
    printf("\n%s\n", titles[r->part]);
    if (b->options.schedules != NULL)
        printf("%9s %9s %6s %8s %4s %5s %3s  plan\n", "ms a step", "model", "copies", "10^9/s",
               "regs", "local", "res");
    else if (r->part == PART_STEPS)
        printf("%-9s%-7s%-15s %8s %6s %6s %5s %6s %5s\n", "shape", "dtype", "size", "10^9/s",
               "copies", "best", "ratio", "here", "ratio");
    else
        printf("%-9s%-7s%-15s", "shape", "dtype", "size");
}

/* The columns of this part are the methods of its first line. */
static void print_columns(const bench *b, int first, int end) {
    if (b->options.schedules != NULL || b->rows[first].part == PART_STEPS)
        return;
    for (int i = first; i < end; i++)
        printf(" %9s", b->rows[i].method);
    printf("\n");
}

void report_line(const bench *b, int first, int end) {
    static void (*const lines[PARTS])(const bench *, int, int) = {
        [PART_ONE_STEP] = one_step_line, [PART_STEPS] = steps_line, [PART_SMALL] = small_line};
    const row *r = &b->rows[first];
    char size[SIZE_TEXT];
    if (first == 0 || r[-1].part != r->part) {
        print_heading(b, r);
        print_columns(b, first, end);
    }
    print_size(r, size);
    printf("%-9s%-7s%-15s", r->shape->name, dtype_of(r), size);
    if (b->options.schedules != NULL) {
        printf("\n");
        for (int i = first; i < end; i++)
            if (b->rows[i].state != ROW_REFUSED)
                sweep_line(&b->rows[i]);
        sweep_verdict(b, first, end);
    } else {
        lines[r->part](b, first, end);
        printf("\n");
    }
    print_troubles(b, first, end);
    fflush(stdout);
}

/* How often the choice of `auto` is within 5 % of the best, among the lines of a sweep. */
static void report_sweep(const bench *b) {
    int lines = 0, close = 0;
    double worst = 1;
    for (int first = 0, end; first < b->count; first = end) {
        for (end = first; end < b->count && rows_together(&b->rows[first], &b->rows[end]);)
            end++;
        const row *chosen = &b->rows[first];
        if (!chosen->timed || strcmp(chosen->method, "auto") != 0)
            continue;
        const double behind = chosen->seconds / b->rows[rows_fastest(b, first, end)].seconds;
        lines++;
        close += behind <= 1.05;
        worst = behind > worst ? behind : worst;
    }
    printf("\nauto is within 5 %% of the best in %d of %d, and %.1f %% behind at worst", close,
           lines, 100 * (worst - 1));
}

/* A GPU that gets too hot, or takes too much power, lowers its clock, and figures fall. */
static void report_clock(const bench *b) {
    double low = 0, high = 0;
    for (const row *r = b->rows; r < b->rows + b->count; r++) {
        if (!r->timed || r->clock <= 0)
            continue;
        low = low == 0 || r->clock < low ? r->clock : low;
        high = r->clock > high ? r->clock : high;
    }
    if (high > 0)
        printf("clock after each figure: %.0f to %.0f MHz, of at most %.0f\n", low * 1e-6,
               high * 1e-6, bench_clock_highest(b->device) * 1e-6);
}

int report_end(const bench *b) {
    int wrong = 0, failed = 0, waiting = 0, refused = 0;
    double copy = 0, compiling = 0;
    for (const row *r = b->rows; r < b->rows + b->count; r++) {
        wrong += r->state == ROW_WRONG;
        compiling += r->kernel != NULL && r->alike == NULL ? r->info.compile_seconds : 0;
        failed += r->state == ROW_FAILED;
        refused += r->state == ROW_REFUSED;
        waiting += !r->timed && (r->state == ROW_RIGHT || r->state == ROW_WAITS);
        copy = r->timed && r->copy > copy ? r->copy : copy;
    }
    if (b->options.schedules != NULL)
        report_sweep(b);
    printf(
        "\nfastest copy: %.0f GB/s; %d of %d figures are missing: %d wrong, %d failed, %d refused, "
        "%d left out\n",
        copy * 1e-9, wrong + failed + refused + waiting, b->count, wrong, failed, refused, waiting);
    report_clock(b);
    printf("%.1f s, %.1f of them to build and check on %lld threads; %.1f s of the compiler's\n",
           seconds_now() - b->begin, b->built - b->begin, (long long)b->options.threads, compiling);
    return wrong + failed > 0 ? 1 : 0;
}
