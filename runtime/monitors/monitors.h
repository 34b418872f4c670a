/* What a watched run asks of a monitor. */
#ifndef SG_RUNTIME_MONITORS_MONITORS_H
#define SG_RUNTIME_MONITORS_MONITORS_H

#include "runtime/stencilgen.h"

/* How many of its samples were not read yet. */
int monitor_waiting(const sg_monitor *);

#endif
