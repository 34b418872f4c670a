/* Writes JSON. Bytes that are not UTF-8 become U+FFFD. */
#include "cli/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The length of the valid UTF-8 sequence at `s`, or 0. */
static size_t sequence(const unsigned char *s) {
    static const struct {
        unsigned char low, high; /* of the first byte */
        unsigned char second_low, second_high;
        size_t length;
    } forms[] = {
        {0x20, 0x7F, 0, 0, 1},       {0xC2, 0xDF, 0x80, 0xBF, 2}, {0xE0, 0xE0, 0xA0, 0xBF, 3},
        {0xE1, 0xEC, 0x80, 0xBF, 3}, {0xED, 0xED, 0x80, 0x9F, 3}, {0xEE, 0xEF, 0x80, 0xBF, 3},
        {0xF0, 0xF0, 0x90, 0xBF, 4}, {0xF1, 0xF3, 0x80, 0xBF, 4}, {0xF4, 0xF4, 0x80, 0x8F, 4},
    };
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        if (s[0] < forms[i].low || s[0] > forms[i].high)
            continue;
        if (forms[i].length > 1 && (s[1] < forms[i].second_low || s[1] > forms[i].second_high))
            return 0;
        for (size_t k = 2; k < forms[i].length; k++)
            if ((s[k] & 0xC0) != 0x80)
                return 0;
        return forms[i].length;
    }
    return 0;
}

static void quote(buffer *out, const char *text) {
    buffer_add(out, "\"");
    for (const unsigned char *s = (const unsigned char *)text; *s != '\0';) {
        const size_t length = sequence(s);
        if (*s == '"' || *s == '\\')
            buffer_printf(out, "\\%c", *s);
        else if (*s == '\n')
            buffer_add(out, "\\n");
        else if (*s == '\t')
            buffer_add(out, "\\t");
        else if (*s < 0x20)
            buffer_printf(out, "\\u%04x", *s);
        else if (length > 0)
            buffer_add_bytes(out, s, length);
        else
            buffer_add(out, "\xEF\xBF\xBD");
        s += length > 0 ? length : 1;
    }
    buffer_add(out, "\"");
}

static void begin(json *j, const char *key) {
    if (j->follows)
        buffer_add(j->out, ",");
    if (j->depth > 0)
        buffer_printf(j->out, "\n%*s", 2 * j->depth, "");
    if (key != NULL) {
        quote(j->out, key);
        buffer_add(j->out, ": ");
    }
    j->follows = true;
}

static void open_with(json *j, const char *key, const char *bracket) {
    begin(j, key);
    buffer_add(j->out, bracket);
    j->depth++;
    j->follows = false;
}

static void close_with(json *j, const char *bracket) {
    j->depth--;
    if (j->follows)
        buffer_printf(j->out, "\n%*s", 2 * j->depth, "");
    buffer_add(j->out, bracket);
    j->follows = true;
    if (j->depth == 0)
        buffer_add(j->out, "\n");
}

void json_object(json *j, const char *key) {
    open_with(j, key, "{");
}

void json_array(json *j, const char *key) {
    open_with(j, key, "[");
}

void json_end_object(json *j) {
    close_with(j, "}");
}

void json_end_array(json *j) {
    close_with(j, "]");
}

void json_string(json *j, const char *key, const char *value) {
    begin(j, key);
    if (value == NULL)
        buffer_add(j->out, "null");
    else
        quote(j->out, value);
}

void json_integer(json *j, const char *key, int64_t value) {
    begin(j, key);
    buffer_printf(j->out, "%" PRId64, value);
}

/* The fewest digits that read back as the same double; the locale's decimal point, which may be
   several bytes, becomes '.'. */
void json_number(json *j, const char *key, double value) {
    if (!isfinite(value)) {
        json_null(j, key);
        return;
    }
    buffer digits = {0};
    for (int precision = 1; precision <= 17; precision++) {
        digits.length = 0;
        buffer_printf(&digits, "%.*g", precision, value);
        if (strtod(digits.data, NULL) == value)
            break;
    }
    begin(j, key);
    const size_t whole = strspn(digits.data, "+-0123456789");
    const size_t fraction = strcspn(digits.data + whole, "+-0123456789e");
    buffer_add_bytes(j->out, digits.data, whole);
    if (fraction > 0)
        buffer_add(j->out, ".");
    buffer_add(j->out, digits.data + whole + fraction);
    buffer_free(&digits);
}

void json_literal(json *j, const char *key, const char *number) {
    begin(j, key);
    buffer_add(j->out, number);
}

void json_bool(json *j, const char *key, bool value) {
    begin(j, key);
    buffer_add(j->out, value ? "true" : "false");
}

void json_null(json *j, const char *key) {
    begin(j, key);
    buffer_add(j->out, "null");
}
