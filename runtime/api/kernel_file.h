/* Kernel files: a built kernel as a sealed file, for machines without Lua, NVRTC or a compiler.
   Takes: a program, its facts and texts, a binary. Makes: the payload of the file, and all of them
   again. */
#ifndef SG_RUNTIME_API_KERNEL_FILE_H
#define SG_RUNTIME_API_KERNEL_FILE_H

#include "base/program.h"
#include "runtime/device/device.h"
#include "runtime/files/sealed.h"
#include "runtime/stencilgen.h"

extern const sealed_kind kernel_file_kind;

typedef struct kernel_file {
    const program *program;
    sg_kernel_info info; /* of the build; what the loader finds out is left as it was built */
    const char *texts[SG_TEXT_FAMILY + 1]; /* never NULL */
    binary binary;
    const char *machine; /* what the binary needs of the host beyond its kind and architecture; ""
                            for a cubin */
} kernel_file;

blob kernel_file_write(job *, const kernel_file *);

/* False, with *why set, where the payload makes no sense. A kernel file is code that its reader
   runs and the checksum has found any damage, so the program is not judged further than that its
   counts and indexes stay within their arrays. The binary's data lie in the payload, all else in
   the job. */
bool kernel_file_read(job *, blob payload, kernel_file *out, const char **why);

#endif
