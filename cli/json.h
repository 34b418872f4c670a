/* Writes JSON. Takes: keys and values in order. Makes: indented JSON in valid UTF-8, with the same
   numbers under every locale. */
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

/* Adds members by a template: "name %s launch { steps %d seconds %g }". A member is a key and a
   value: %s is a string, null for NULL; %d, with any length, is a whole number, and %+d null where
   it is negative; %g is a number, null where it is not finite; %i is true or false. Brackets that
   one call opens another one may close. Elements of arrays have no keys. */
void json_add(json *, const char *members, ...) SG_PRINTF(2, 3);

/* A member whose key is known only while the program runs; in an array it is NULL. */
void json_open(json *, const char *key, char bracket);
void json_string(json *, const char *key, const char *value);
void json_number(json *, const char *key, double value);
void json_literal(json *, const char *key, const char *number); /* as it is written */
void json_integers(json *, const char *key, const int64_t *list, int count);

#endif
