/* The words of binaries. */
#include "runtime/binary.h"

const char *const binary_words[BINARY_KINDS] = {
    [BINARY_CUBIN] = "cubin", [BINARY_PTX] = "PTX", [BINARY_HOST] = "host object"};
