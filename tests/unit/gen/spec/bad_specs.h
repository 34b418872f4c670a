/* Specs that fail, with the line and the text of the error. */
#ifndef SG_TESTS_UNIT_GEN_SPEC_BAD_SPECS_H
#define SG_TESTS_UNIT_GEN_SPEC_BAD_SPECS_H

#include "tests/unit/gen/spec/load_spec.h"

typedef struct bad_spec {
    const char *text;
    int line;
    const char *message;
} bad_spec;

static inline void expect_all(const bad_spec *cases, size_t count) {
    for (size_t i = 0; i < count; i++)
        expect_error(cases[i].text, cases[i].line, cases[i].message);
}

#define EXPECT_ALL(cases) expect_all(cases, sizeof(cases) / sizeof *(cases))
#define STAR1(keys)                                                                                \
    "return stencil {\n  name = 'a', shape = star(1, 1), coefficients = { 1, 2, 3 },\n  " keys " " \
    "}"
#define UPDATE(expression)                                                                         \
    "return stencil { name = 'a',\n update = function(u, p)\n return " expression " end }"
#define UPDATE_FIELDS(fields, expression)                                                          \
    "return stencil { name = 'a', fields = { " fields " },\n"                                      \
    "update = function(f, p)\n return " expression " end }"

#endif
