/* The libraries that were found when the program was built. */
#include "rivals.h"

#include <stddef.h>

#ifdef BENCH_CUB
#define CUB cub_name
#define LIST cub_rivals
#else
#define CUB NULL
#define LIST NULL
#endif
#ifdef BENCH_CUSPARSE
#define CUSPARSE cusparse_name
#define MATRIX cusparse_rivals
#else
#define CUSPARSE NULL
#define MATRIX NULL
#endif
#ifdef BENCH_NPP
#define NPP npp_name
#define IMAGE npp_rivals
#else
#define NPP NULL
#define IMAGE NULL
#endif

const rivals bench_rivals = {{CUB, CUSPARSE, NPP}, LIST, MATRIX, IMAGE};
