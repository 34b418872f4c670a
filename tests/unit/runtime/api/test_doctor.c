/* The doctor's findings: with a GPU's driver (a stand-in), without, with NVRTC switched off, and
   with nothing usable at all. Needs: FAKE_CUDA, the path of the stand-in. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>

#include <cmocka.h>

#include "runtime/stencilgen.h"
#include "tests/unit/group.h"
#include "tests/unit/runtime/api/gpu.h"

enum { FINDINGS = 16 };

typedef struct findings {
    int count;
    struct {
        char *what, *text;
        int usable;
    } list[FINDINGS];
} findings;

static void note(void *user, const char *what, int usable, const char *text) {
    findings *f = user;
    assert_true(f->count < FINDINGS);
    f->list[f->count].what = strdup(what);
    f->list[f->count].text = strdup(text);
    f->list[f->count++].usable = usable;
}

static void forget(findings *f) {
    for (int i = 0; i < f->count; i++) {
        free(f->list[i].what);
        free(f->list[i].text);
    }
    f->count = 0;
}

static void expect(const findings *f, const char *what, int usable, const char *text) {
    for (int i = 0; i < f->count; i++) {
        if (strcmp(f->list[i].what, what) != 0)
            continue;
        if (strstr(f->list[i].text, text) == NULL)
            fail_msg("%s: \"%s\" is not in \"%s\"", what, text, f->list[i].text);
        assert_int_equal(f->list[i].usable, usable);
        return;
    }
    fail_msg("there is no finding about %s", what);
}

static fake_cuda_state *fake;

static int reset(void **unused) {
    (void)unused;
    fake = take_gpu();
    setenv("SG_NVRTC", "none", 1);
    setenv("SG_CACHE", "none", 1);
    setenv("SG_DATABASE", "none", 1);
    return 0;
}

static void check_gpu(void **unused) {
    (void)unused;
    findings f = {0};
    assert_int_equal(sg_doctor(NULL, note, &f), SG_OK);
    assert_int_equal(f.count, 7);
    expect(&f, "driver", 1, "for CUDA 13.0, ");
    expect(&f, "driver", 1, FAKE_CUDA ", given by SG_CUDA_DRIVER");
    expect(&f, "GPU", 1, "GPU 0, Fake GPU, sm_90, 132 multiprocessors, 80 GiB");
    expect(&f, "NVRTC", 0, "NVRTC is switched off by SG_NVRTC");
    expect(&f, "device", 1, "cuda (Fake GPU, sm_90), because there is a GPU");
    expect(&f, "cache", 0, "it is switched off by SG_CACHE; every kernel is compiled anew");
    expect(&f, "database", 0, "it is switched off by SG_DATABASE; nothing that is tuned will be");
    forget(&f);
    const sg_options cpu = {.struct_size = sizeof cpu, .device = "cpu", .nvrtc = "/no/libnvrtc.so"};
    assert_int_equal(sg_doctor(&cpu, note, &f), SG_OK);
    expect(&f, "device", 1, "cpu, ");
    expect(&f, "device", 1, "because that is what was asked for");
    expect(&f, "NVRTC", 0, "/no/libnvrtc.so");
    forget(&f);
    assert_int_equal(fake->retained, 0);
    assert_int_equal(fake->depth, 0);
}

static void check_no_gpu(void **unused) {
    (void)unused;
    findings f = {0};
    fake->device_count = 0;
    assert_int_equal(sg_doctor(NULL, note, &f), SG_OK);
    expect(&f, "driver", 1, "for CUDA 13.0");
    expect(&f, "GPU", 0, "CUDA_ERROR_NO_DEVICE");
    expect(&f, "host compiler", 1, "/");
    expect(&f, "device", 1, "cpu, ");
    expect(&f, "device", 1, "because there is no GPU to use");
    forget(&f);
    setenv("SG_CUDA_DRIVER", "none", 1);
    assert_int_equal(sg_doctor(NULL, note, &f), SG_OK);
    expect(&f, "driver", 0, "is switched off by SG_CUDA_DRIVER");
    expect(&f, "GPU", 0, "none can be used without a driver");
    forget(&f);
    const sg_options cuda = {.struct_size = sizeof cuda, .device = "cuda"};
    assert_int_equal(sg_doctor(&cuda, note, &f), SG_OK);
    expect(&f, "device", 0, "is switched off by SG_CUDA_DRIVER");
    forget(&f);
}

static void check_cache(void **unused) {
    (void)unused;
    findings f = {0};
    const sg_options given = {.struct_size = sizeof given,
                              .device = "none",
                              .cache = "/tmp/stencilgen-doctor/none",
                              .cache_bytes = 3 << 19};
    assert_int_equal(sg_doctor(&given, note, &f), SG_OK);
    expect(&f, "cache", 1, "/tmp/stencilgen-doctor/none, given, 0 entries, 0 of 1.5 MiB");
    forget(&f);
    setenv("SG_CACHE", "/dev/null/cache", 1);
    assert_int_equal(sg_doctor(NULL, note, &f), SG_OK);
    expect(&f, "cache", 0, "/dev/null/cache, given by SG_CACHE, 0 entries, 0 of 512 MiB; nothing");
    expect(&f, "cache", 0, "nothing is stored there: Not a directory");
    forget(&f);
}

static void check_database(void **unused) {
    (void)unused;
    findings f = {0};
    const sg_options given = {.struct_size = sizeof given,
                              .device = "none",
                              .database = "/tmp/stencilgen-doctor/none.db"};
    assert_int_equal(sg_doctor(&given, note, &f), SG_OK);
    expect(&f, "database", 1, "/tmp/stencilgen-doctor/none.db, given, nothing was tuned yet");
    forget(&f);
    setenv("SG_DATABASE", "/dev/null/some.db", 1);
    assert_int_equal(sg_doctor(NULL, note, &f), SG_OK);
    expect(&f, "database", 0, "/dev/null/some.db, given by SG_DATABASE, nothing was tuned yet;");
    expect(&f, "database", 0, "nothing is stored there: Not a directory");
    forget(&f);
}

static void check_bad_options(void **unused) {
    (void)unused;
    findings f = {0};
    const sg_options nowhere = {.struct_size = sizeof nowhere, .device = "abacus"};
    assert_int_equal(sg_doctor(&nowhere, note, &f), SG_OK);
    expect(&f, "device", 0, "unknown device 'abacus'");
    forget(&f);
    const sg_options unset = {.device = "cpu"};
    assert_int_equal(sg_doctor(&unset, note, &f), SG_ERROR_USAGE);
    expect(&f, "doctor", 0, "struct_size of sg_options is 0");
    forget(&f);
    assert_int_equal(sg_doctor(NULL, NULL, NULL), SG_ERROR_USAGE);
}

#define TEST(function) cmocka_unit_test_setup(function, reset)
static const struct CMUnitTest tests[] = {TEST(check_gpu), TEST(check_no_gpu), TEST(check_cache),
                                          TEST(check_database), TEST(check_bad_options)};

TEST_GROUP(doctor, NULL, NULL)
