/* What databases of version 1 knew specs by, brought up to date: there a stencil's text had its
   name, and the text of any spec the values of parameters where nothing is said at launch. Neither
   changes a kernel (MODEL_MEANING of gen/model/model.h).
   Takes: such texts, in SQL. Makes: texts and keys as they are now. */
#include <string.h>

#include "runtime/store/base.h"

static const char *skip_name(const char *family, const char *model) {
    static const char word[] = "stencil ";
    if (strcmp(family, "stencil") != 0 || strncmp(model, word, sizeof word - 1) != 0)
        return model;
    const char *colon = strstr(model, ": ");
    return colon != NULL ? colon + 2 : model;
}

/* The line of the parameters, and its length; a long one that goes on in the next line was broken
   elsewhere than it would be without values, so that its spec is measured anew. */
static const char *find_parameters(const char *model, size_t *length) {
    for (const char *line = model; *line != '\0';) {
        *length = strcspn(line, "\n");
        const char *next = line[*length] == '\0' ? "" : line + *length + 1;
        if ((strncmp(line, "parameter ", 10) == 0 || strncmp(line, "parameters ", 11) == 0) &&
            *next != ' ')
            return line;
        line = next;
    }
    return NULL;
}

/* SQLite's memory; NULL where there is none. */
static char *meaning_of(const char *family, const char *model) {
    size_t length;
    model = skip_name(family, model);
    sqlite3_str *out = sqlite3_str_new(NULL);
    const char *line = find_parameters(model, &length), *end = line != NULL ? line + length : NULL;
    for (const char *at = model; *at != '\0';) {
        if (line != NULL && at >= line && at < end && strncmp(at, " = ", 3) == 0) {
            at += 3;
            while (at < end && *at != ',')
                at++;
        } else {
            sqlite3_str_appendchar(out, 1, *at++);
        }
    }
    return sqlite3_str_finish(out);
}

/* False, with an answer, where the arguments are no texts. */
static bool take_texts(sqlite3_context *to, sqlite3_value **values, const char *texts[2]) {
    for (int i = 0; i < 2; i++)
        if ((texts[i] = (const char *)sqlite3_value_text(values[i])) == NULL) {
            sqlite3_result_null(to);
            return false;
        }
    return true;
}

static void answer_meaning(sqlite3_context *to, int count, sqlite3_value **values) {
    const char *texts[2];
    (void)count;
    if (!take_texts(to, values, texts))
        return;
    char *meaning = meaning_of(texts[0], texts[1]);
    if (meaning == NULL && texts[1][0] != '\0')
        sqlite3_result_error_nomem(to);
    else
        sqlite3_result_text(to, meaning != NULL ? meaning : "", -1, SQLITE_TRANSIENT);
    sqlite3_free(meaning);
}

static void answer_key(sqlite3_context *to, int count, sqlite3_value **values) {
    const char *texts[2];
    (void)count;
    if (!take_texts(to, values, texts))
        return;
    const digest key = results_spec(texts[0], texts[1]);
    sqlite3_result_blob(to, key.bytes, sizeof key.bytes, SQLITE_TRANSIENT);
}

int results_know_meanings(sqlite3 *database) {
    enum { HOW = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY };
    const int code = sqlite3_create_function_v2(database, "spec_meaning", 2, HOW, NULL,
                                                answer_meaning, NULL, NULL, NULL);
    return code != SQLITE_OK ? code
                             : sqlite3_create_function_v2(database, "spec_key", 2, HOW, NULL,
                                                          answer_key, NULL, NULL, NULL);
}
