/* Fields of several components: their arrays are "f[1]", "f[2]", …, and a file "f" holds them all,
   one behind the other: its shape begins with their number. */
#include "base/component.h"

#include <inttypes.h>
#include <string.h>

#include "cli/files/arrays.h"

const char *components_name(const char *whole, int number) {
    const size_t head = strcspn(whole, ".");
    return phrase("%.*s[%d]%s", (int)head, whole, number, whole + head);
}

const char *components_title(const char *name, int *number) {
    const char *open = strchr(name, '['), *close = open != NULL ? strchr(open, ']') : NULL;
    if (close == NULL) {
        *number = 0;
        return name;
    }
    const char *title = phrase("%.*s%s", (int)(open - name), name, close + 1);
    *number = component_number(name, title);
    return title;
}

int components_cut(array *item, int dims) {
    datafile *f = &item->file;
    int number;
    const char *whole = components_title(item->info.name, &number);
    if (f->kind != DATAFILE_NPY)
        return complain(EXIT_DATA, f->path, "an image, but %s has %d components; give a .npy file",
                        whole, item->parts);
    if (f->dims != dims + 1 || f->size[dims] != item->parts)
        return complain(EXIT_DATA, f->path,
                        "%d dimensions, the first of %" PRId64 ", but %s has %d: its %d components "
                        "and those of the grid",
                        f->dims, f->size[f->dims - 1], whole, dims + 1, item->parts);
    if (f->npy.fortran)
        return complain(EXIT_DATA, f->path, "components are read in C order, and this is none");
    f->dims = f->npy.dims = dims;
    f->size[dims] = f->npy.size[dims] = 1;
    f->npy.data_bytes /= (uint64_t)item->parts;
    f->npy.data_offset += (uint64_t)(number - 1) * f->npy.data_bytes;
    f->npy.is_part = true;
    return fseeko(f->file, (off_t)f->npy.data_offset, SEEK_SET) == 0
               ? EXIT_DONE
               : complain(EXIT_DATA, f->path,
                          "components are read from a file, and this is a pipe or a device");
}

int components_download(const array_reading *r, uint64_t first, size_t count, void *out) {
    const arrays *a = r->arrays;
    const size_t bytes = dtype_words[a->items[r->item].type].bytes;
    uint64_t cells = 1;
    int code = EXIT_DONE;
    for (int axis = 0; axis < 3; axis++)
        cells *= (uint64_t)a->grids[r->item].size[axis];
    for (unsigned char *to = out; count > 0 && code == EXIT_DONE;) {
        const int item = arrays_find_output(a, components_name(r->whole, (int)(first / cells) + 1));
        const uint64_t left = cells - first % cells;
        const size_t now = count < left ? count : (size_t)left;
        code = arrays_download(&(array_reading){.arrays = a, .item = item}, first % cells, now, to);
        first += now;
        count -= now;
        to += now * bytes;
    }
    return code;
}
