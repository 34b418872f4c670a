/* The ranks of a command. */
#include "cli/ranks.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"

char ranks_engine[128];

/* ---- MPI ------------------------------------------------------------------------------------- */

static long number_of(const char *variable) {
    const char *value = getenv(variable);
    return value != NULL ? strtol(value, NULL, 10) : 0;
}

/* How many processes a launcher started; 0: none did. */
static long launched(void) {
    static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE",
                                        "SLURM_STEP_NUM_TASKS"};
    long most = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        most = number_of(names[i]) > most ? number_of(names[i]) : most;
    return most;
}

bool ranks_wanted(const options *o) {
    return o->rank_axes > 0 || launched() > 1;
}

/* Where the module for MPI is; NULL, with *why: there is none. */
static const char *ranks_module(const char **why) {
    static const char *const places[] = {
        "%s/libstencilgen_mpi.so", "%s/../lib/libstencilgen_mpi.so",
        "%s/../lib64/libstencilgen_mpi.so", "%s/../lib/x86_64-linux-gnu/libstencilgen_mpi.so"};
    const char *given = getenv("SG_MPI"), *found = NULL;
    if (given != NULL && *given != '\0')
        return given; /* the only one that is looked at */
    char *self = realpath("/proc/self/exe", NULL);
    if (self != NULL && strrchr(self, '/') != NULL)
        *strrchr(self, '/') = '\0';
    for (size_t i = 0; found == NULL && self != NULL && i < sizeof places / sizeof *places; i++) {
        const char *path = phrase(places[i], self);
        found = access(path, R_OK) == 0 ? path : NULL;
    }
    free(self);
    *why = "there is no libstencilgen_mpi.so next to the command";
    return found;
}

static void *open_module(const char **why) {
    const char *path = ranks_module(why);
    void *module = path != NULL ? dlopen(path, RTLD_NOW | RTLD_GLOBAL) : NULL;
    const char *error = path != NULL && module == NULL ? dlerror() : NULL;
    if (error != NULL)
        *why = new_copy(error);
    return module;
}

const char *ranks_describe_mpi(bool *usable) {
    const char *why = "it is another module", *(*describe)(void);
    void *module = open_module(&why);
    void *address = module != NULL ? dlsym(module, "sg_mpi_describe") : NULL;
    *usable = address != NULL;
    if (address == NULL)
        return why;
    memcpy(&describe, &address, sizeof describe);
    return phrase("%s, %s", describe(), ranks_module(&why)); /* it stays loaded, as MPI wants */
}

static int open_mpi(ranks *r) {
    const char *why;
    int (*begin)(sg_transport *);
    r->module = open_module(&why);
    void *address = r->module != NULL ? dlsym(r->module, "sg_mpi_begin_job") : NULL;
    if (address == NULL)
        return complain(EXIT_DEVICE, NULL,
                        "a launcher started %ld processes, but MPI cannot be used: %s; install "
                        "MPI and build the module (setup.sh --mpi)",
                        launched(), why);
    memcpy(&begin, &address, sizeof begin);
    r->transports = new_array(1, sizeof *r->transports);
    if (begin(r->transports) != 0)
        return complain(EXIT_DEVICE, NULL, "MPI cannot be initialised");
    r->count = r->transports->ranks;
    r->here = 1;
    if (r->count == 1) /* else each process would run the whole grid, and write the same files */
        return complain(EXIT_DEVICE, NULL,
                        "a launcher started %ld processes, but in %s each is alone: start them by "
                        "the mpirun of that MPI, or by srun with --mpi=pmix (srun --mpi=list)",
                        launched(), r->transports->name);
    r->speaks = r->transports->rank == 0;
    if (!r->speaks)
        complain_silently();
    return EXIT_DONE;
}

/* ---- opening --------------------------------------------------------------------------------- */

static int open_threads(ranks *r, int64_t count) {
    if (count > 1024)
        return complain(EXIT_USAGE, NULL, "--ranks: %lld threads are too many; 1024 can be",
                        (long long)count);
    r->count = r->here = (int)count;
    r->speaks = true;
    r->transports = new_array((size_t)count, sizeof *r->transports);
    return sg_local_transports(r->count, r->transports) == SG_OK
               ? EXIT_DONE
               : complain(EXIT_DEVICE, NULL, "out of memory");
}

