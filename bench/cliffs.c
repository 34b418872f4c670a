/* A search for cliffs: random specs at random sizes, on which `auto` is slower than `naive`, slower
   for knowing that there are many steps, or much slower than at the next larger size. Each result
   is compared with that of `naive`, each time taken in turns with those it is compared with.
   Threads build kernels while others are timed. Takes: the options below. Makes: a line for each
   problem, and a table of the cliffs, which are timed again at the end. Exits with 1 where a result
   is wrong or a kernel fails. */
#include "cliffs.h"

#include <stdlib.h>
#include <string.h>

const char *const bench_program = "cliffs";

static const char usage[] =
    "usage: cliffs [--option VALUE]...\n"
    "  --seconds 100                  end in good order after about this time\n"
    "  --count 1000                   problems at most\n"
    "  --seed 1                       of the random problems\n"
    "  --specs FILE                   these problems instead: lines such as\n"
    "                                 star 3 1 double zero 61x191x363 1 (kind, dimensions, "
    "radius,\n"
    "                                 dtype, boundary, size, steps), as the program prints them;\n"
    "                                 kinds: star, box, wave (two levels), medium (a coefficient "
    "field);\n"
    "                                 a line may go on with schedules of its own: | naive | bulk\n"
    "  --schedules FILE               times these too, at most 12, where the planner takes them\n"
    "  --threads N                    threads that build; else one a core\n"
    "  --device auto|cuda|cpu\n"
    "  --tiny                         tiny random grids, for the cpu device\n";

/* How far `auto` may be behind. */
#define LEAST_OF_NAIVE 0.97
#define LEAST_OF_NEXT 0.85
#define SHARE_OF_SEARCH 0.85 /* of the time; the rest is for cliffs, which are timed again */

enum { MOST_THREADS = 64, AHEAD = 96 };

typedef struct options {
    int64_t seconds, count, seed, threads;
    const char *specs, *schedules, *device;
    bool tiny;
} options;

/* ---- the problems ---------------------------------------------------------------------------- */

static void add(search *s, const problem *p) {
    s->all = must_have(realloc(s->all, (size_t)(s->count + 1) * sizeof *s->all));
    s->all[s->count++] = (cliff){.problem = *p};
}

static void add_line(search *s, const char *line) {
    problem p;
    if (!problem_parse(line, &p))
        options_refuse("--specs", line, usage);
    add(s, &p);
}

/* "PROBLEM | schedule | schedule ...". Keeps pointers into the line. */
static void add_with_schedules(search *s, char *line) {
    char *rest = strchr(line, '|');
    if (rest != NULL)
        *rest++ = '\0';
    add_line(s, line);
    const char **own = s->all[s->count - 1].own, **end = own + ENTRANTS - SCHEDULES;
    for (char *word; rest != NULL && (word = strtok_r(NULL, "|", &rest)) != NULL; *own++ = word)
        if (own == end)
            options_refuse("--specs", "more than 12 schedules of a problem", usage);
}

static void add_all(search *s, const options *o) {
    if (o->specs != NULL) {
        schedules_read(o->specs, &s->lines);
        for (int i = 0; i < s->lines.count; i++)
            add_with_schedules(s, s->lines.items[i]);
        return;
    }
    for (int i = 0; problem_known(i) != NULL && !o->tiny; i++)
        add_line(s, problem_known(i));
    for (uint64_t i = 0; s->count < o->count; i++) {
        problem p = problem_draw((uint64_t)o->seed, i);
        for (int axis = 0; axis < p.dims && o->tiny; axis++)
            p.size[axis] = 1 + p.size[axis] / 16;
        add(s, &p);
    }
}

/* ---- building -------------------------------------------------------------------------------- */

void cliff_fail(cliff *c, const char *text) {
    if (c->error == NULL)
        c->error = must_have(strdup(text));
}

/* The schedule of an entrant from SCHEDULES on; NULL: there is none. */
static const char *schedule_of(const search *s, const cliff *c, int entrant) {
    const int i = entrant - SCHEDULES;
    if (c->own[0] != NULL)
        return c->own[i];
    return i < s->schedules.count ? s->schedules.items[i] : NULL;
}

/* Problems with schedules of their own are compared with these and with `naive` alone. */
static bool takes_part(const search *s, const cliff *c, int entrant) {
    if (entrant >= SCHEDULES)
        return schedule_of(s, c, entrant) != NULL;
    return entrant == NEXT     ? c->has_next
           : entrant == SINGLE ? c->problem.steps > 1 && c->own[0] == NULL
                               : true;
}

