/* What was measured for a build: the place that results are kept by, the plans files, and the
   choice among both. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "gen/families.h"
#include "gen/model/family.h"
#include "gen/model/plans.h"
#include "gen/space/space.h"
#include "runtime/api/build.h"
#include "runtime/files/paths.h"
#include "runtime/matrix/matrix.h"

static result_size size_of(job *j, const build_request *r) {
    result_size s = {.count = r->subject->family->dims(r->subject)};
    memcpy(s.number, r->size, sizeof r->size);
    if (r->matrix == NULL)
        return s;
    const matrix_facts f = matrix_facts_of(j, r->options.matrix);
    return (result_size){
        6,
        {r->matrix->rows, r->matrix->columns, r->matrix->entries, f.longest, f.empty, f.diagonals}};
}

/* A GPU runs only what was planned for its architecture. The cpu device runs anything, but what was
   fast there says nothing of a GPU. */
static bool is_planned_for(const build_request *r, const device_facts *f) {
    if (strcmp(f->device, "cpu") == 0)
        return r->gpu->processor != NULL || !family_plans_processors(r->subject->family);
    return strcmp(f->arch, r->gpu->arch) == 0;
}

/* Where the results of a request lie, without its device: for any architecture. */
static void results_place_of_spec(job *j, const build_request *r, result_place *out) {
    text model = text_new(j);
    r->subject->family->print(r->subject, MODEL_MEANING, &model);
    *out = (result_place){.family = r->subject->family->name,
                          .name = r->subject->name,
                          .model = model.data,
                          .generator = SG_VERSION,
                          .size = size_of(j, r),
                          .steps = r->options.steps > 1 ? r->options.steps : 1};
}

bool results_place_of(job *j, const build_request *r, result_place *out) {
    const device *d = r->context->device;
    const device_facts *f = d != NULL ? d->ops->facts(d) : NULL;
    if (f == NULL || !is_planned_for(r, f))
        return false;
    results_place_of_spec(j, r, out);
    out->device = results_device(j, f);
    return true;
}

/* The most bytes and warnings of a file. */
enum { MOST_BYTES = 16 << 20, MOST_WARNINGS = 10 };

/* ---- reading --------------------------------------------------------------------------------- */

typedef struct reading {
    job *job;
    plans *all;
    text warnings; /* a line each */
    int damaged;   /* lines of the current file */
} reading;

static void note_damaged(void *user, const char *file, int line, const char *why) {
    reading *r = user;
    if (r->damaged++ < MOST_WARNINGS)
        text_printf(&r->warnings, "%s:%d: this line is skipped: %s\n", file, line, why);
}

/* NULL, or why the file at the path cannot be read. */
static const char *read_whole(job *j, const char *path, char **out, size_t *size) {
    struct stat facts;
    if (stat(path, &facts) != 0)
        return strerror(errno);
    if (!S_ISREG(facts.st_mode))
        return "it is no regular file";
    if (facts.st_size > MOST_BYTES)
        return job_print(j, "it is larger than %d MiB", MOST_BYTES >> 20);
    *out = job_alloc(j, (size_t)facts.st_size + 1);
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0)
        return strerror(errno);
    const ssize_t got = io_read_all(file, *out, (size_t)facts.st_size);
    const int error = errno;
    close(file);
    *size = got < 0 ? 0 : (size_t)got;
    return got < 0 ? strerror(error) : NULL;
}

static void read_file(reading *r, const char *path) {
    char *data = NULL;
    size_t size = 0;
    const char *trouble = read_whole(r->job, path, &data, &size);
    if (trouble != NULL) {
        text_printf(&r->warnings, "%s, of SG_PLANS, cannot be read: %s\n", path, trouble);
        return;
    }
    const plans_listener listener = {note_damaged, r};
    plans read = {0};
    r->damaged = 0;
    plans_read(r->job, &read, path, data, size, &listener);
    for (int i = 0; i < read.count; i++) {
        const char *why = plans_line_flaw(r->job, &read.list[i]);
        if (why != NULL)
            note_damaged(r, path, read.list[i].line, why);
        else
            plans_add(r->job, r->all, &read.list[i]);
    }
    if (r->damaged > MOST_WARNINGS)
        text_printf(&r->warnings, "%s: %s skipped\n", path,
                    r->damaged == MOST_WARNINGS + 1
                        ? "1 more line is"
                        : job_print(r->job, "%d more lines are", r->damaged - MOST_WARNINGS));
}

