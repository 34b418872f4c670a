/* Reading the C++ of templates, as clang-format lays it out: tokens, brackets, and pieces of whole
   lines. Takes: text. Makes: where things begin and end in it. */
#ifndef SG_GEN_SOURCE_SCAN_H
#define SG_GEN_SOURCE_SCAN_H

#include <stdbool.h>
#include <stddef.h>

typedef struct span {
    const char *begin, *end;
} span;

typedef enum token_kind { TOKEN_END, TOKEN_NAME, TOKEN_NUMBER, TOKEN_TEXT, TOKEN_MARK } token_kind;

/* A name, a number, a string or character, or one character of punctuation. */
typedef struct token {
    token_kind kind;
    span at;
} token;

/* The first token of the text; blanks and comments lie between tokens. */
token scan_token(span);
bool token_is(const token *, const char *word);
bool span_is(span, const char *word);

/* Past the bracket that closes the one at the beginning: round, square, curly. */
const char *scan_past_bracket(span);
/* Past the > that closes the < at the beginning. */
const char *scan_past_angle(span);

/* From the end of an initializer on: the comma before the next declarator, or the semicolon. */
span scan_value(span);

/* Past the end of the line, and of the text where it is the last. */
const char *scan_past_line(span);
/* The columns that the line at the beginning is indented by. */
int scan_indent(span);

typedef enum piece_kind {
    PIECE_BLANK,
    PIECE_COMMENT,   /* lines of comments, one after another */
    PIECE_DIRECTIVE, /* of the preprocessor */
    PIECE_OPEN,      /* namespace NAME { */
    PIECE_CLOSE,     /* and its end */
    PIECE_CODE,      /* a declaration or definition, to the end of its last line */
} piece_kind;

typedef struct piece {
    piece_kind kind;
    span at;
} piece;

/* The first piece of the text, which begins at a line's beginning. */
piece scan_piece(span);

#endif
