/* run_cases: one list of cases, several modes. See tests/README.md.
   Takes: options, the case files. Makes: a line for each failure, a count, an exit code: 0 all
   good, 1 something failed, 2 wrong usage, 77 all skipped. */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/random.h"
#include "tests/runner/runner.h"

static const char usage[] =
    "run_cases [options]\n"
    "  --mode run|golden|cubin|properties|selftest|sources   run: on a device, by the reference\n"
    "  --device cpu|cuda|auto      cpu by default\n"
    "  --pairwise | --full         pairs of values meet (the default), or every kernel is built\n"
    "  --every-place               each kernel in every size, layout and box\n"
    "  --seed N                    of the selection; SG_SEED: of the data\n"
    "  --only FILE                 cases of tests/cases/FILE.lua alone\n"
    "  --without FILE              cases of all other files\n"
    "  --filter TEXT               cases whose name has the text\n"
    "  --shard I/N                 one of N parts of the cases, from 0 on\n"
    "  --draw N                    one of N parts, which SG_SEED draws\n"
    "  --threads N                 one a core by default\n"
    "  --root FOLDER               where tests/ and specs/ are; . by default\n"
    "  --huge                      allocate grids of more than 2^31 cells on a GPU\n"
    "  --update                    write the golden files\n"
    "  --list                      print the names of the selected cases\n"
    "  --verbose                   print each case\n";

static const struct {
    const char *word;
    void (*run)(job *, const options *, const case_list *, report *);
} modes[MODE_COUNT] = {
    [MODE_RUN] = {"run", mode_run},
    [MODE_GOLDEN] = {"golden", mode_golden},
    [MODE_CUBIN] = {"cubin", mode_cubin},
    [MODE_PROPERTIES] = {"properties", mode_properties},
    [MODE_SELFTEST] = {"selftest", mode_selftest},
    [MODE_SOURCES] = {"sources", mode_sources},
};

static noreturn void refuse(const char *word) {
    fprintf(stderr, "run_cases: unknown or incomplete: %s\n%s", word, usage);
    exit(2);
}

static uint64_t number(const char *word, const char *value) {
    char *end;
    const uint64_t out = strtoull(value, &end, 0);
    if (*value == '\0' || *end != '\0')
        refuse(word);
    return out;
}

static void set_mode(options *o, const char *value) {
    for (int m = 0; m < MODE_COUNT; m++)
        if (strcmp(modes[m].word, value) == 0) {
            o->mode = (run_mode)m;
            return;
        }
    refuse(value);
}

static bool set_flag(options *o, const char *word) {
    if (strcmp(word, "--pairwise") == 0)
        o->selection = SELECT_PAIRWISE;
    else if (strcmp(word, "--full") == 0)
        o->selection = o->selection == SELECT_EVERY_PLACE ? o->selection : SELECT_FULL;
    else if (strcmp(word, "--every-place") == 0)
        o->selection = SELECT_EVERY_PLACE;
    else if (strcmp(word, "--list") == 0)
        o->list = true;
    else if (strcmp(word, "--update") == 0)
        o->update = true;
    else if (strcmp(word, "--huge") == 0)
        o->huge = true;
    else if (strcmp(word, "--verbose") == 0)
        o->verbose = true;
    else
        return false;
    return true;
}

static void set_value(options *o, const char *word, const char *value) {
    if (value == NULL)
        refuse(word);
    if (strcmp(word, "--mode") == 0)
        set_mode(o, value);
    else if (strcmp(word, "--device") == 0)
        o->device = value;
    else if (strcmp(word, "--seed") == 0)
        o->seed = number(word, value);
    else if (strcmp(word, "--only") == 0)
        o->only = value;
    else if (strcmp(word, "--without") == 0)
        o->without = value;
    else if (strcmp(word, "--filter") == 0)
        o->filter = value;
    else if (strcmp(word, "--threads") == 0)
        o->threads = (int)number(word, value);
    else if (strcmp(word, "--root") == 0)
        o->root = value;
    else if (strcmp(word, "--draw") == 0)
        o->shards = (int)number(word, value), o->shard = DRAWN;
    else if (strcmp(word, "--shard") != 0 || sscanf(value, "%d/%d", &o->shard, &o->shards) != 2 ||
             o->shard < 0 || o->shard >= o->shards)
        refuse(word);
}

