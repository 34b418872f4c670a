/* libstencilgen_mpi.so: the command's way to MPI, loaded where it runs as one of several ranks. */
#include <unistd.h>

#include <stencilgen/mpi.h>

SG_API int sg_mpi_begin_job(sg_transport *out);
SG_API void sg_mpi_end_job(int failed);
SG_API const char *sg_mpi_describe(void);

/* For doctor, before MPI is initialised. */
const char *sg_mpi_describe(void) {
    static char text[MPI_MAX_LIBRARY_VERSION_STRING + 64];
    snprintf(text, sizeof text, "%s, messages of %s memory", sg_mpi_name(),
             sg_mpi_takes_device_memory() ? "device" : "host");
    return text;
}

/* Initialises MPI, and fills the transport of all its processes. */
int sg_mpi_begin_job(sg_transport *out) {
    int level = 0, begun = 0;
    MPI_Initialized(&begun);
    if (!begun && MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level) != MPI_SUCCESS)
        return 1;
    return sg_mpi_transport(MPI_COMM_WORLD, out);
}

/* Where this rank failed, the others hear of it and come here too; one that hangs is not waited
 * for. */
void sg_mpi_end_job(int failed) {
    enum { PATIENCE = 20 };
    int ended = 0;
    MPI_Finalized(&ended);
    if (failed)
        alarm(PATIENCE); /* ends this process, and with it the launcher the others */
    if (!ended)
        MPI_Finalize();
    alarm(0);
}
