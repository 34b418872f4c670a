/* Names of components. A field f of several components has an array for each; that of the second is
   "f[2]", and that of its new values "f[2].next". Together they are "f" and "f.next". */
#ifndef SG_BASE_COMPONENT_H
#define SG_BASE_COMPONENT_H

/* The number, from 1, of the component of `whole` that has this name; 0: it is none. */
int component_number(const char *name, const char *whole);

/* Orders names, those of components by their numbers, for qsort. */
int component_compare(const char *a, const char *b);

#endif
