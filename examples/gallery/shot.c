/* Makes what a seismic shot takes: the positions of a source and of receivers, and the source's
   Ricker wavelet (N. Ricker, Geophysics 18 (1953) 10), as .npy files for `run --points`. The
   receivers lie along the row of the source, one in every cell.
   Takes: cells along x, the source's cell, steps, dt in s, the peak's frequency in Hz.
   Makes: source.npy and receivers.npy, (n, 2); wavelet.npy, (steps, 1). Needs: the C library, and a
   little-endian machine. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns 0 if the file was made, with all its rows. A file that is there already stays. */
static int write_npy(const char *path, const double *values, long rows, long columns) {
    FILE *file = fopen(path, "wbx");
    char header[118];
    if (file == NULL)
        return 1;
    snprintf(header, sizeof header,
             "{'descr': '<f8', 'fortran_order': False, 'shape': (%ld, %ld), }", rows, columns);
    fprintf(file, "\x93NUMPY%c%c%c%c%-117s\n", 1, 0, 118, 0,
            header); /* 128 bytes, as NumPy has them */
    const size_t count = (size_t)(rows * columns);
    const int whole = fwrite(values, sizeof *values, count, file) == count;
    return fclose(file) != 0 || !whole;
}

int main(int argc, char **argv) {
    double n[6];
    for (int i = 0; i < 6 && i + 1 < argc; i++)
        n[i] = atof(argv[i + 1]);
    if (argc != 7 || n[0] < 1 || n[0] > 1e6 || n[3] < 1 || n[3] > 1e8) {
        fprintf(stderr, "usage: shot NX X Y STEPS DT HZ\n");
        return 2;
    }
    const double source[] = {n[1], n[2]}, pi = 3.14159265358979323846;
    const long nx = (long)n[0], steps = (long)n[3];
    double *receivers = malloc((size_t)nx * 2 * sizeof *receivers);
    double *wavelet = malloc((size_t)steps * sizeof *wavelet);
    int failed = receivers == NULL || wavelet == NULL;
    for (long x = 0; x < nx && !failed; x++) {
        receivers[2 * x] = (double)x;
        receivers[2 * x + 1] = n[2];
    }
    for (long i = 0; i < steps && !failed; i++) {
        const double a = pow(pi * (n[5] * (double)i * n[4] - 1.2), 2); /* the peak at 1.2 periods */
        wavelet[i] = (1 - 2 * a) * exp(-a);
    }
    failed = failed || write_npy("source.npy", source, 1, 2) ||
             write_npy("receivers.npy", receivers, nx, 2) ||
             write_npy("wavelet.npy", wavelet, steps, 1);
    free(receivers);
    free(wavelet);
    if (failed)
        fprintf(stderr,
                "shot: source.npy, receivers.npy or wavelet.npy is there, or cannot be written\n");
    return failed;
}
