/* Matrix Market files: the bytes are one. What is read is sorted, inside and as it is written: the
   file that we write of it is read back as the same matrix. */
#define _GNU_SOURCE /* memfd_create */
#include "tests/fuzz/fuzz.h"

#include <math.h>
#include <string.h>

#include "matrix/format.h"

typedef struct reading {
    FILE *file;
    assembly out;
} reading;

static void read_it(job *j, void *argument) {
    reading *r = argument;
    market_read(j, r->file, "input", &r->out);
}

static fault read_bytes(const uint8_t *bytes, size_t count, reading *r) {
    job *j;
    r->out = (assembly){.memory = allocator_libc};
    r->file = fdopen(dup(file_of(bytes, count)), "rb");
    DEMAND(r->file != NULL);
    const fault found = job_run(&allocator_libc, read_it, r, &j);
    fclose(r->file);
    DEMAND(found == FAULT_NONE || found == FAULT_DATA);
    DEMAND(found == FAULT_NONE || (job_error_line(j) >= 1 && *job_error_text(j) != '\0'));
    job_end(j);
    return found;
}

static void check(const matrix *m) {
    for (int64_t i = 0; i < m->entries; i++) {
        DEMAND(m->row[i] >= 0 && m->row[i] < m->rows);
        DEMAND(m->column[i] >= 0 && m->column[i] < m->columns);
        DEMAND(i == 0 || m->row[i] > m->row[i - 1] ||
               (m->row[i] == m->row[i - 1] && m->column[i] > m->column[i - 1]));
    }
}

static char path[64];

static void write_it(job *j, void *argument) {
    market_write(j, argument, path);
}

static void check_written(matrix *m) {
    static uint8_t bytes[1 << 20];
    job *j;
    snprintf(path, sizeof path, "/tmp/sg-fuzz-market-%ld.mtx", (long)getpid());
    DEMAND(job_run(&allocator_libc, write_it, m, &j) == FAULT_NONE);
    job_end(j);
    FILE *file = fopen(path, "rb");
    DEMAND(file != NULL);
    const size_t count = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    DEMAND(unlink(path) == 0);
    if (count == sizeof bytes)
        return;
    reading r;
    DEMAND(read_bytes(bytes, count, &r) == FAULT_NONE);
    const matrix back = assembly_matrix(&r.out);
    DEMAND(back.rows == m->rows && back.columns == m->columns && back.entries == m->entries);
    for (int64_t i = 0; i < m->entries; i++) {
        DEMAND(back.row[i] == m->row[i] && back.column[i] == m->column[i]);
        DEMAND(back.value[i] == m->value[i] || (isnan(back.value[i]) && isnan(m->value[i])));
    }
    assembly_free(&r.out);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    reading r;
    if (read_bytes(bytes, count, &r) == FAULT_NONE) {
        static unsigned turn;
        matrix m = assembly_matrix(&r.out);
        check(&m);
        if (turn++ % 16 == 0) /* files cost much more than all else */
            check_written(&m);
    }
    assembly_free(&r.out);
    return 0;
}
