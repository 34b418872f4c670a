/* A group of tests: what one file of a folder of unit/ gives to the program of the folder. */
#ifndef TESTS_UNIT_GROUP_H
#define TESTS_UNIT_GROUP_H

#include <stdbool.h>
#include <stddef.h>

typedef struct test_group {
    const char *name;
    int (*run)(char **words); /* takes the words behind the name; makes the exit code */
    bool tests;               /* false: a role, which runs only where it is named */
} test_group;

/* All groups and roles of the program, written by unit.cmake; the last has no name. */
extern const test_group unit_groups[];

/* Makes the array `tests` of this file the group NAME, where the file is test_NAME.c. */
#define TEST_GROUP(name, set_up, tear_down)                                                        \
    int test_group_##name(char **words);                                                           \
    int test_group_##name(char **words) {                                                          \
        (void)words;                                                                               \
        return cmocka_run_group_tests_name(#name, tests, set_up, tear_down);                       \
    }

#endif