static options read_options(char **words) {
    const char *seed = getenv("SG_SEED");
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    options o = {.device = "cpu",
                 .root = ".",
                 .seed = 1,
                 .shards = 1,
                 .threads = cores > 0 ? (int)cores : 1,
                 .data_seed = seed != NULL ? number("SG_SEED", seed) : random_fresh()};
    for (words++; *words != NULL; words++) {
        if (strcmp(*words, "--help") == 0) {
            fputs(usage, stdout);
            exit(0);
        }
        if (set_flag(&o, *words))
            continue;
        set_value(&o, words[0], words[1]);
        words++;
    }
    return o;
}

/* Which cases make a part is random: each part has some of every value of every dimension. */
bool options_take(const options *o, int i) {
    const uint64_t parts = (uint64_t)o->shards;
    const uint64_t part = o->shard == DRAWN ? o->data_seed % parts : (uint64_t)o->shard;
    return random_bits(1, (uint64_t)i) % parts == part;
}

static void take_shard(const options *o, case_list *list) {
    int count = 0;
    for (int i = 0; i < list->count; i++)
        if (options_take(o, i))
            list->cases[count++] = list->cases[i];
    list->count = count;
}

static void print_list(job *j, const case_list *list) {
    long places = 0;
    for (int i = 0; i < list->count; i++) {
        const test_case *t = &list->cases[i];
        if (t->place_count == 0)
            printf("%s\n", t->name);
        for (int p = 0; p < t->place_count; p++)
            printf("%s\n", case_place_name(j, t, p));
        places += t->place_count;
    }
    fprintf(stderr, "%d kernels in %ld places\n", list->count, places);
}

typedef struct whole {
    const options *options;
    report report;
} whole;

static void run_all(job *j, void *argument) {
    whole *w = argument;
    const options *o = w->options;
    lua_cases *files = cases_open(j, o);
    job_defer(j, (void (*)(void *))cases_close, files);
    case_list list = cases_load(j, files, o);
    if (list.count == 0) /* of a misspelt file or filter */
        job_fail(j, FAULT_USAGE, NULL, 0, "no case is selected");
    if (o->mode != MODE_CUBIN || o->selection != SELECT_PAIRWISE) /* which chooses first */
        take_shard(o, &list);
    if (o->list)
        print_list(j, &list);
    else
        modes[o->mode].run(j, o, &list, &w->report);
    job_keep(j, files);
    cases_close(files);
}

/* In cmocka's words too, which other scripts count. */
static void print_counts(const report *r) {
    printf("[  PASSED  ] %ld test(s).\n", r->passed);
    if (r->skipped > 0)
        printf("[  SKIPPED ] %ld test(s).\n", r->skipped);
    if (r->failed > 0)
        printf("[  FAILED  ] %ld test(s).\n", r->failed);
    printf("%ld passed, %ld failed, %ld skipped\n", r->passed, r->failed, r->skipped);
}

int main(int count, char **words) {
    (void)count;
    const options o = read_options(words);
    whole w = {.options = &o, .report = {.options = &o}};
    pthread_mutex_init(&w.report.lock, NULL);
    if (o.mode == MODE_SOURCES)
        setlocale(LC_ALL, ""); /* as a program that embeds the library may */
    if ((o.mode == MODE_RUN || o.mode == MODE_PROPERTIES || o.mode == MODE_CUBIN) && !o.list)
        printf("SG_SEED=%llu\n", (unsigned long long)o.data_seed);
    report_watch_crashes();
    job *j;
    const fault f = job_run(&allocator_libc, run_all, &w, &j);
    if (f != FAULT_NONE)
        fprintf(stderr, "run_cases: %s\n", job_error(j));
    job_end(j);
    if (f != FAULT_NONE)
        return 2;
    if (o.list)
        return 0;
    print_counts(&w.report);
    if (w.report.failed > 0)
        return 1;
    return w.report.passed == 0 && w.report.skipped > 0 ? 77 : 0;
}
