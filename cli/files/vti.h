/* VTK's XML image data, for ParaView. Takes: a description of a grid, or of a part of it. Makes:
   the text before and behind the elements, which are appended as they lie in memory, x fastest; and
   the .pvti file that names the parts. Numbers of 16 bits, which VTK does not have, are floats.
   https://docs.vtk.org/en/latest/vtk_file_formats/vtkxml_file_format.html */
#ifndef SG_CLI_FILES_VTI_H
#define SG_CLI_FILES_VTI_H

#include "cli/files/datafile.h"

enum { VTI_HEAD = 2048 };

/* Of the whole grid, whose cells are VTK's points. Its name needs no quoting in XML, extents are
   from 1. */
void vti_head(text *out, const datafile_array *);
extern const char vti_tail[];

/* A part: cells of the grid, end excluded. */
typedef struct vti_box {
    int64_t begin[3], end[3];
} vti_box;

/* Of a part, in which they are VTK's cells: pieces of points would have to overlap. Returns its
   length; uses none of the command's memory. */
size_t vti_piece_head(char out[VTI_HEAD], const datafile_array *whole, const vti_box *);

/* "wave_3.vti" of "wave.pvti". False where that is longer than `room`. */
bool vti_piece_path(const char *path, int number, char *out, size_t room);

/* The .pvti file of this path; the pieces lie in the same folder. */
void vti_index(text *out, const char *path, const datafile_array *whole, const vti_box *boxes,
               int count);

#endif
