/* The texts of VTK files (cli/files/datafile.h). */
#include "cli/files/datafile.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char vti_tail[] = "\n  </AppendedData>\n</VTKFile>\n";

/* "0 9 0 4 0 0": of points the first and the last, of cells the points round them. */
static void put_extent(char out[160], const vti_box *b, int dims, bool cells) {
    size_t length = 0;
    for (int axis = 0; axis < 3; axis++) {
        const bool flat = axis >= dims;
        length += (size_t)snprintf(out + length, 160 - length, "%s%" PRId64 " %" PRId64,
                                   axis > 0 ? " " : "", flat ? 0 : b->begin[axis],
                                   flat ? 0 : b->end[axis] - !cells);
    }
}

/* The middle of a cell is at its index. */
static const char *origin_of(int dims, bool cells) {
    static const char *const origins[] = {"0 0 0", "-0.5 0 0", "-0.5 -0.5 0", "-0.5 -0.5 -0.5"};
    return origins[cells ? dims : 0];
}

static size_t put_head(char out[VTI_HEAD], const datafile_array *a, const vti_box *b, bool cells) {
    const dtype stored = dtype_computes(a->type);
    const char *kind = cells ? "CellData" : "PointData";
    uint64_t bytes = dtype_words[stored].bytes;
    char extent[160];
    for (int axis = 0; axis < a->dims; axis++)
        bytes *= (uint64_t)(b->end[axis] - b->begin[axis]);
    put_extent(extent, b, a->dims, cells);
    const int length =
        snprintf(out, VTI_HEAD,
                 "<?xml version=\"1.0\"?>\n"
                 "<VTKFile type=\"ImageData\" version=\"1.0\" byte_order=\"LittleEndian\" "
                 "header_type=\"UInt64\">\n"
                 "  <ImageData WholeExtent=\"%s\" Origin=\"%s\" Spacing=\"1 1 1\">\n"
                 "    <Piece Extent=\"%s\">\n      <%s Scalars=\"%s\">\n"
                 "        <DataArray type=\"%s\" Name=\"%s\" format=\"appended\" offset=\"0\"/>\n"
                 "      </%s>\n    </Piece>\n  </ImageData>\n  <AppendedData encoding=\"raw\">\n_",
                 extent, origin_of(a->dims, cells), extent, kind, a->name,
                 element_words[stored].vtk, a->name, kind);
    memcpy(out + length, &bytes, sizeof bytes);
    return (size_t)length + sizeof bytes;
}

void vti_head(text *out, const datafile_array *a) {
    char head[VTI_HEAD];
    const vti_box all = {.end = {a->size[0], a->size[1], a->size[2]}};
    text_add_bytes(out, head, put_head(head, a, &all, false));
}

size_t vti_piece_head(char out[VTI_HEAD], const datafile_array *whole, const vti_box *b) {
    return put_head(out, whole, b, true);
}

bool vti_piece_path(const char *path, int number, char *out, size_t room) {
    const int stem = (int)(strlen(path) - strlen(".pvti"));
    return (size_t)snprintf(out, room, "%.*s_%d.vti", stem, path, number) < room;
}

/* In an attribute of XML. */
static void add_quoted(text *out, const char *name) {
    for (const char *at = name; *at != '\0'; at++)
        if (strchr("&<>\"\n\t\r", *at) != NULL)
            text_printf(out, "&#%d;", *at);
        else
            text_add_bytes(out, at, 1);
}

void vti_index(text *out, const char *path, const datafile_array *a, const vti_box *boxes,
               int count) {
    const vti_box all = {.end = {a->size[0], a->size[1], a->size[2]}};
    const char *slash = strrchr(path, '/');
    char extent[160], piece[4096];
    put_extent(extent, &all, a->dims, true);
    text_printf(out,
                "<?xml version=\"1.0\"?>\n"
                "<VTKFile type=\"PImageData\" version=\"1.0\" byte_order=\"LittleEndian\" "
                "header_type=\"UInt64\">\n"
                "  <PImageData WholeExtent=\"%s\" GhostLevel=\"0\" Origin=\"%s\" "
                "Spacing=\"1 1 1\">\n"
                "    <PCellData Scalars=\"%s\">\n      <PDataArray type=\"%s\" Name=\"%s\"/>\n"
                "    </PCellData>\n",
                extent, origin_of(a->dims, true), a->name,
                element_words[dtype_computes(a->type)].vtk, a->name);
    for (int i = 0; i < count; i++) {
        put_extent(extent, &boxes[i], a->dims, true);
        vti_piece_path(slash != NULL ? slash + 1 : path, i, piece, sizeof piece);
        text_printf(out, "    <Piece Extent=\"%s\" Source=\"", extent);
        add_quoted(out, piece);
        text_add(out, "\"/>\n");
    }
    text_add(out, "  </PImageData>\n</VTKFile>\n");
}
