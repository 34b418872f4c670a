#include "cli/spec_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/buffer.h"
#include "cli/command.h"

/* More than the library takes of a spec: it says so, and no pipe is read without an end. */
enum { MOST_BYTES = 1 << 20 };

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
    if (!failed && !is_compiled && memchr(text, '\0', length) != NULL) {
        free(text);
        return complain(EXIT_USAGE, path, "the file holds a byte 0; a spec is text, in UTF-8");
    }
    if (failed)
        free(text);
    else
        *out = text;
    return EXIT_DONE;
}
