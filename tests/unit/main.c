/* The program of a folder of unit tests. Takes: the name of a group or role; without one, all
   groups run, each in a process of its own. Makes: cmocka's lines, and 0 where no test failed. */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/group.h"

static int run_in_child(const test_group *group) {
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        execl("/proc/self/exe", "unit", group->name, (char *)NULL);
        _exit(127);
    }
    int status;
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
                   WEXITSTATUS(status) == 0
               ? 0
               : 1;
}

static int run_all(void) {
    int failed = 0;
    for (const test_group *group = unit_groups; group->name != NULL; group++)
        if (group->tests)
            failed += run_in_child(group);
    return failed > 0;
}

int main(int count, char **arguments) {
    if (count < 2)
        return run_all();
    for (const test_group *group = unit_groups; group->name != NULL; group++)
        if (strcmp(arguments[1], group->name) == 0)
            return group->run(arguments + 2);
    fprintf(stderr, "usage: %s [NAME]\nnames:", arguments[0]);
    for (const test_group *group = unit_groups; group->name != NULL; group++)
        fprintf(stderr, " %s", group->name);
    fputc('\n', stderr);
    return 2;
}