static int open_ranks(ranks *r, const options *o) {
    int64_t count = 1;
    *r = (ranks){.count = 1, .given = o->given};
    for (int axis = 0; axis < o->rank_axes; axis++) {
        count *= o->ranks[axis];
        r->grid[axis] = o->rank_axes > 1 ? (int)o->ranks[axis] : 0;
    }
    if (launched() <= 1)
        return open_threads(r, count);
    const int code = open_mpi(r);
    if (code == EXIT_DONE && o->rank_axes > 0 && count != r->count)
        return complain(EXIT_USAGE, NULL, "--ranks names %s, but %s started",
                        counted(count, "rank"),
                        r->count == 1 ? "1 process was" : phrase("%d processes were", r->count));
    return code;
}

static void close_ranks(ranks *r, int code, const char *complaint) {
    void (*end)(int);
    void *address = r->module != NULL ? dlsym(r->module, "sg_mpi_end_job") : NULL;
    const sg_transport *t = r->transports;
    if (code != EXIT_DONE && t != NULL && !r->ended)
        t->abandon(t->user, phrase("rank %d: %.200s (exit code %d)", t->rank,
                                   complaint != NULL ? complaint : "it failed", code));
    for (int i = 0; t != NULL && !r->ended && i < r->here; i++)
        t[i].close(t[i].user);
    if (address == NULL)
        return;
    memcpy(&end, &address, sizeof end);
    end(code);
}

int ranks_call(ranks_command *command, const options *o) {
    options own = *o;
    ranks r;
    const char *complaint = NULL;
    int code = open_ranks(&r, o);
    own.local_rank = r.module != NULL;
    if (code == EXIT_DONE)
        code = command(&own, &r, &complaint);
    close_ranks(&r, code, complaint);
    return code;
}

/* ---- running --------------------------------------------------------------------------------- */

bool rank_good(rank *r, sg_status status) {
    static const char prefix[] = "error: ";
    if (status != SG_OK && r->status == SG_OK) {
        const char *text = sg_error(r->context);
        if (strncmp(text, prefix, sizeof prefix - 1) == 0)
            text += sizeof prefix - 1;
        r->status = status;
        snprintf(r->error, sizeof r->error, "%s", text);
    }
    return status == SG_OK;
}

void rank_fail(rank *r, const char *text) {
    if (r->status != SG_OK)
        return;
    r->status = SG_ERROR_DATA;
    snprintf(r->error, sizeof r->error, "%s", text);
}

bool rank_agreed(rank *r) {
    const sg_status own = r->status;
    const sg_status status = sg_team_agree(r->team, own != SG_OK ? r->error : NULL);
    if (own == SG_OK)
        rank_good(r, status);
    return r->status == SG_OK;
}

const char *ranks_unhidden(double waited, double hidden) {
    return hidden > 0 ? phrase("%s of it not hidden", in_seconds(waited)) : "not hidden";
}

static void note_engine(const rank *r) {
    sg_team_info info = {.struct_size = sizeof info};
    if (r->number == 0 && sg_team_facts(r->team, &info) == SG_OK)
        snprintf(ranks_engine, sizeof ranks_engine, "%s", info.engine);
}

/* Where the lines begin to differ, from the beginning of that option on. */
static size_t first_difference(const char *a, const char *b) {
    size_t at = 0, begin = 0;
    for (; a[at] == b[at] && a[at] != '\0'; at++)
        if (a[at] == ' ' && a[at + 1] == '-' && b[at + 1] == '-')
            begin = at + 1;
    return a[at] == '\0' && b[at] == ' ' ? at + 1 : b[at] == '\0' && a[at] == ' ' ? at + 1 : begin;
}

typedef struct given_options {
    digest all;
    char text[480]; /* or as much of it */
} given_options;

static void say_difference(rank *r, int other, const char *a, const char *b) {
    const size_t at = first_difference(a, b);
    const char *first = strlen(a) > at ? a + at : "nothing more",
               *second = strlen(b) > at ? b + at : "nothing more";
    char text[512];
    snprintf(text, sizeof text,
             "ranks 0 and %d were given different options: '%.100s' and '%.100s'", other, first,
             second);
    rank_fail(r, text);
    r->status = SG_ERROR_USAGE;
}

