/* What this machine offers and what is missing. Takes: options as for sg_open. Makes: a finding for
   the driver, the GPU, NVRTC, the host compiler, the cache, the database of tuning results and the
   device that sg_open would choose; each says where it was found and why there, or the cure. */
#include "base/text.h"
#include "runtime/compile/compilers.h"
#include "runtime/device/cuda/driver.h"
#include "runtime/launch/context.h"
#include "runtime/store/results.h"

#include <string.h>

typedef struct examination {
    const sg_options *asked; /* the caller's; NULL for the defaults */
    sg_options options;
    sg_finding finding;
    void *user;
} examination;

static void report(const examination *e, const char *what, bool usable, const char *words) {
    e->finding(e->user, what, usable, words);
}

/* "13.0" for 13000. */
static const char *cuda_version(job *j, int version) {
    return job_print(j, "%d.%d", version / 1000, version % 1000 / 10);
}

/* False where there is none. */
static bool examine_driver(job *j, const examination *e) {
    cuda_driver driver;
    const char *why = NULL;
    if (!cuda_driver_open(j, &driver, &why)) {
        report(e, "driver", false, why);
        return false;
    }
    int version = 0;
    const cu_result code = driver.driver_version(&version);
    const char *words = code == CU_OK
                            ? job_print(j, "for CUDA %s", cuda_version(j, version))
                            : job_print(j, "of unknown version: %s", cuda_error(&driver, j, code));
    report(e, "driver", code == CU_OK,
           job_print(j, "%s, %s, %s", words, driver.library.path, driver.library.reason));
    return true;
}

static const char *describe_gpu(job *j, int index, const device_facts *f) {
    text t = text_new(j);
    text_printf(&t, "GPU %d, %s, %s, %d multiprocessors, ", index, f->name, f->arch,
                f->multiprocessors);
    text_number(&t, (double)f->memory / (1 << 30), 3);
    text_add(&t, " GiB");
    return t.data;
}

static void examine_gpu(job *j, const examination *e, bool driver) {
    if (!driver) {
        report(e, "GPU", false, "none can be used without a driver");
        return;
    }
    const device_options options = {.index = e->options.device_index,
                                    .cuda_context = e->options.cuda_context};
    const char *why = NULL;
    device *d = device_cuda.open(j, &options, &why);
    if (d == NULL) {
        report(e, "GPU", false, why);
        return;
    }
    const char *words = describe_gpu(j, options.index, d->ops->facts(d));
    d->ops->close(d);
    report(e, "GPU", true, words);
}

static void examine_nvrtc(job *j, const examination *e) {
    const char *why = NULL;
    nvrtc *n = nvrtc_open(j, e->options.nvrtc, &why);
    if (n == NULL) {
        report(e, "NVRTC", false, why);
        return;
    }
    const char *words =
        job_print(j, "%s, %s, %s", nvrtc_version(n), nvrtc_path(n), nvrtc_reason(n));
    nvrtc_close(n);
    report(e, "NVRTC", true, words);
}

static void examine_compiler(job *j, const examination *e) {
    const char *why = NULL;
    const host_program p = host_find(j, &why);
    const host_answer *a = p.path != NULL ? host_ask(j, p, &why) : NULL;
    if (a == NULL)
        report(e, "host compiler", false, why);
    else
        report(e, "host compiler", true, job_print(j, "%s, %s, %s", a->name, p.path, p.reason));
}

static void examine_cache(job *j, const examination *e) {
    const logger nobody = {0};
    cache *c = cache_open(j, e->options.cache, e->options.cache_bytes, &nobody);
    sg_cache_info info;
    cache_facts(j, c, &info);
    text t = text_new(j);
    if (info.folder[0] == '\0') {
        text_printf(&t, "%s; every kernel is compiled anew", info.trouble);
    } else {
        text_printf(&t, "%s, %s, %lld %s, ", info.folder, cache_reason(c), (long long)info.entries,
                    info.entries == 1 ? "entry" : "entries");
        text_number(&t, (double)info.bytes / (1 << 20), 3);
        text_add(&t, " of ");
        text_number(&t, (double)info.most_bytes / (1 << 20), 3);
        text_add(&t, " MiB");
        if (info.trouble != NULL)
            text_printf(&t, "; nothing is stored there: %s", info.trouble);
    }
    report(e, "cache", info.trouble == NULL, t.data);
}

static void close_results(void *what) {
    results_close(what);
}

static void examine_database(job *j, const examination *e) {
    const logger nobody = {0};
    results *r = results_open(j, e->options.database, &nobody);
    job_defer(j, close_results, r);
    results_facts facts;
    results_examine(j, r, &facts);
    text t = text_new(j);
    if (facts.path[0] == '\0') {
        text_printf(&t, "%s; nothing that is tuned will be remembered", facts.trouble);
    } else {
        text_printf(&t, "%s, %s, ", facts.path, facts.reason);
        if (facts.exists) {
            text_printf(&t, "%s of %s on %s, ", text_count(t.job, facts.results, "result"),
                        text_count(t.job, facts.specs, "spec"),
                        text_count(t.job, facts.devices, "device"));
            text_number(&t, (double)facts.bytes / (1 << 10), 3);
            text_add(&t, " KiB");
        } else {
            text_add(&t, "nothing was tuned yet");
        }
        if (facts.trouble != NULL)
            text_printf(&t, "; nothing is stored there: %s", facts.trouble);
    }
    report(e, "database", facts.trouble == NULL, t.data);
    job_undo(j, r);
}

/* Asks sg_open itself, so that the answer cannot differ from what a program gets. */
static void examine_choice(job *j, const examination *e) {
    sg_context *context = NULL;
    sg_device_info info = {.struct_size = sizeof info};
    sg_status status = sg_open(&context, e->asked);
    if (status == SG_OK)
        status = sg_device(context, &info);
    if (status != SG_OK) {
        const char *words = job_print(j, "%s", sg_error(context));
        sg_close(context);
        if (status == SG_ERROR_MEMORY)
            job_fail(j, FAULT_MEMORY, NULL, 0, "out of memory");
        report(e, "device", false, words);
        return;
    }
    const char *reason = "because that is what was asked for";
    if (e->options.device == NULL || strcmp(e->options.device, "auto") == 0)
        reason = strcmp(info.device, "cuda") == 0 ? "because there is a GPU"
                                                  : "because there is no GPU to use";
    const bool cuda = strcmp(info.device, "cuda") == 0;
    const char *words = cuda ? job_print(j, "cuda (%s, %s), %s", info.name, info.arch, reason)
                             : job_print(j, "%s, %s", info.name, reason);
    sg_close(context);
    report(e, "device", true, words);
}

static void examine(job *j, void *argument) {
    examination *e = argument;
    context_read(j, &e->options, sizeof e->options, e->asked, "sg_options");
    const bool driver = examine_driver(j, e);
    examine_gpu(j, e, driver);
    examine_nvrtc(j, e);
    examine_compiler(j, e);
    examine_cache(j, e);
    examine_database(j, e);
    examine_choice(j, e);
}

sg_status sg_doctor(const sg_options *options, sg_finding finding, void *user) {
    if (finding == NULL)
        return SG_ERROR_USAGE;
    examination e = {.asked = options, .finding = finding, .user = user};
    const allocator memory = context_memory(options);
    job *j;
    const fault failed = job_run(&memory, examine, &e, &j);
    if (failed != FAULT_NONE && j != NULL)
        report(&e, "doctor", false, job_error_text(j));
    job_end(j);
    return (sg_status)failed;
}