static void build(search *s, cliff *c, int entrant) {
    const problem *p = entrant == NEXT ? &c->next : &c->problem;
    char *text = problem_spec(p);
    sg_build_options o = {.struct_size = sizeof o,
                          .text = text,
                          .steps = entrant == SINGLE ? 1 : p->steps,
                          .schedule = entrant >= SCHEDULES ? schedule_of(s, c, entrant)
                                      : entrant == NAIVE   ? "naive"
                                                           : NULL};
    memcpy(o.size, p->size, sizeof o.size);
    const sg_status status = sg_build(s->context, "cliff.lua", &o, &c->of[entrant].kernel);
    if (status != SG_OK && (entrant < SCHEDULES || status != SG_ERROR_PLAN)) {
        cliff_fail(c, sg_error(s->context));
    } else if (status == SG_OK) {
        c->of[entrant].plan = sg_kernel_text(c->of[entrant].kernel, SG_TEXT_PLAN);
        c->of[entrant].model = plan_estimate(s->context, "cliff.lua", &o, c->of[entrant].plan);
    }
    free(text);
}

/* Builds what is next, but not too far ahead of the timing. */
static void *go(void *argument) {
    search *s = argument;
    pthread_mutex_lock(&s->mutex);
    while (s->begun < s->count && seconds_now() < s->end) {
        if (s->begun >= s->timed + AHEAD) {
            pthread_cond_wait(&s->changed, &s->mutex);
            continue;
        }
        cliff *c = &s->all[s->begun++];
        pthread_mutex_unlock(&s->mutex);
        c->has_next = c->own[0] == NULL && problem_neighbour(&c->problem, &c->next);
        for (int e = 0; e < ENTRANTS && c->error == NULL; e++)
            if (takes_part(s, c, e))
                build(s, c, e);
        pthread_mutex_lock(&s->mutex);
        c->ready = true;
        pthread_cond_broadcast(&s->changed);
    }
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->mutex);
    return NULL;
}

/* ---- the report ------------------------------------------------------------------------------ */

static double share(double part, double whole) {
    return whole > 0 ? part / whole : 0;
}

/* The fastest of the schedules that were timed; AUTO: none were. */
static int fastest(const cliff *c) {
    int best = AUTO;
    for (int e = SCHEDULES; e < ENTRANTS; e++)
        if (best == AUTO || cliff_rate(c, e) > cliff_rate(c, best))
            best = cliff_rate(c, e) > 0 ? e : best;
    return best;
}

/* Whether the next size is that much faster. A small grid cannot be as fast a point as one of twice
   the points, but it should not take longer. */
static bool is_below_next(const cliff *c) {
    return cliff_rate(c, AUTO) < LEAST_OF_NEXT * cliff_rate(c, NEXT) &&
           c->of[AUTO].seconds > c->of[NEXT].seconds;
}

static bool is_below(const cliff *c, int entrant) {
    return cliff_rate(c, AUTO) < LEAST_OF_NAIVE * cliff_rate(c, entrant);
}

static bool is_flagged(const cliff *c) {
    return c->error == NULL && c->of[AUTO].seconds > 0 &&
           (is_below(c, NAIVE) || is_below(c, SINGLE) || is_below(c, fastest(c)) ||
            is_below_next(c));
}

static void print_head(void) {
    printf("Rates: billions of updates of a point a second. model: estimated time over measured.\n"
           "%-40s %8s %8s %8s %8s %6s %6s  %s\n",
           "problem", "auto", "naive", "single", "next", "model", "naive",
           "plan of auto | of naive");
}

static void print_line(const cliff *c) {
    char line[LINE];
    problem_print(&c->problem, line);
    if (c->error != NULL) {
        printf("%-40s %s\n", line, c->error);
        return;
    }
    printf("%-40s %8.2f %8.2f %8.2f %8.2f %6.2f %6.2f  %s | %s%s%s%s%s\n", line,
           cliff_rate(c, AUTO) * 1e-9, cliff_rate(c, NAIVE) * 1e-9, cliff_rate(c, SINGLE) * 1e-9,
           cliff_rate(c, NEXT) * 1e-9, share(c->of[AUTO].model, c->of[AUTO].seconds),
           share(c->of[NAIVE].model, c->of[NAIVE].seconds), c->of[AUTO].plan, c->of[NAIVE].plan,
           is_below(c, NAIVE) ? "  <NAIVE" : "", is_below(c, SINGLE) ? "  <SINGLE" : "",
           is_below_next(c) ? "  <NEXT" : "", is_below(c, fastest(c)) ? "  <SCHEDULE" : "");
    for (int e = SCHEDULES; e < ENTRANTS; e++)
        if (c->of[e].seconds > 0)
            printf("%40s %8.2f %33.2f  %s\n", "", cliff_rate(c, e) * 1e-9,
                   share(c->of[e].model, c->of[e].seconds), c->of[e].plan);
}

