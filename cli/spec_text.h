/* The text of a spec. Takes: a path. Makes: what the file holds, read once: the path may be that of
   a pipe, and a command asks the library several times about a spec. */
#ifndef SG_CLI_SPEC_TEXT_H
#define SG_CLI_SPEC_TEXT_H

/* *out is for the caller to free; NULL where nothing could be read, of which the library says why
   when it is given the path alone. An exit code, what is wrong having been printed. */
int spec_text_read(const char *path, char **out);

#endif
