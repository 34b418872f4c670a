/* VTK's XML image data, for ParaView. Takes: a grid's name, type and extents. Makes: what stands
   before and after its elements, which are appended as they lie in memory, x fastest.
   The format: https://docs.vtk.org/en/latest/vtk_file_formats/vtkxml_file_format.html. */
#ifndef SG_CLI_FILES_VTI_H
#define SG_CLI_FILES_VTI_H

#include "cli/files/element.h"

/* `name` holds nothing that XML would need to quote; extents are from 1. Spacing 1, origin 0. */
void vti_head(text *out, const char *name, element, const int64_t size[3]);
void vti_tail(text *out);

#endif