static void read_all(job *j, void *argument) {
    reading *r = argument;
    r->job = j;
    r->all = job_alloc(j, sizeof *r->all);
    r->warnings = text_new(j);
    const char *paths = user_variable("SG_PLANS");
    for (const char *at = paths; at != NULL && *at != '\0';) {
        const size_t length = strcspn(at, ":");
        if (length > 0)
            read_file(r, job_copy(j, at, length));
        at += length + (at[length] == ':');
    }
    plans_read_shipped(j, r->all);
}

static void tell(job *j, const sg_context *c, const char *warnings) {
    for (const char *at = warnings; *at != '\0';) {
        const size_t length = strcspn(at, "\n");
        logger_say(&c->logger, j, SG_LOG_WARNING, "%.*s", (int)length, at);
        at += length + 1;
    }
}

/* Two threads may read at once; the first result is kept. The log is called without the lock,
   because it may call the library. */
static const plans *plans_of_context(job *j, sg_context *c) {
    pthread_mutex_lock(&c->lock);
    const plans *known = c->plans;
    pthread_mutex_unlock(&c->lock);
    if (known != NULL)
        return known;
    reading r = {.all = NULL};
    job *own;
    if (job_run(&c->memory, read_all, &r, &own) != FAULT_NONE)
        job_fail_as(j, own);
    pthread_mutex_lock(&c->lock);
    const bool first = c->plans == NULL;
    if (first) {
        c->plans = r.all;
        c->plans_job = own;
    }
    known = c->plans;
    pthread_mutex_unlock(&c->lock);
    if (first)
        tell(j, c, r.warnings.data);
    else
        job_end(own);
    return known;
}

const gpu *plans_attach(job *j, sg_context *c, const gpu *g) {
    plans *of = job_alloc(j, sizeof *of);
    *of = g->processor != NULL ? (plans){.list = NULL} : plans_of(j, plans_of_context(j, c), g);
    gpu *own = job_alloc(j, sizeof *own);
    *own = *g;
    own->plans = of;
    return own;
}

/* ---- one spec -------------------------------------------------------------------------------- */

typedef struct asked {
    const char *class, *dtype;
    result_place place; /* but for the device */
} asked;

static double distance(const asked *a, const plans_line *l) {
    result_size size = {.count = l->size_count};
    memcpy(size.number, l->size, sizeof size.number);
    return results_distance(&size, &a->place.size) +
           fabs(log((double)l->steps / (double)a->place.steps));
}

/* Of a user's own lines any size serves, as in the database. Those of the library give way to the
   model where the grid, or the steps, are more than twice as many or as few, and where only the
   rows of one are packs. */
static bool serves(const asked *a, const plans_line *l) {
    enum { PACK = 4 };
    static const double most = 2;
    const bool alike = (l->size[0] % PACK == 0) == (a->place.size.number[0] % PACK == 0);
    return isfinite(distance(a, l)) &&
           (!l->shipped || (alike && distance(a, l) <= log(most) + 1e-9));
}

static bool is_asked(const asked *a, const plans_line *l) {
    return strcmp(l->class, a->class) == 0 &&
           (strcmp(l->dtype, "any") == 0 || strcmp(l->dtype, a->dtype) == 0) && !l->up_to &&
           (l->steps > 1) == (a->place.steps > 1) && serves(a, l);
}

/* The nearest plan that will do, and of equally near ones the fastest. */
static const plans_line *choose(job *j, const build_request *r, const asked *a, const plans *of) {
    const family_request wanted = build_wanted(r);
    bool *tried = job_array(j, (size_t)of->count, sizeof *tried);
    for (;;) {
        int best = -1;
        for (int i = 0; i < of->count; i++) {
            const plans_line *l = &of->list[i], *than = best >= 0 ? &of->list[best] : NULL;
            if (tried[i] || !is_asked(a, l))
                continue;
            const double far = distance(a, l), nearest = best >= 0 ? distance(a, than) : INFINITY;
            if (far < nearest || (far == nearest && l->rate > than->rate))
                best = i;
        }
        if (best < 0)
            return NULL;
        tried[best] = true;
        if (plan_accepted(j, r->subject, &wanted, of->list[best].plan))
            return &of->list[best];
    }
}

