/* Parts of arrays in files, by pread and pwrite: no rank reads or holds the whole. */
#include "cli/files/part_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct moving {
    const part_file *file;
    bool writes;
    char *why;
    size_t room;
} moving;

/* All of a run of bytes. */
static bool move(const moving *m, uint64_t at, unsigned char *memory, size_t bytes) {
    while (bytes > 0) {
        const size_t piece = bytes < (1 << 30) ? bytes : 1 << 30;
        const ssize_t done = m->writes ? pwrite(m->file->file, memory, piece, (off_t)at)
                                       : pread(m->file->file, memory, piece, (off_t)at);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0) {
            snprintf(m->why, m->room, "%s: cannot be %s: %s", m->file->path,
                     m->writes ? "written" : "read",
                     done < 0 ? strerror(errno) : "it ends too soon");
            return false;
        }
        at += (uint64_t)done;
        memory += done;
        bytes -= (size_t)done;
    }
    return true;
}

/* Rows that follow each other in the file and in memory are moved at once. */
static bool move_part(const moving *m, const sg_team_part *p, unsigned char *local) {
    const uint64_t element = m->file->element;
    uint64_t own[3], count[3];
    for (int axis = 0; axis < 3; axis++)
        own[axis] = count[axis] = (uint64_t)(p->end[axis] - p->begin[axis]);
    uint64_t run = own[0];
    for (int axis = 1; axis < 3 && run > 0; axis++) {
        if (p->size[axis - 1] != p->global[axis - 1])
            break;
        run *= own[axis];
        count[axis] = 1;
    }
    for (uint64_t z = 0; z < count[2]; z++)
        for (uint64_t y = 0; y < count[1]; y++) {
            const uint64_t there =
                (((uint64_t)p->begin[2] + z) * (uint64_t)p->global[1] + (uint64_t)p->begin[1] + y) *
                    (uint64_t)p->global[0] +
                (uint64_t)p->begin[0];
            const uint64_t here =
                (((uint64_t)p->low[2] + z) * (uint64_t)p->size[1] + (uint64_t)p->low[1] + y) *
                    (uint64_t)p->size[0] +
                (uint64_t)p->low[0];
            if (!move(m, m->file->offset + there * element, local + here * element, run * element))
                return false;
        }
    return true;
}

bool part_read(const part_file *f, const sg_team_part *part, void *local, char *why, size_t room) {
    const moving m = {f, false, why, room};
    return move_part(&m, part, local);
}

bool part_write(const part_file *f, const sg_team_part *part, const void *local, char *why,
                size_t room) {
    const moving m = {f, true, why, room};
    return move_part(&m, part, (unsigned char *)local); /* which is only read */
}
