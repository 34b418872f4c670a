/* What Lua itself says of a spec, in the words of specs. Takes: the message of one of Lua's errors,
   without its place. Makes: a sentence that says what is wrong and what to write instead. An
   unknown message passes as it is. */
#include "gen/spec/state.h"

#include <string.h>

enum { LONGEST_WORD = 100 };

/* What a message tells of a value: "a nil value (field 'k')". */
typedef struct told {
    char type[LONGEST_WORD]; /* "nil" */
    char name[LONGEST_WORD]; /* "k", or "" */
} told;

static void keep(char to[LONGEST_WORD], const char *from, size_t length) {
    length = length < LONGEST_WORD - 1 ? length : LONGEST_WORD - 1;
    memcpy(to, from, length);
    to[length] = '\0';
}

/* The text behind a prefix; NULL where it begins with another. */
static const char *after(const char *text, const char *prefix) {
    const size_t length = strlen(prefix);
    return strncmp(text, prefix, length) == 0 ? text + length : NULL;
}

/* "a table", "an expression", "nil" */
static const char *with_article(job *j, const char *type) {
    if (strcmp(type, "no value") == 0)
        return "nothing";
    if (strcmp(type, "nil") == 0)
        return type;
    return spec_with_article(j, type);
}

/* "table value (local 't')" */
static bool read_told(const char *text, told *out) {
    const char *end = strstr(text, " value");
    memset(out, 0, sizeof *out);
    if (end == NULL)
        return false;
    keep(out->type, text, (size_t)(end - text));
    const char *kind = strstr(end, " ("), *name = kind != NULL ? strchr(kind, '\'') : NULL;
    const char *last = name != NULL ? strrchr(name, '\'') : NULL;
    if (last > name)
        keep(out->name, name + 1, (size_t)(last - name - 1));
    return true;
}

/* "'k' is nil", "this is a table" */
static const char *subject_of(job *j, const told *t) {
    const char *type = with_article(j, t->type);
    return t->name[0] != '\0' ? job_print(j, "'%s' is %s", t->name, type)
                              : job_print(j, "this is %s", type);
}

/* ---- operations on values that do not have them ---------------------------------------------- */

enum { INDEX, CALL, ARITHMETIC, JOIN, LENGTH, BITS, OPERATIONS };
static const struct {
    const char *prefix, *ours;
} operations[OPERATIONS] = {
    [INDEX] = {"attempt to index a ", " and has no entries"},
    [CALL] = {"attempt to call a ", " and cannot be called: expected a function"},
    [ARITHMETIC] = {"attempt to perform arithmetic on a ",
                    " and cannot be calculated with: expected a number or an expression"},
    [JOIN] = {"attempt to concatenate a ",
              " and cannot be joined with ..: expected a string or a number"},
    [LENGTH] = {"attempt to get length of a ", " and has no length: # is for lists and strings"},
    [BITS] = {"attempt to perform bitwise operation on a ",
              ": the operators & | ~ << >> are for whole numbers"},
};

static const char *say_operation(job *j, int which, const told *t) {
    const bool nil = strcmp(t->type, "nil") == 0, string = strcmp(t->type, "string") == 0;
    if (which == CALL && strcmp(t->name, "for iterator") == 0)
        return job_print(j, "for ... in walks ipairs(list) or pairs(table), not %s",
                         with_article(j, t->type));
    if (which == ARITHMETIC && nil && t->name[0] != '\0')
        return job_print(j,
                         "there is no '%s' to calculate with, it is nil; a parameter is p.%s in an "
                         "update function and param \"%s\" elsewhere",
                         t->name, t->name, t->name);
    return job_print(j, "%s%s%s", subject_of(j, t), operations[which].ours,
                     which == INDEX && nil      ? ": it was never given a value"
                     : which == INDEX && string ? ": specs have no functions of strings"
                                                : "");
}

static const char *of_operation(job *j, const char *text) {
    told t;
    for (int i = 0; i < OPERATIONS; i++) {
        const char *rest = after(text, operations[i].prefix);
        if (rest != NULL && read_told(rest, &t))
            return say_operation(j, i, &t);
    }
    return NULL;
}

/* ---- other messages with types in them ------------------------------------------------------- */

/* "two table values", "nil with number" */
static const char *of_comparison(job *j, const char *text) {
    const char *rest = after(text, "attempt to compare ");
    told one, other;
    if (rest == NULL)
        return NULL;
    const char *two = after(rest, "two "), *with = strstr(rest, " with ");
    memset(&one, 0, sizeof one);
    memset(&other, 0, sizeof other);
    if (two != NULL && read_told(two, &one)) {
        other = one;
    } else if (with != NULL) {
        keep(one.type, rest, (size_t)(with - rest));
        keep(other.type, with + strlen(" with "), strlen(with) - strlen(" with "));
    } else {
        return NULL;
    }
    return job_print(j,
                     "%s and %s cannot be compared with <, <=, > or >=", with_article(j, one.type),
                     with_article(j, other.type));
}

/* "(number expected, got table)": the last of a message. Returns "expected a number, got a table",
   or NULL. */
static const char *expectation(job *j, const char *text) {
    static const char middle[] = " expected, got ";
    const char *open = strchr(text, '('), *got = open != NULL ? strstr(open, middle) : NULL;
    char wanted[LONGEST_WORD], given[LONGEST_WORD];
    if (got == NULL)
        return NULL;
    keep(wanted, open + 1, (size_t)(got - open - 1));
    keep(given, got + strlen(middle), strcspn(got + strlen(middle), ")"));
    return job_print(j, "expected %s, got %s", with_article(j, wanted), with_article(j, given));
}