/* The plans for the processor of the cpu device, which belong to no GPU. */
static plans of_processor(job *j, const build_request *r) {
    const device *d = r->context->device;
    const device_facts *f = d != NULL ? d->ops->facts(d) : NULL;
    plans out = {0};
    if (f == NULL || !is_planned_for(r, f) || strcmp(f->device, "cpu") != 0)
        return out;
    const plans *all = plans_of_context(j, r->context);
    const result_device own = results_device(j, f);
    for (int i = 0; i < all->count; i++) {
        const plans_board *b = all->list[i].board;
        if (strcmp(b->arch, "cpu") == 0 && strcmp(b->name, own.name) == 0 &&
            b->multiprocessors == own.multiprocessors)
            plans_add(j, &out, &all->list[i]);
    }
    return out;
}

static const char *describe(job *j, const asked *a, const plans_line *l) {
    result_size size = {.count = l->size_count};
    memcpy(size.number, l->size, sizeof size.number);
    if (distance(a, l) == 0)
        return job_print(j, "measured at this size, by the plans for the %s", l->board->name);
    const char *steps = l->steps > 1 ? job_print(j, ", %lld steps", (long long)l->steps) : "";
    return job_print(j, "measured at %s%s, the nearest, by the plans for the %s",
                     results_size_text(j, &size), steps, l->board->name);
}

/* Whether any line is for a single spec: in most contexts none is, and no spec is printed. */
static bool has_keys(const plans *p) {
    for (int i = 0; i < p->count; i++)
        if (plans_line_has_key(&p->list[i]))
            return true;
    return false;
}

/* The fastest line of this spec that its constraints allow, at this size or the nearest, for the
   request's GPU or the context's processor; NULL: none. *found as in sg_kernel_info. All in the
   job. */
static const char *plans_find(job *j, const build_request *r, const char **found) {
    const plans own = of_processor(j, r), *of[] = {&own, r->gpu->plans};
    if (!has_keys(of[0]) && !has_keys(of[1]))
        return NULL;
    asked a;
    char key[DIGEST_TEXT];
    results_place_of_spec(j, r, &a.place);
    const digest spec = results_spec(a.place.family, a.place.model);
    digest_print(&spec, key);
    a.class = job_print(j, "%s %s", a.place.family, key);
    a.dtype = dtype_words[r->subject->dtype].name;
    for (int i = 0; i < 2; i++) {
        const plans_line *l = choose(j, r, &a, of[i]);
        if (l != NULL) {
            *found = describe(j, &a, l);
            return l->plan;
        }
    }
    return NULL;
}

typedef struct asking {
    job *job;
    const build_request *request;
    family_request wanted;
} asking;

static bool fits(void *user, const char *plan) {
    const asking *a = user;
    return plan_accepted(a->job, a->request->subject, &a->wanted, plan);
}

/* From the database; *note is a remark if there is none, or NULL. */
static const char *find_result(job *j, const build_request *r, const char **found,
                               const char **note) {
    static const char nearest[] = "nearest ";
    result_place place;
    result_match match;
    results *known = r->context->results;
    *note = NULL;
    if (known == NULL || !results_exist(known) || !results_place_of(j, r, &place))
        return NULL;
    asking a = {.job = j, .request = r, .wanted = build_wanted(r)};
    results_find(j, known, &place, fits, &a, &match);
    *note = match.note;
    if (match.plan == NULL)
        return NULL;
    *found = match.how == RESULT_EXACT
                 ? "measured at this size"
                 : job_print(j, "measured at %s, the nearest", match.found + sizeof nearest - 1);
    return match.plan;
}

const char *tuned_plan(job *j, const build_request *r, const char **found) {
    const char *how, *note, *plan = find_result(j, r, &how, &note);
    const family_request wanted = build_wanted(r);
    if (plan == NULL)
        plan = plans_find(j, r, &how);
    if (plan == NULL || plan_given(j, r->subject, &wanted, plan)) {
        *found = note;
        return NULL;
    }
    *found = how;
    return plan;
}

const char *untuned_plan(job *j, const build_request *r, const family_build *made,
                         const char *note) {
    const family_request wanted = build_wanted(r);
    if (plan_given(j, r->subject, &wanted, made->plan))
        return "given by the schedule";
    const char *how =
        made->board != NULL ? job_print(j, "by the plans for the %s", made->board) : "by the model";
    return note == NULL ? how : job_print(j, "%s; %s", how, note);
}
