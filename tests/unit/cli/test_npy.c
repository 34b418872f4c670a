/* .npy files: those that NumPy wrote (tests/data/npy), damaged ones, and our own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/files/datafile.h"
#include "tests/unit/group.h"

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

static FILE *open_data(const char *name) {
    text path = new_text();
    text_printf(&path, "%s/tests/data/npy/%s", getenv("SOURCE"), name);
    FILE *file = fopen(path.data, "rb");
    assert_non_null(file);
    return file;
}

static bool collect(void *user, uint64_t offset, const void *bytes, size_t count) {
    text *all = user;
    assert_int_equal(offset, all->length);
    text_add_bytes(all, bytes, count);
    return true;
}

/* The elements in the order in which they arrive, as doubles. */
static void expect_file(const char *name, dtype type, int dims, const int64_t size[3],
                        double (*value)(int64_t index)) {
    FILE *file = open_data(name);
    npy header;
    text error = new_text(), all = new_text();
    assert_true(npy_read_header(file, &header, &error));
    assert_int_equal(header.type, type);
    assert_int_equal(header.dims, dims);
    assert_memory_equal(header.size, size, 3 * sizeof *size);
    assert_int_equal(header.size[3], 1);
    assert_true(npy_read_data(file, &header, collect, &all, &error));
    const int64_t count = size[0] * size[1] * size[2];
    const size_t bytes = dtype_words[type].bytes;
    assert_int_equal(all.length, (size_t)count * bytes);
    for (int64_t i = 0; i < count; i++)
        assert_true(dtype_value(type, all.data + (size_t)i * bytes) == value(i));
    fclose(file);
}

static double halves(int64_t i) {
    return (double)i + 0.5;
}

static double eighths(int64_t i) {
    return (double)i / 8;
}

static double between(int64_t i) {
    return (double)(i - 2) / 2;
}

static void test_reads_numpy(void **state) {
    (void)state;
    expect_file("f4_2x3.npy", DTYPE_FLOAT, 2, (const int64_t[]){3, 2, 1}, halves);
    expect_file("f4_2x3_v2.npy", DTYPE_FLOAT, 2, (const int64_t[]){3, 2, 1}, halves);
    expect_file("f4_2x3_v3.npy", DTYPE_FLOAT, 2, (const int64_t[]){3, 2, 1}, halves);
    expect_file("f8_2x3x4.npy", DTYPE_DOUBLE, 3, (const int64_t[]){4, 3, 2}, eighths);
    expect_file("f8_5.npy", DTYPE_DOUBLE, 1, (const int64_t[]){5, 1, 1}, between);
}

static void test_converts_fortran_order(void **state) {
    (void)state;
    expect_file("f4_2x3_fortran.npy", DTYPE_FLOAT, 2, (const int64_t[]){3, 2, 1}, halves);
    expect_file("f8_2x3x4_fortran.npy", DTYPE_DOUBLE, 3, (const int64_t[]){4, 3, 2}, eighths);
}

/* Nothing arrives, and nothing is missing. */
static void test_reads_empty_arrays(void **state) {
    (void)state;
    expect_file("empty.npy", DTYPE_FLOAT, 2, (const int64_t[]){3, 0, 1}, halves);
}

static void test_refuses_other_arrays(void **state) {
    (void)state;
    static const struct {
        const char *name, *error;
    } cases[] = {
        {"big_endian.npy", "type '>f4' is big endian; float32 ('<f4'), float64 ('<f8'), "
                           "float16 ('<f2'), bfloat16 in uint16 ('<u2'), int32"},
        {"record.npy", "a record type"},
        {"scalar.npy", "an array without dimensions"},
        {"five.npy", "more than 4 dimensions"},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        FILE *file = open_data(cases[i].name);
        npy header;
        text error = new_text();
        assert_false(npy_read_header(file, &header, &error));
        assert_non_null(strstr(error.data, cases[i].error));
        fclose(file);
    }
}

