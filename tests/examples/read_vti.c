/* Reads a .vti file of the example heat3d without a line of its writer, and compares it with what
   it must hold. Takes: FILE, NXxNYxNZ, the spacing, the factor of sin sin sin. Exits with 0 where
   all is right, else says what is not. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *text; /* the file, with a NUL behind it */
static size_t length;

static void complain(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    exit(1);
}

static void load(const char *path) {
    FILE *file = fopen(path, "rb");
    char *bytes = malloc(1 << 24);
    if (file == NULL || bytes == NULL)
        complain("%s cannot be read\n", path);
    length = fread(bytes, 1, (1 << 24) - 1, file);
    bytes[length] = '\0';
    text = bytes;
    fclose(file);
}

/* The value of an attribute of the first element with this name. */
static const char *attribute(const char *element, const char *name) {
    static char value[256];
    char opening[64], wanted[64];
    snprintf(opening, sizeof opening, "<%s ", element);
    snprintf(wanted, sizeof wanted, " %s=\"", name);
    const char *from = strstr(text, opening);
    const char *end = from != NULL ? strchr(from, '>') : NULL;
    const char *at = from != NULL ? strstr(from, wanted) : NULL;
    if (at == NULL || at > end)
        complain("<%s> has no attribute %s\n", element, name);
    snprintf(value, sizeof value, "%.*s", (int)strcspn(at + strlen(wanted), "\""),
             at + strlen(wanted));
    return value;
}

static void expect(const char *element, const char *name, const char *value) {
    const char *found = attribute(element, name);
    if (strcmp(found, value) != 0)
        complain("<%s %s=\"%s\"> instead of \"%s\"\n", element, name, found, value);
}

static void check_header(const long size[3], double spacing) {
    const unsigned short one = 1;
    char extent[128];
    double found[3];
    snprintf(extent, sizeof extent, "0 %ld 0 %ld 0 %ld", size[0] - 1, size[1] - 1, size[2] - 1);
    expect("VTKFile", "type", "ImageData");
    expect("VTKFile", "version", "1.0");
    expect("VTKFile", "header_type", "UInt64");
    expect("VTKFile", "byte_order", *(const char *)&one ? "LittleEndian" : "BigEndian");
    expect("ImageData", "WholeExtent", extent);
    expect("ImageData", "Origin", "0 0 0");
    expect("Piece", "Extent", extent);
    expect("PointData", "Scalars", "temperature");
    expect("DataArray", "Name", "temperature");
    expect("DataArray", "type", "Float64");
    expect("DataArray", "format", "appended");
    expect("DataArray", "offset", "0");
    expect("AppendedData", "encoding", "raw");
    if (sscanf(attribute("ImageData", "Spacing"), "%lf %lf %lf", &found[0], &found[1], &found[2]) !=
            3 ||
        found[0] != spacing || found[1] != spacing || found[2] != spacing)
        complain("the spacing is \"%s\" instead of %g\n", attribute("ImageData", "Spacing"),
                 spacing);
}

static double shape(long i, long n) {
    return sin(3.14159265358979323846 * (double)i / (double)(n - 1));
}

static void check_numbers(const char *at, const long size[3], double factor) {
    for (long z = 0; z < size[2]; z++)
        for (long y = 0; y < size[1]; y++)
            for (long x = 0; x < size[0]; x++, at += sizeof(double)) {
                const double wanted =
                    factor * shape(x, size[0]) * shape(y, size[1]) * shape(z, size[2]);
                double found;
                memcpy(&found, at, sizeof found);
                if (!(fabs(found - wanted) <= 1e-7)) /* the factor was printed with 8 decimals */
                    complain("(%ld, %ld, %ld) is %.12g instead of %.12g\n", x, y, z, found, wanted);
            }
}

int main(int argc, char **argv) {
    long size[3];
    if (argc != 5 || sscanf(argv[2], "%ldx%ldx%ld", &size[0], &size[1], &size[2]) != 3)
        return 2;
    load(argv[1]);
    check_header(size, atof(argv[3]));
    const char *section = strstr(text, "<AppendedData");
    const char *data = section != NULL ? strchr(section, '_') : NULL;
    const size_t bytes = (size_t)(size[0] * size[1] * size[2]) * sizeof(double);
    static const char end[] = "\n  </AppendedData>\n</VTKFile>\n";
    unsigned long long counted;
    if (data == NULL || (size_t)(data + 1 + 8 - text) + bytes + strlen(end) != length)
        complain("the file has %zu bytes, which is not its header, %zu and its end\n", length,
                 bytes);
    memcpy(&counted, data + 1, sizeof counted);
    if (counted != bytes)
        complain("it says that there are %llu bytes of numbers, not %zu\n", counted, bytes);
    if (strcmp(data + 1 + 8 + bytes, end) != 0)
        complain("the end of the file is not its end\n");
    check_numbers(data + 1 + 8, size, atof(argv[4]));
    return 0;
}
