/* What the command says: text for people, and JSON, in which bytes that are not UTF-8 become
   U+FFFD. */
#include "cli/command.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

/* ---- text for people ----------------------------------------------------------------------- */

void add_wrapped(text *b, const char *begin, int indent, const char *string) {
    enum { WIDTH = 100 };
    int column = indent;
    text_printf(b, "%*s%s", begin == NULL ? indent : 0, "", begin != NULL ? begin : "");
    while (*string != '\0') {
        const int word = (int)strcspn(string, " \n");
        if (column > indent && column + 1 + word > WIDTH) {
            text_printf(b, "\n%*s", indent, "");
            column = indent;
        } else if (column > indent) {
            text_add(b, " ");
            column++;
        }
        text_add_bytes(b, string, (size_t)word);
        column += word;
        string += word;
        string += strspn(string, " \n");
    }
    text_add(b, "\n");
}

const char *counted(int64_t count, const char *noun) {
    return text_count(command_memory(), count, noun);
}

const char *phrase(const char *format, ...) {
    text out = new_text();
    va_list arguments;
    va_start(arguments, format);
    text_vprintf(&out, format, arguments);
    va_end(arguments);
    return out.data;
}

typedef struct unit {
    double one;
    const char *name;
} unit;

static const char *in_unit(double value, const unit *units, size_t count) {
    size_t i = 0;
    while (i + 1 < count && value < units[i].one)
        i++;
    return phrase("%.3g %s", value / units[i].one, units[i].name);
}

const char *in_seconds(double seconds) {
    static const unit units[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}};
    return in_unit(seconds, units, sizeof units / sizeof units[0]);
}

const char *in_bytes(double bytes) {
    static const unit units[] = {{1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}, {1, "B"}};
    return in_unit(bytes, units, sizeof units / sizeof units[0]);
}

const char *in_extents(const int64_t *size, int dims) {
    text out = new_text();
    for (int axis = 0; axis < dims; axis++)
        text_printf(&out, "%s%" PRId64, axis > 0 ? "x" : "", size[axis]);
    return out.data;
}

const char *in_range(const char *before, const char *unit, double least, double most) {
    if (!isfinite(least))
        return "";
    return least == most ? phrase("%s%.0f %s", before, least, unit)
                         : phrase("%s%.0f to %.0f %s", before, least, most, unit);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

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

static void quote(text *out, const char *string) {
    text_add(out, "\"");
    for (const unsigned char *s = (const unsigned char *)string; *s != '\0';) {
        const size_t length = sequence(s);
        if (*s == '"' || *s == '\\')
            text_printf(out, "\\%c", *s);
        else if (*s == '\n')
            text_add(out, "\\n");
        else if (*s == '\t')
            text_add(out, "\\t");
        else if (*s < 0x20)
            text_printf(out, "\\u%04x", *s);
        else if (length > 0)
            text_add_bytes(out, s, length);
        else
            text_add(out, "\xEF\xBF\xBD");
        s += length > 0 ? length : 1;
    }
    text_add(out, "\"");
}

static void begin(json *j, const char *key) {
    if (j->follows)
        text_add(j->out, ",");
    if (j->depth > 0)
        text_printf(j->out, "\n%*s", 2 * j->depth, "");
    if (key != NULL) {
        quote(j->out, key);
        text_add(j->out, ": ");
    }
    j->follows = true;
}

void json_open(json *j, const char *key, char bracket) {
    begin(j, key);
    text_add_bytes(j->out, &bracket, 1);
    j->depth++;
    j->follows = false;
}

static void close_with(json *j, char bracket) {
    j->depth--;
    if (j->follows)
        text_printf(j->out, "\n%*s", 2 * j->depth, "");
    text_add_bytes(j->out, &bracket, 1);
    j->follows = true;
    if (j->depth == 0)
        text_add(j->out, "\n");
}

void json_literal(json *j, const char *key, const char *number) {
    begin(j, key);
    text_add(j->out, number);
}

void json_string(json *j, const char *key, const char *value) {
    if (value == NULL) {
        json_literal(j, key, "null");
        return;
    }
    begin(j, key);
    quote(j->out, value);
}

void json_number(json *j, const char *key, double value) {
    if (!isfinite(value)) {
        json_literal(j, key, "null");
        return;
    }
    begin(j, key);
    text_shortest(j->out, value, false);
}

void json_integers(json *j, const char *key, const int64_t *list, int count) {
    json_open(j, key, '[');
    for (int i = 0; i < count; i++)
        json_literal(j, NULL, phrase("%" PRId64, list[i]));
    close_with(j, ']');
}

/* What a conversion stands for; `value` is its text, without the '%'. */
static void add_value(json *j, const char *key, const char *value, va_list *values) {
    switch (value[strspn(value, "+lz")]) {
    case 's':
        json_string(j, key, va_arg(*values, const char *));
        break;
    case 'g':
        json_number(j, key, va_arg(*values, double));
        break;
    case 'i':
        json_literal(j, key, va_arg(*values, int) != 0 ? "true" : "false");
        break;
    default: {
        const char length = value[*value == '+'];
        const long long number = length == 'l'   ? va_arg(*values, long)
                                 : length == 'z' ? (long long)va_arg(*values, size_t)
                                                 : va_arg(*values, int);
        json_literal(j, key, *value == '+' && number < 0 ? "null" : phrase("%lld", number));
    }
    }
}

void json_add(json *j, const char *at, ...) {
    _Static_assert(sizeof(long) == sizeof(int64_t), "a length of 'l' is an int64_t");
    va_list values;
    va_start(values, at);
    while (*(at += strspn(at, " ")) != '\0') {
        const char *key = NULL;
        if (strchr("%{}[]", *at) == NULL) {
            const size_t length = strcspn(at, " ");
            key = job_copy(command_memory(), at, length);
            at += length + 1;
        }
        if (*at == '%')
            add_value(j, key, at + 1, &values);
        else if (*at == '{' || *at == '[')
            json_open(j, key, *at);
        else
            close_with(j, *at);
        at += strcspn(at, " ");
    }
    va_end(values);
}
