/* Writes a grid as a .vti file for ParaView: VTK's XML image data, version 1.0, the numbers
   appended as they are in memory. Takes: values, x fastest. Needs: the C library. The format is
   described at https://docs.vtk.org/en/latest/vtk_file_formats/vtkxml_file_format.html. */
#ifndef VTI_H
#define VTI_H

#include <stdint.h>
#include <stdio.h>

/* Writes points that are `spacing` apart. */
static inline void write_vti(FILE *file, const char *name, const double *values,
                             const int64_t size[3], double spacing) {
    const uint16_t one = 1;
    const char *order = *(const char *)&one ? "LittleEndian" : "BigEndian";
    const uint64_t count = (uint64_t)(size[0] * size[1] * size[2]), bytes = count * sizeof *values;
    const long long x = size[0] - 1, y = size[1] - 1, z = size[2] - 1;
    fprintf(file, "<?xml version=\"1.0\"?>\n");
    fprintf(file, "<VTKFile type=\"ImageData\" version=\"1.0\" byte_order=\"%s\"", order);
    fprintf(file, " header_type=\"UInt64\">\n");
    fprintf(file, "  <ImageData WholeExtent=\"0 %lld 0 %lld 0 %lld\" Origin=\"0 0 0\"", x, y, z);
    fprintf(file, " Spacing=\"%.17g %.17g %.17g\">\n", spacing, spacing, spacing);
    fprintf(file, "    <Piece Extent=\"0 %lld 0 %lld 0 %lld\">\n", x, y, z);
    fprintf(file, "      <PointData Scalars=\"%s\">\n", name);
    fprintf(file, "        <DataArray type=\"Float64\" Name=\"%s\"", name);
    fprintf(file, " format=\"appended\" offset=\"0\"/>\n");
    fprintf(file, "      </PointData>\n    </Piece>\n  </ImageData>\n");
    fprintf(file, "  <AppendedData encoding=\"raw\">\n_");
    fwrite(&bytes, sizeof bytes, 1, file);
    fwrite(values, sizeof *values, count, file);
    fprintf(file, "\n  </AppendedData>\n</VTKFile>\n");
}

#endif
