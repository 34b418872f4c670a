/* Prints a dictionary for fuzzing specs: every word that specs know, and Lua's. */
#include <stdio.h>
#include <string.h>

#include "gen/spec/spec.h"

static const char *const lua[] = {
    "and",
    "break",
    "do",
    "else",
    "elseif",
    "end",
    "false",
    "for",
    "function",
    "goto",
    "if",
    "in",
    "local",
    "nil",
    "not",
    "or",
    "repeat",
    "return",
    "then",
    "true",
    "until",
    "while",
    "==",
    "~=",
    "<=",
    ">=",
    "..",
    "...",
    "//",
    "::",
    "<<",
    ">>",
    "--",
    "[[",
    "]]",
    "=",
    "#",
    "u(0,0)",
    "p.k",
    "f.u",
    "1e308",
    "2^53",
    "0/0",
    "1/0",
    "-1",
    "{ }",
    "param",
    ".prev",
    "0x1p-1074",
    "return stencil { name = \"a\", ",
    "update = function(u, p) return ",
    "<const>",
    "<close>",
};

static void print(const char *word) {
    putchar('"');
    for (; *word != '\0'; word++)
        printf(strchr("\"\\", *word) != NULL ? "\\%c" : "%c", *word);
    puts("\"");
}

static void print_word(void *user, const char *group, const char *name, const char *summary) {
    (void)user;
    (void)group;
    (void)summary;
    print(name);
}

int main(void) {
    for (size_t i = 0; i < sizeof lua / sizeof lua[0]; i++)
        print(lua[i]);
    spec_vocabulary(print_word, NULL);
    return ferror(stdout) || fflush(stdout) != 0;
}