/* Processes that make different numbers of steps, or with other values, would wait for each other
   for ever, or make a result that nobody asked for. */
static bool same_options(rank *r) {
    const int count = r->of->count;
    given_options mine = {.all = digest_of(&(blob){r->of->given, strlen(r->of->given)}, 1)};
    given_options *all = r->of->module != NULL ? malloc((size_t)count * sizeof *all) : NULL;
    snprintf(mine.text, sizeof mine.text, "%s", r->of->given);
    if (r->of->module != NULL && all == NULL)
        rank_fail(r, "out of memory");
    if (all != NULL && rank_good(r, sg_team_gather(r->team, &mine, sizeof mine, all)))
        for (int i = 1; i < count && r->status == SG_OK; i++)
            if (!digest_equal(&all[0].all, &all[i].all))
                say_difference(r, i, all[0].text, all[i].text);
    free(all);
    return r->status == SG_OK;
}

static void *be_rank(void *argument) {
    rank *r = argument;
    const sg_team_options how = {
        .struct_size = sizeof how, .transport = r->transport, .timed = true};
    if (rank_good(r, sg_team_open(r->context, &how, &r->team))) {
        note_engine(r);
        if (same_options(r))
            r->body(r);
    }
    sg_team_close(r->team);
    return NULL;
}

/* Ranks of one process share a context on the cpu device; on GPUs each has its own. */
static int give_contexts(ranks *r, session *s, rank *list) {
    const bool gpus = strcmp(s->device.device, "cuda") == 0;
    for (int i = 0; i < r->here; i++) {
        list[i].context = s->context;
        const int device = gpus && r->module == NULL ? sg_team_device(i) : 0;
        if (device == 0)
            continue;
        const sg_options how = {.struct_size = sizeof how,
                                .device = "cuda",
                                .device_index = device,
                                .database = s->options->database};
        const sg_status status = sg_open(&list[i].context, &how);
        list[i].opens_context = true;
        if (status != SG_OK)
            return complain_library(list[i].context, status);
    }
    return EXIT_DONE;
}

/* The exit code behind the words of a process that failed before it met the others, which is taken
   off; or the other code. */
static int told_code(char *error, int other) {
    char *at = strrchr(error, '(');
    int code = other;
    if (at == NULL || at == error || sscanf(at, "(exit code %d)", &code) != 1)
        return other;
    at[-1] = '\0';
    return code;
}

/* The first failure that is a rank's own, where there is one. */
static int judge(const ranks *r, rank *list) {
    rank *found = NULL;
    for (int i = 0; i < r->here; i++)
        if (list[i].status != SG_OK && (found == NULL || (strncmp(found->error, "rank ", 5) == 0 &&
                                                          strncmp(list[i].error, "rank ", 5) != 0)))
            found = &list[i];
    if (found == NULL)
        return EXIT_DONE;
    const int code = told_code(found->error, exit_code(found->status));
    if (r->speaks)
        complain(EXIT_WRONG, NULL, "%s", found->error);
    return code;
}

int ranks_run(ranks *r, session *s, void (*body)(rank *), void *user) {
    rank *list = new_array((size_t)r->here, sizeof *list);
    pthread_t *threads = new_array((size_t)r->here, sizeof *threads);
    int code = give_contexts(r, s, list), started = 0;
    for (int i = 0; i < r->here && code == EXIT_DONE; i++) {
        list[i].of = r;
        list[i].number = r->transports[i].rank;
        list[i].transport = &r->transports[i];
        list[i].user = user;
        list[i].body = body;
        if (r->here > 1 && pthread_create(&threads[i], NULL, be_rank, &list[i]) != 0)
            code = complain(EXIT_DEVICE, NULL, "there can be no thread for rank %d", i);
        else
            started++;
    }
    for (int i = started; i < r->here; i++)
        r->transports[i].close(r->transports[i].user);
    if (r->here == 1 && started == 1)
        be_rank(&list[0]);
    for (int i = 0; i < started && r->here > 1; i++)
        pthread_join(threads[i], NULL);
    code = code == EXIT_DONE ? judge(r, list) : code;
    r->ended = true;
    for (int i = 0; i < r->here; i++)
        if (list[i].opens_context)
            sg_close(list[i].context);
    return code;
}
