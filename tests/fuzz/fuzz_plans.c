/* Any bytes as a plans file: lines that are read, and of them what the families find wrong. */
#include "fuzz.h"

#include "gen/model/plans.h"
#include "gen/space/accept.h"
