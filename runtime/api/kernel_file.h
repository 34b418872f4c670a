/* Kernel files: a built kernel as a sealed file, for machines without Lua, NVRTC or a compiler.
   Takes: a program, its facts and texts, a binary. Makes: the payload of the file, and all of them
   again from one that is not trusted. */
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

/* False, with *why in the job, where the payload makes no sense: every count, offset, size and
   index of the program is checked, so that a launch by it stays within LAUNCH_… and its arguments.
   The binary's data lie in the payload, all else in the job. */
bool kernel_file_read(job *, blob payload, kernel_file *out, const char **why);

/* Reading a kernel file that is not trusted: numbers within limits, names that are names, and the
   program, of which every index, extent and count is checked before a launch relies on it.
   Takes: a record. Makes: its content, or the reason why it cannot be. */

/* More than any GPU has, or any schedule asks for. */
enum {
    MOST_NAME = 127,
    MOST_LAUNCHES = 64,
    MOST_THREADS = 1024,
    MOST_SHARED_BYTES = 1 << 20,
    MOST_PER_BLOCK = 1 << 28,
    MOST_REACH = 1 << 16,
    MOST_VECTOR = 64,
    MOST_CLUSTER = 8,           /* blocks that every GPU with clusters has in one */
    MOST_STEPS = 1 << 16,       /* of a launch */
    MOST_FILE_NUMBER = 1 << 30, /* of an extent, a temporary, the storage of a matrix */
};

typedef struct reader {
    job *job;
    record record;
    const char *why; /* what cannot be; NULL so far */
} reader;

/* From the first finding on everything reads as the least that it may be, or as "". */
void reader_refuse(reader *, const char *format, ...) SG_PRINTF(2, 3);
void reader_require(reader *, bool holds, const char *what);
int reader_int(reader *, int least, int most, const char *what);
void reader_axes(reader *, int *out, int least, int most, const char *what);
bool reader_truth(reader *, const char *what);
double reader_double(reader *, double least, double most, const char *what);
const char *reader_text(reader *, const char *what);
const char *reader_name(reader *, const char *what); /* fit for messages and binaries */

/* The texts are those of kernel_file, and the kind is its info's. */
program *kernel_read_program(reader *, const char *const *texts, sg_kind *);

#endif
