#include "base/component.h"

#include <stdlib.h>
#include <string.h>

int component_number(const char *name, const char *whole) {
    const size_t head = strcspn(name, "[");
    if (name[head] == '\0' || strncmp(name, whole, head) != 0)
        return 0;
    char *end;
    const long number = strtol(name + head + 1, &end, 10);
    return *end == ']' && strcmp(end + 1, whole + head) == 0 ? (int)number : 0;
}

int component_compare(const char *a, const char *b) {
    const size_t head = strcspn(a, "[");
    if (a[head] == '\0' || strncmp(a, b, head + 1) != 0)
        return strcmp(a, b);
    const long one = strtol(a + head + 1, NULL, 10), other = strtol(b + head + 1, NULL, 10);
    return one != other ? (one > other) - (one < other) : strcmp(a, b);
}