/* A version 1.0 file of this dictionary, as bytes. */
static text file_of(const char *dictionary, size_t data_bytes) {
    text b = new_text();
    const size_t length = strlen(dictionary);
    const unsigned char prefix[] = {0x93, 'N', 'U', 'M',           'P',
                                    'Y',  1,   0,   length & 0xFF, length >> 8 & 0xFF};
    text_add_bytes(&b, prefix, sizeof prefix);
    text_add(&b, dictionary);
    for (size_t i = 0; i < data_bytes; i++)
        text_add_bytes(&b, "", 1);
    return b;
}

static void expect_parse(const char *dictionary, const char *wanted) {
    text file = file_of(dictionary, 0), error = new_text();
    /* A copy of the exact size, so that a sanitizer sees a read beyond it. */
    unsigned char *bytes = malloc(file.length);
    memcpy(bytes, file.data, file.length);
    npy header;
    const bool good = npy_parse(bytes, file.length, &header, &error);
    if (good != (wanted == NULL) || (!good && strstr(error.data, wanted) == NULL))
        fail_msg("%s: %s", dictionary, good ? "taken" : error.data);
    free(bytes);
}

static void test_takes_any_spelling(void **state) {
    (void)state;
    static const char *const good[] = {
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }   \n",
        "{'shape':(2,3),'descr':'<f4','fortran_order':False}",
        " { \"fortran_order\" : True , \"shape\" : ( 2 , 3 , ) , \"descr\" : \"=f8\" } ",
        "{'descr': '|f4', 'fortran_order': False, 'shape': (7L,)}",
        "{'descr': 'f8', 'fortran_order': False, 'shape': (1, 1, 1)}\n",
        "{'descr': '<f2', 'fortran_order': False, 'shape': (5,)}\n",
        "{'descr': '<u2', 'fortran_order': False, 'shape': (5,)}\n",
    };
    for (size_t i = 0; i < LENGTH(good); i++)
        expect_parse(good[i], NULL);
}

static void test_refuses_damaged_headers(void **state) {
    (void)state;
    static const struct {
        const char *dictionary, *error;
    } cases[] = {
        {"", "no dictionary"},
        {"[]", "no dictionary"},
        {"{", "a damaged dictionary"},
        {"{}", "a missing key"},
        {"{'descr': '<f4', 'fortran_order': False}", "a missing key"},
        {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", "repeated"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'x': 1}", "unknown"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2)}", "no tuple"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,,3)}", "no extent"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2 3)}", "no comma"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}", "no extent"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,", "no extent"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775807,)}",
         "an extent too large"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
         "an extent too large"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (3037000500, 3037000500)}",
         "more than 2^63 bytes"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (0, 3037000500, 3037000500)}",
         "more than 2^63 bytes"},
        {"{'descr': '<f4', 'fortran_order': Maybe, 'shape': (2,)}", "no True or False"},
        {"{'descr': '<f4 'fortran_order': False, 'shape': (2,)}", "type '<f4 '"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} x", "something after"},
        {"{'descr' '<f4', 'fortran_order': False, 'shape': (2,)}", "a missing colon"},
        {"{'descr': '<f4' 'fortran_order': False, 'shape': (2,)}", "a damaged dictionary"},
        {"{'descr': '<f16', 'fortran_order': False, 'shape': (2,)}", "type '<f16'"},
        {"{'descr': '<i2', 'fortran_order': False, 'shape': (2,)}", "type '<i2'; float32"},
        {"{'descr': '<u8', 'fortran_order': False, 'shape': (2,)}", "or uint32 ('<u4') is needed"},
        {"{'descr': '<f1', 'fortran_order': False, 'shape': (2,)}", "type '<f1'"},
        {"{'descr': '>f2', 'fortran_order': False, 'shape': (2,)}", "type '>f2' is big endian"},
    };
    for (size_t i = 0; i < LENGTH(cases); i++)
        expect_parse(cases[i].dictionary, cases[i].error);
}

