/* VTK's XML image data. */
#include "cli/files/vti.h"

#include <inttypes.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "elements are written as they lie");

void vti_head(text *out, const char *name, element type, const int64_t size[3]) {
    uint64_t bytes = element_words[type].bytes;
    text extent = new_text();
    for (int axis = 0; axis < 3; axis++) {
        bytes *= (uint64_t)size[axis];
        text_printf(&extent, "%s0 %" PRId64, axis > 0 ? " " : "", size[axis] - 1);
    }
    text_add(out, "<?xml version=\"1.0\"?>\n"
                  "<VTKFile type=\"ImageData\" version=\"1.0\" byte_order=\"LittleEndian\" "
                  "header_type=\"UInt64\">\n");
    text_printf(out, "  <ImageData WholeExtent=\"%s\" Origin=\"0 0 0\" Spacing=\"1 1 1\">\n",
                extent.data);
    text_printf(out, "    <Piece Extent=\"%s\">\n      <PointData Scalars=\"%s\">\n", extent.data,
                name);
    text_printf(out,
                "        <DataArray type=\"%s\" Name=\"%s\" format=\"appended\" offset=\"0\"/>\n",
                element_words[type].vtk, name);
    text_add(out, "      </PointData>\n    </Piece>\n  </ImageData>\n"
                  "  <AppendedData encoding=\"raw\">\n_");
    text_add_bytes(out, &bytes, sizeof bytes);
}

void vti_tail(text *out) {
    text_add(out, "\n  </AppendedData>\n</VTKFile>\n");
}