/* Times what is ready, in order, until the time ends. */
static void time_all(search *s) {
    for (int i = 0; i < s->count; i++) {
        cliff *c = &s->all[i];
        pthread_mutex_lock(&s->mutex);
        while (!c->ready && (seconds_now() < s->end || i < s->begun))
            pthread_cond_wait(&s->changed, &s->mutex);
        s->timed = i;
        pthread_cond_broadcast(&s->changed);
        pthread_mutex_unlock(&s->mutex);
        if (!c->ready || seconds_now() > s->end)
            break;
        if (c->error == NULL)
            cliff_time(s, c, true);
        print_line(c);
        fflush(stdout);
    }
    pthread_mutex_lock(&s->mutex);
    pthread_cond_broadcast(&s->changed); /* builders that wait see that the time has ended */
    pthread_mutex_unlock(&s->mutex);
}

/* Cliffs once more, when nothing is being built; the exit code. */
static int report(search *s, double end) {
    int timed = 0, wrong = 0, flagged = 0;
    printf("\nCliffs: auto below %.2f of naive, of single steps or of a schedule, or below %.2f of "
           "the next larger size\n",
           LEAST_OF_NAIVE, LEAST_OF_NEXT);
    for (cliff *c = s->all; c < s->all + s->count; c++) {
        timed += c->of[AUTO].seconds > 0;
        wrong += c->error != NULL;
        if (c->error != NULL || !is_flagged(c))
            continue;
        if (seconds_now() < end)
            cliff_time(s, c, false);
        if (!is_flagged(c))
            continue;
        flagged++;
        print_line(c);
    }
    printf("%d problems, %d cliffs, %d wrong or failed\n", timed, flagged, wrong);
    for (const cliff *c = s->all; c < s->all + s->count; c++)
        if (c->error != NULL)
            print_line(c);
    return wrong > 0;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static void open_all(search *s, const options *o) {
    const sg_options of = {.struct_size = sizeof of, .device = o->device};
    sg_device_info facts = {.struct_size = sizeof facts};
    if (sg_open(&s->context, &of) != SG_OK || sg_device(s->context, &facts) != SG_OK) {
        fprintf(stderr, "cliffs: %s\n", sg_error(s->context));
        exit(4);
    }
    s->device = bench_open(strcmp(facts.device, "cuda") == 0);
}

static void close_all(search *s) {
    for (cliff *c = s->all; c < s->all + s->count; c++) {
        for (int e = 0; e < ENTRANTS; e++)
            sg_release(c->of[e].kernel);
        free(c->error);
    }
    free(s->all);
    schedules_free(&s->lines);
    schedules_free(&s->schedules);
    bench_close(s->device);
    sg_close(s->context);
}

int main(int count, char **arguments) {
    const double begin = seconds_now();
    options o = {.seconds = 100, .count = 1000, .seed = 1, .threads = cores_here()};
    const bench_option table[] = {{"--seconds", .number = &o.seconds, .most = 1000000},
                                  {"--count", .number = &o.count, .most = 100000},
                                  {"--seed", .number = &o.seed, .most = INT64_MAX},
                                  {"--specs", .text = &o.specs},
                                  {"--schedules", .text = &o.schedules},
                                  {"--threads", .number = &o.threads, .most = MOST_THREADS},
                                  {"--device", .text = &o.device},
                                  {"--tiny", .flag = &o.tiny},
                                  {0}};
    options_read(count, arguments, table, &o, usage);
    search s = {.end = begin + SHARE_OF_SEARCH * (double)o.seconds,
                .mutex = PTHREAD_MUTEX_INITIALIZER,
                .changed = PTHREAD_COND_INITIALIZER};
    pthread_t threads[MOST_THREADS];
    int started = 0;
    add_all(&s, &o);
    if (o.schedules != NULL)
        schedules_read(o.schedules, &s.schedules);
    if (s.schedules.count > ENTRANTS - SCHEDULES)
        options_refuse("--schedules", o.schedules, usage);
    open_all(&s, &o);
    while (started < o.threads && pthread_create(&threads[started], NULL, go, &s) == 0)
        started++;
    print_head();
    time_all(&s);
    for (int i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    const int code = report(&s, begin + (double)o.seconds);
    close_all(&s);
    return code;
}
