/* Directives that constants decide. See gen/source/fold.h, which is the one to call. */
#ifndef SG_GEN_SOURCE_CONDITIONS_H
#define SG_GEN_SOURCE_CONDITIONS_H

#include "base/text.h"
#include "gen/source/decide.h"

const char *decide_directives(constants *, const char *whole);

#endif
