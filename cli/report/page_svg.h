/* A small builder of charts in SVG. Takes: where numbers lie, and marks. Makes: markup into a
   buffer. Sizes are in units of which a chart is CHART_WIDTH wide; on a phone one is a little less
   than a pixel, so that text of 13 is readable. Colours are classes of page_style. */
#ifndef SG_CLI_REPORT_PAGE_SVG_H
#define SG_CLI_REPORT_PAGE_SVG_H

#include <stdbool.h>

#include "cli/command.h"

enum { CHART_WIDTH = 400, CHART_HEIGHT = 290, CHART_KINDS = 6, CHART_LOST = CHART_KINDS };

/* Numbers to places. */
typedef struct svg_scale {
    double from, to;  /* numbers; of a logarithmic one both above 0 */
    double low, high; /* where these lie */
    bool logarithmic;
} svg_scale;
double svg_at(const svg_scale *, double number);
/* Widened by a twentieth at both ends; numbers that are all the same by more. Of any numbers a
   scale is made that svg_at and svg_frame can do with: where they are in no order, are not finite,
   or of a logarithmic one not above 0, one around 1. */
svg_scale svg_scale_of(double least, double most, bool logarithmic);

/* How numbers at an axis are written. */
typedef void (*svg_label)(text *, double);
void svg_plain(text *, double); /* "12" */
void svg_rate(text *, double);  /* "1.5 G" */

typedef struct svg {
    text *out;
    text best; /* the mark that is to lie above all others; svg_end writes it */
    double left, right, top, bottom; /* the area of marks */
    svg_scale x, y;                  /* set by svg_frame's caller, placed by svg_frame */
} svg;

/* A figure with its caption (text, not markup); `about` tells what is seen without seeing it. */
void svg_begin(svg *, text *, const char *caption, const char *about, double height);
void svg_end(svg *);

/* The lines behind the marks and the numbers beside them. NULL: that axis has no numbers. */
void svg_frame(svg *, svg_label x, svg_label y, const char *x_name, const char *y_name);

/* One mark, of a kind's shape and colour (0 to CHART_KINDS − 1, or
   CHART_LOST, of what was not right); `best` makes it stand out. */
void svg_mark(svg *, double x, double y, int kind, bool best, const char *title);
void svg_text(svg *, double x, double y, const char *anchor, const char *class_name,
              const char *text);
void svg_line(svg *, double x1, double y1, double x2, double y2, const char *class_name);

/* Which kind is which, below a chart: `count` names, at most CHART_KINDS, and CHART_LOST's. */
void svg_legend(text *, const char *const *names, int count, bool lost);

#endif
