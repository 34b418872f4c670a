/* Plays recorded sweeps as if they were measured now: how near to the best each strategy of the
   search comes, and after how many evaluations. Takes: files of sweeps (bench/sweeps.h). Makes: a
   table; with --curve a line for each share of the evaluations instead: the time of the best that
   was found over the time of the best of all, the median over sweeps and the worst tenth. Needs
   neither a GPU nor a compiler. */
#include <math.h>

#include "bench/sweeps.h"

enum { SEEDS = 200, MOST_SWEEPS = 1024, AHEAD = 8 };

static const double shares[] = {0.05, 0.1, 0.2};
enum { SHARES = sizeof shares / sizeof *shares };

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int count) {
    qsort(values, (size_t)count, sizeof *values, compare);
    return count % 2 == 1 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

static double random_reached(const sweep *s, int evaluations) {
    double reached[SEEDS];
    for (int seed = 0; seed < SEEDS; seed++) {
        sweep_play p = {s, SEARCH_RANDOM, (uint64_t)seed, evaluations, AHEAD, 0, 0};
        sweep_replay(&p);
        reached[seed] = p.reached;
    }
    return median(reached, SEEDS);
}

/* Evaluations until the search is within 3 % of the best: the median. */
static double random_needed(const sweep *s) {
    double needed[SEEDS];
    for (int seed = 0; seed < SEEDS; seed++) {
        sweep_play p = {s, SEARCH_RANDOM, (uint64_t)seed, s->candidates.count, AHEAD, 0, 0};
        sweep_replay(&p);
        needed[seed] = p.needed;
    }
    return median(needed, SEEDS);
}

typedef struct totals {
    double guided[SHARES][MOST_SWEEPS], random[SHARES][MOST_SWEEPS], needed[2][MOST_SWEEPS];
    int within[SHARES], random_within[SHARES], not_worse[SHARES], count;
} totals;

static void play(const sweep *s, totals *t) {
    printf("%-44s %5d %6.3f ", s->name, s->candidates.count, s->seconds[0] / s->best);
    for (int i = 0; i < SHARES; i++) {
        const int evaluations = (int)ceil(shares[i] * s->candidates.count);
        sweep_play p = {s, SEARCH_GUIDED, 0, evaluations, AHEAD, 0, 0};
        sweep_replay(&p);
        const double random = random_reached(s, evaluations);
        t->guided[i][t->count] = p.reached;
        t->random[i][t->count] = random;
        t->within[i] += p.reached <= 1.03;
        t->random_within[i] += random <= 1.03;
        t->not_worse[i] += p.reached <= random;
        printf(" %4d %6.3f %6.3f ", evaluations, p.reached, random);
    }
    sweep_play p = {s, SEARCH_GUIDED, 0, s->candidates.count, AHEAD, 0, 0};
    sweep_replay(&p);
    t->needed[0][t->count] = (double)p.needed / s->candidates.count;
    t->needed[1][t->count] = random_needed(s) / s->candidates.count;
    printf(" %4d %6.1f\n", p.needed, random_needed(s));
    t->count++;
}

/* ---- the curve ------------------------------------------------------------------------------- */

static const double percents[] = {1, 2, 3, 5, 7, 10, 15, 20, 30, 50};
enum { PERCENTS = sizeof percents / sizeof *percents };

typedef struct curve {
    double guided[PERCENTS][MOST_SWEEPS], random[PERCENTS][MOST_SWEEPS];
    int count;
} curve;

static void add_to_curve(const sweep *s, curve *c) {
    for (int i = 0; i < PERCENTS; i++) {
        const int evaluations = (int)ceil(percents[i] / 100 * s->candidates.count);
        sweep_play p = {s, SEARCH_GUIDED, 0, evaluations, AHEAD, 0, 0};
        sweep_replay(&p);
        c->guided[i][c->count] = p.reached;
        c->random[i][c->count] = random_reached(s, evaluations);
    }
    c->count++;
}

static void print_curve(curve *c) {
    printf("percent guided guided_tenth random random_tenth\n");
    for (int i = 0; i < PERCENTS; i++) {
        const double guided = median(c->guided[i], c->count),
                     random = median(c->random[i], c->count);
        const int tenth = (int)(0.9 * (c->count - 1) + 0.5);
        printf("%g %.4f %.4f %.4f %.4f\n", percents[i], guided, c->guided[i][tenth], random,
               c->random[i][tenth]);
    }
}

static char *read_file(const char *path) {
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        perror(path);
        exit(3);
    }
    size_t length = 0, capacity = 1 << 16;
    char *text = malloc(capacity);
    while (text != NULL) {
        length += fread(text + length, 1, capacity - length - 1, file);
        if (length + 1 < capacity)
            break;
        text = realloc(text, capacity *= 2);
    }
    fclose(file);
    if (text == NULL)
        exit(4);
    text[length] = '\0';
    return text;
}

static void print_totals(totals *t) {
    printf("\n%d sweeps\n", t->count);
    for (int i = 0; i < SHARES; i++) {
        const double guided = median(t->guided[i], t->count),
                     random = median(t->random[i], t->count);
        printf("%2.0f %% of the evaluations: guided %.3f of the best (median; worst %.3f), within "
               "3 %% "
               "in %d; random %.3f, in %d; guided is not worse in %d\n",
               100 * shares[i], guided, t->guided[i][t->count - 1], t->within[i], random,
               t->random_within[i], t->not_worse[i]);
    }
    const double guided = median(t->needed[0], t->count), random = median(t->needed[1], t->count);
    printf("until 3 %%: guided %.3f of the evaluations (median; worst %.3f), random %.3f (worst "
           "%.3f)\n",
           guided, t->needed[0][t->count - 1], random, t->needed[1][t->count - 1]);
}

int main(int count, char **arguments) {
    static totals t;
    static curve c;
    const bool wants_curve = count > 1 && strcmp(arguments[1], "--curve") == 0;
    if (!wants_curve)
        printf("%-44s %5s %6s  %s\n", "sweep", "plans", "usual",
               "evaluations, guided, random (median): 5, 10, 20 %; until 3 %: guided, random");
    for (int i = 1 + wants_curve; i < count; i++) {
        char *text = read_file(arguments[i]);
        sweep s;
        for (const char *at = text;
             t.count + c.count < MOST_SWEEPS && (at = sweep_read(at, &s)) != NULL;) {
            if (wants_curve)
                add_to_curve(&s, &c);
            else
                play(&s, &t);
            sweep_free(&s);
        }
        free(text);
    }
    if (t.count > 0)
        print_totals(&t);
    if (c.count > 0)
        print_curve(&c);
    return t.count + c.count == 0;
}
