/* Writes JSON. Takes: keys and values in order; keys are NULL inside an array. Makes: indented JSON
   in valid UTF-8, with the same numbers under every locale. */
#ifndef SG_CLI_JSON_H
#define SG_CLI_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/command.h"

typedef struct json {
    text *out;
    int depth;
    bool follows; /* this object or array has an element already */
} json;

void json_object(json *, const char *key);
void json_array(json *, const char *key);
void json_end_object(json *);
void json_end_array(json *);
void json_string(json *, const char *key, const char *value); /* NULL writes null */
void json_integer(json *, const char *key, int64_t value);
void json_number(json *, const char *key, double value);        /* null where not finite */
void json_literal(json *, const char *key, const char *number); /* as it is written */
void json_known(json *, const char *key, int64_t value);        /* null where negative */
void json_integers(json *, const char *key, const int64_t *list, int count);
void json_bool(json *, const char *key, bool value);
void json_null(json *, const char *key);

#endif
