#include "cli/spec_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/buffer.h"
#include "cli/command.h"

/* More than the library takes of a spec: it says so, and no pipe is read without an end. */
enum { MOST_BYTES = 1 << 20 };

static int refuse_zero(const char *path, const char *text, const char *zero) {
    int line = 1;
    for (const char *at = text; at < zero; at++)
        line += *at == '\n';
    buffer place = {0};
    buffer_printf(&place, "%s:%d", path, line);
    const int code =
        complain(EXIT_USAGE, place.data, "the file holds a byte 0; a spec is text, in UTF-8");
    buffer_free(&place);
    return code;
}

int spec_text_read(const char *path, char **out) {
    *out = NULL;
    FILE *file = fopen(path, "rbe"); /* compilers that start meanwhile do not inherit it */
    if (file == NULL)
        return EXIT_DONE;
    char *text = must_alloc(MOST_BYTES + 1, 1);
    const size_t length = fread(text, 1, MOST_BYTES, file);
    const bool failed = ferror(file) != 0;
    fclose(file);
    const bool is_compiled = text[0] == '\x1b'; /* the library says so */
    const char *zero = failed || is_compiled ? NULL : memchr(text, '\0', length);
    const int code = zero != NULL ? refuse_zero(path, text, zero) : EXIT_DONE;
    if (failed || zero != NULL)
        free(text);
    else
        *out = text;
    return code;
}
