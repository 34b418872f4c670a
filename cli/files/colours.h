/* Colour maps. Takes: the name of a map. Makes: its 256 colours. */
#ifndef SG_CLI_FILES_COLOURS_H
#define SG_CLI_FILES_COLOURS_H

#include <stdbool.h>

enum { COLOURS = 256 };

/* Red, green and blue of 0, the lowest value, to 255. False: there is no such map. */
bool colours_of(const char *map, unsigned char out[COLOURS][3]);

/* The name of map `index`; NULL behind the last one. */
const char *colours_name(int index);

#endif
