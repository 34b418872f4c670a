/* The vocabulary of specs: the reference and the annotations know every word, and the words they
   know are those the loader accepts. */
#include <ctype.h>
#include <stdlib.h>

#include "tests/unit/gen/spec/load_spec.h"
#include "tests/unit/group.h"

static char *read_whole(const char *path) {
    const char *source = getenv("SOURCE"); /* set by CTest; else the working folder */
    char full[4096];
    snprintf(full, sizeof full, "%s/%s", source != NULL ? source : ".", path);
    FILE *file = fopen(full, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    const long size = ftell(file);
    rewind(file);
    char *text = calloc(1, (size_t)size + 1);
    assert_int_equal(fread(text, 1, (size_t)size, file), size);
    fclose(file);
    return text;
}

static char *read_both(const char *path, const char *more) {
    char *first = read_whole(path);
    if (more == NULL)
        return first;
    char *second = read_whole(more);
    first = realloc(first, strlen(first) + strlen(second) + 1);
    assert_non_null(first);
    strcat(first, second);
    free(second);
    return first;
}

static bool part_of_word(char c) {
    return isalnum((unsigned char)c) || c == '_';
}

/* Whether the word occurs by itself, not within another. */
static bool occurs(const char *text, const char *word) {
    const size_t length = strlen(word);
    for (const char *at = strstr(text, word); at != NULL; at = strstr(at + 1, word))
        if ((at == text || !part_of_word(at[-1])) && !part_of_word(at[length]))
            return true;
    return false;
}

typedef struct document {
    const char *path, *more; /* of a second file; NULL: there is none */
    char *text;
    int words, missing;
    const char *left_out; /* the beginning of groups that are Lua's own */
} document;

static void look_for(void *user, const char *group, const char *name, const char *summary) {
    document *d = user;
    assert_true(strlen(summary) > 0);
    if (d->left_out != NULL && strncmp(group, d->left_out, strlen(d->left_out)) == 0)
        return;
    d->words++;
    if (!occurs(d->text, name)) {
        print_error("%s does not have the %s %s\n", d->path, group, name);
        d->missing++;
    }
}

static void test_documents(void **state) {
    (void)state;
    document documents[] = {
        {"docs/spec.md", NULL, NULL, 0, 0, NULL},
        {"specs/annotations/stencilgen.lua", "specs/annotations/functions.lua", NULL, 0, 0, "Lua "},
    };
    for (int i = 0; i < 2; i++) {
        documents[i].text = read_both(documents[i].path, documents[i].more);
        spec_vocabulary(look_for, &documents[i]);
        assert_true(documents[i].words > 60);
        assert_int_equal(documents[i].missing, 0);
        free(documents[i].text);
    }
}

/* The limits that the reference states are those of the code. */
static void test_limits(void **state) {
    (void)state;
    char *text = read_whole("docs/spec.md");
    const int limits[] = {EXPR_MAX_NODES, EXPR_MAX_DEPTH, EXPR_MAX_OPERATIONS,
                          MAX_FIELDS,     MAX_PARAMETERS, MAX_NAME,
                          MAX_REACH};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        char number[16];
        snprintf(number, sizeof number, "%d", limits[i]);
        assert_true(occurs(text, number));
    }
    free(text);
}

/* Every function of the vocabulary is one in a spec. */
static void is_function(void *user, const char *group, const char *name, const char *summary) {
    (void)summary;
    int *count = user;
    if (strstr(group, "function") == NULL)
        return;
    char text[256];
    snprintf(text, sizeof text,
             "local kind = type(%s)\nassert(kind == 'function' or kind == 'number', kind)\n"
             "return stencil { name = 'a', coefficients = identity() }",
             name);
    loaded l;
    load_model(&l, text);
    job_end(l.job);
    ++*count;
}

static void test_functions(void **state) {
    (void)state;
    int count = 0;
    spec_vocabulary(is_function, &count);
    assert_true(count > 40);
}

/* The fenced examples of the reference that are whole specs load. */
static void test_examples(void **state) {
    (void)state;
    char *text = read_whole("docs/spec.md");
    int examples = 0;
    for (char *at = strstr(text, "```lua\n"); at != NULL; at = strstr(at, "```lua\n")) {
        at += strlen("```lua\n");
        char *end = strstr(at, "```");
        assert_non_null(end);
        *end = '\0';
        if (strstr(at, "return stencil") != NULL || strstr(at, "return convolution") != NULL) {
            loaded l;
            load_model(&l, at);
            job_end(l.job);
            examples++;
        }
        at = end + 1;
    }
    assert_true(examples >= 4);
    free(text);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_documents),
    cmocka_unit_test(test_limits),
    cmocka_unit_test(test_functions),
    cmocka_unit_test(test_examples),
};

TEST_GROUP(words, NULL, NULL)
