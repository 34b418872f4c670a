/* Images as PNG, by libpng where the command was built with it. Takes: samples and their colours.
   Makes: the bytes of a file. Also the colour maps. Safe in any thread. */
#ifndef SG_CLI_FILES_PICTURE_H
#define SG_CLI_FILES_PICTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- colour maps ----------------------------------------------------------------------------- */

enum { COLOURS = 256 };

/* Red, green and blue of 0, the lowest value, to 255. False: there is no such map. */
bool colours_of(const char *map, unsigned char out[COLOURS][3]);

/* The name of map `index`; NULL behind the last one. */
const char *colours_name(int index);

/* ---- images -----------------------------------------------------------------------------------
 */

enum { PICTURE_MOST = 0x7fffffff }; /* pixels along a side */

/* Why there are no PNG files; NULL: there are. */
const char *picture_missing(void);

/* False ends the image; the function itself knows why. */
typedef bool (*picture_put)(void *user, const void *bytes, size_t count);

/* The samples are numbers of colours, the top row first. False if `put` has ended it, or there is
   too little memory. */
bool picture_write(int64_t width, int64_t height, const unsigned char *samples,
                   unsigned char colours[COLOURS][3], picture_put put, void *user);

#endif