static void test_refuses_long_headers(void **state) {
    (void)state;
    const unsigned char start[12] = "\x93NUMPY\x02\x00\x70\x11\x01";
    npy header;
    text error = new_text();
    assert_false(npy_parse(start, sizeof start, &header, &error));
    assert_string_equal(error.data,
                        "a .npy header of 70000 bytes; this reader takes 65536 at most");
}

/* Every file that is cut short is refused, wherever the cut is, and so is one that goes on. */
static void test_refuses_other_lengths(void **state) {
    (void)state;
    const char *dictionary = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n";
    text whole = file_of(dictionary, 24);
    text_add_bytes(&whole, "", 1);
    for (size_t length = 0; length <= whole.length; length++) {
        FILE *file = tmpfile();
        assert_non_null(file);
        assert_int_equal(fwrite(whole.data, 1, length, file), length);
        rewind(file);
        npy header;
        text error = new_text();
        assert_int_equal(npy_read_header(file, &header, &error), length == whole.length - 1);
        assert_int_equal(error.length > 0, length != whole.length - 1);
        fclose(file);
    }
}

/* A pipe has no size to compare: the elements themselves run out, or go on. */
static void test_refuses_other_lengths_of_streams(void **state) {
    (void)state;
    static const struct {
        const char *command, *error;
    } cases[] = {{"cat '%s' | head -c 151", "shorter"},
                 {"cat '%s' - </dev/null", NULL},
                 {"{ cat '%s'; echo; }", "longer"}};
    for (size_t i = 0; i < LENGTH(cases); i++) {
        text path = new_text(), command = new_text(), error = new_text(), all = new_text();
        text_printf(&path, "%s/tests/data/npy/f4_2x3.npy", getenv("SOURCE"));
        const char *at = strstr(cases[i].command, "%s");
        text_add_bytes(&command, cases[i].command, (size_t)(at - cases[i].command));
        text_add(&command, path.data);
        text_add(&command, at + 2);
        FILE *file = popen(command.data, "r");
        assert_non_null(file);
        npy header;
        assert_true(npy_read_header(file, &header, &error));
        assert_int_equal(npy_read_data(file, &header, collect, &all, &error),
                         cases[i].error == NULL);
        if (cases[i].error != NULL)
            assert_non_null(strstr(error.data, cases[i].error));
        pclose(file);
    }
}

/* The same bytes as NumPy's own, header and padding included. */
static void test_writes_as_numpy(void **state) {
    (void)state;
    static const struct {
        const char *name;
        dtype type;
        int dims;
        int64_t size[NPY_DIMS];
    } cases[] = {{"f4_2x3.npy", DTYPE_FLOAT, 2, {3, 2, 1}},
                 {"f8_2x3x4.npy", DTYPE_DOUBLE, 3, {4, 3, 2}},
                 {"int32.npy", DTYPE_INT32, 2, {3, 2, 1}},
                 {"f8_5.npy", DTYPE_DOUBLE, 1, {5, 1, 1}}};
    for (size_t i = 0; i < LENGTH(cases); i++) {
        text header = new_text();
        npy_header(&header, cases[i].type, cases[i].dims, cases[i].size);
        FILE *file = open_data(cases[i].name);
        char *bytes = malloc(header.length);
        assert_int_equal(fread(bytes, 1, header.length, file), header.length);
        assert_memory_equal(bytes, header.data, header.length);
        free(bytes);
        fclose(file);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_reads_numpy),
    cmocka_unit_test(test_converts_fortran_order),
    cmocka_unit_test(test_reads_empty_arrays),
    cmocka_unit_test(test_refuses_other_arrays),
    cmocka_unit_test(test_takes_any_spelling),
    cmocka_unit_test(test_refuses_damaged_headers),
    cmocka_unit_test(test_refuses_long_headers),
    cmocka_unit_test(test_refuses_other_lengths),
    cmocka_unit_test(test_refuses_other_lengths_of_streams),
    cmocka_unit_test(test_writes_as_numpy),
};

TEST_GROUP(npy, NULL, NULL)