/* "bad 'for' limit (number expected, got table)" */
static const char *of_loop(job *j, const char *text) {
    const char *rest = after(text, "bad 'for' ");
    const char *expected = rest != NULL ? expectation(j, rest) : NULL;
    if (expected == NULL)
        return NULL;
    return job_print(j, "the %.*s of a for loop: %s", (int)strcspn(rest, "(") - 1, rest, expected);
}

/* "bad argument #1 to 'abs' (number expected, got table)": only Lua's own functions of numbers say
   so, and not those that plain numbers and expressions share. */
static const char *of_argument(job *j, const char *text) {
    const char *rest = after(text, "bad argument #");
    const char *name = rest != NULL ? strchr(rest, '\'') : NULL;
    const char *end = name != NULL ? strchr(name + 1, '\'') : NULL;
    if (end == NULL)
        return NULL;
    const int digits = (int)strspn(rest, "0123456789"), length = (int)(end - name - 1);
    const char *expected = expectation(j, end);
    if (expected == NULL && strstr(end, "(value expected)") != NULL)
        expected = "expected a number, got nothing";
    if (expected == NULL && strstr(end, "(zero)") != NULL)
        expected = "expected a number other than 0, got 0";
    if (expected == NULL)
        return NULL;
    return job_print(j, "math.%.*s: argument %.*s: %s%s", length, name + 1, digits, rest, expected,
                     strstr(expected, "got an expression") != NULL
                         ? "; of the functions of math, abs, cos, exp, floor, log, max, min, sin "
                           "and sqrt take expressions when they are written without math."
                         : "");
}

/* ---- messages as they are -------------------------------------------------------------------- */

static const struct {
    const char *lua, *ours;
} sentences[] = {
    {"table index is nil", "nil cannot be the key of an entry of a table"},
    {"table index is NaN", "NaN cannot be the key of an entry of a table"},
    {"number has no integer representation",
     "the operators & | ~ << >> are for whole numbers, and this is none"},
    {"attempt to perform 'n//0'", "a whole number is divided by 0 with //"},
    {"attempt to divide by zero", "a whole number is divided by 0 with //"},
    {"attempt to perform 'n%%0'", "a whole number is divided by 0 with %"},
    {"attempt to perform 'n%0'", "a whole number is divided by 0 with %"},
    {"'for' step is zero", "the step of a for loop is 0, so that the loop would not end"},
    {"stack overflow", "functions call each other too deeply; is there a call without an end?"},
    {"C stack overflow", "this is nested too deeply: parentheses, tables, functions or calls"},
    {"string length overflow", "a string is too long"},
    {"table overflow", "a table is too large"},
};

static const char *of_sentence(const char *text) {
    for (size_t i = 0; i < sizeof sentences / sizeof *sentences; i++) {
        const char *rest = after(text, sentences[i].lua);
        if (rest != NULL && (rest[0] == '\0' || rest[0] == ' '))
            return sentences[i].ours;
    }
    return NULL;
}

/* ---- syntax ---------------------------------------------------------------------------------- */

/* Slips that people make who write other languages more often. */
static const struct {
    const char *end, *advice;
} slips[] = {
    {"near '!'", "; not equal is written ~=, and not for conditions is written not"},
    {"near '&'", "; Lua writes and"},
    {"near '|'", "; Lua writes or"},
    {"syntax error near '+'", "; Lua has no += and ++: write x = x + 1"},
    {"syntax error near '-'", "; Lua has no -= and --: write x = x - 1"},
    {"syntax error near '*'", "; Lua has no *=: write x = x * 2"},
    {"syntax error near '/'", "; Lua has no /=: write x = x / 2"},
};

/* Lua's names of tokens, which stand between spaces. */
static const struct {
    const char *token, *ours;
} tokens[] = {
    {"<eof>", "the end of the file"},
    {"<name>", "a name"},
    {"<goto>", "the goto"},
};

/* The token at the beginning of a word, or NULL. */
static const char *token_at(const char *word, size_t *length) {
    *length = strcspn(word, " ");
    for (size_t i = 0; i < sizeof tokens / sizeof *tokens; i++)
        if (strlen(tokens[i].token) == *length && strncmp(word, tokens[i].token, *length) == 0)
            return tokens[i].ours;
    return NULL;
}

static bool ends_with(const text *t, const char *end) {
    const size_t length = strlen(end);
    return t->length >= length && strcmp(t->data + t->length - length, end) == 0;
}

/* Syntax errors keep Lua's words, which quote the text of the spec. */
static const char *of_syntax(job *j, const char *message) {
    text out = text_new(j);
    size_t length;
    for (const char *word = message; *word != '\0'; word += length) {
        const char *ours = token_at(word, &length);
        if (ours != NULL)
            text_add(&out, ours);
        else
            text_add_bytes(&out, word, length);
        const size_t spaces = strspn(word + length, " ");
        text_add_bytes(&out, word + length, spaces);
        length += spaces;
    }
    for (size_t i = 0; i < sizeof slips / sizeof *slips; i++)
        if (ends_with(&out, slips[i].end)) {
            text_add(&out, slips[i].advice);
            break;
        }
    return out.data;
}

const char *spec_say(job *j, const char *message) {
    const char *said = of_operation(j, message);
    if (said == NULL)
        said = of_comparison(j, message);
    if (said == NULL)
        said = of_loop(j, message);
    if (said == NULL)
        said = of_argument(j, message);
    if (said == NULL)
        said = of_sentence(message);
    return said != NULL ? said : of_syntax(j, message);
}
