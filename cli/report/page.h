/* The report of a sweep: one page that needs nothing else. Takes: tuning results as sg_results
   tells them, and what a build says of the best plan. Makes: HTML with pictures in SVG. It reads no
   clock and no environment: the same results make the same bytes. */
#ifndef SG_CLI_REPORT_PAGE_H
#define SG_CLI_REPORT_PAGE_H

#include <stdbool.h>

#include "cli/command.h"
#include "runtime/stencilgen.h"

/* ---- results ------------------------------------------------------------------------------- */

/* Results that are kept: copies, with their texts. */
typedef struct page_results {
    sg_result *list;
    int count;
} page_results;
void page_keep(page_results *, const sg_result *);

/* What timing a kernel again has shown; copies too. */
typedef struct page_drifts {
    sg_drift *list;
    int count;
} page_drifts;
void page_keep_drift(page_drifts *, const sg_drift *);

bool page_is_right(const sg_result *);
/* What it took: by the finals where it took part in them, else by its trial. */
double page_time(const sg_result *);
/* Whether builds take one before the other. */
bool page_is_faster(const sg_result *, const sg_result *than);
/* Of one spec, device, generator and number of steps; and of one size too. */
bool page_same_kind(const sg_result *, const sg_result *);
bool page_same_place(const sg_result *, const sg_result *);
bool page_same_size(const sg_result *, const sg_result *);

/* Whether the size is a matrix's: rows, columns, entries, longest row, empty rows, diagonals. */
bool page_is_of_matrix(const sg_result *);
/* Points of a grid, elements, entries of a matrix. */
double page_points(const sg_result *);

/* ---- parameters ---------------------------------------------------------------------------- */

/* One thing that plans differ in, by the words of their lines: "method", "tile" as a whole,
   "tile.x", "coarsen.z", "threads". */
typedef struct page_axis {
    char *name;
    bool whole;    /* "32x8", of which there are parts too */
    char **values; /* ascending, as numbers where they begin with some */
    int count;
    int *of;          /* which of them each row has; −1: none */
    int rows;         /* right ones that have it */
    double explained; /* share of the variance of log time; see page_axes_find */
} page_axis;

enum { PAGE_AXES = 32 };
typedef struct page_axes {
    page_axis list[PAGE_AXES];
    int count;
} page_axes;

/* The parameters of the results' plans. `explained` is ε², the share of the variance of log time
   that the groups of equal value have beyond what groups by chance would have: T. L. Kelley, "An
   unbiased correlation ratio measure", PNAS 21 (1935). Plans without the parameter make up no
   group, but their variance counts in the whole. */
void page_axes_find(page_axes *, sg_kind, const sg_result *rows, int count);
const page_axis *page_axis_named(const page_axes *, const char *name); /* NULL */

/* ---- the page ------------------------------------------------------------------------------ */

enum { PAGE_KINDS = 6 };
typedef struct page {
    const char *spec, *name;             /* the file's name; what the spec is called now */
    const char *shape, *dtype;           /* "" where unknown */
    double operations, bytes;            /* of a point, the textbook's and the fewest; 0: unknown */
    const char *usual;                   /* the plan of a build that knows no results; NULL */
    const char *source, *source_trouble; /* of the best plan; why there is none */
    const sg_result *rows;               /* of one place, in the order taken */
    int count;
    const page_results *all;   /* of the spec, for other sizes */
    const page_drifts *drifts; /* of the rows' sweeps; NULL */
    page_axes axes;
    int best, usual_row; /* of the rows; −1 where none was right, or the plan was not measured */
    int *kinds;          /* of each row, the mark of its method, algorithm or format */
    const char *kind_names[PAGE_KINDS];
    int kind_count;
} page;

/* Fills in axes, best, usual_row and kinds from the rest. */
void page_look(page *);
void page_kinds_find(page *); /* a part of it */

void page_write(const page *, text *out);

/* Parts of it, each a file: what they draw stands in a section of its own, or they add nothing. */
void page_write_progress(const page *, text *);
void page_write_drift(const page *, text *);
void page_write_roofline(const page *, text *);
void page_write_scaling(const page *, text *);
void page_write_scatter(const page *, text *);
void page_write_table(const page *, text *);

/* ---- words --------------------------------------------------------------------------------- */

/* Text where HTML has text or an attribute's value between double quotes. What HTML cannot hold
   (control characters) becomes U+FFFD. */
void html_text(text *, const char *);

/* "512x512x512", "2000x1000 with 5000 entries". */
void page_add_size(text *, const sg_result *);
/* "streamed tile=256x8 …: 378 us, 0.98 of a copy, 40 registers". */
void page_add_mark_title(text *, const sg_result *);
/* A copy's time over the result's: 1 is the speed of a copy; NAN where unknown. */
double page_of_copy(const sg_result *);
/* The parameter that the kinds are of; NULL. */
const page_axis *page_way(const page *);
/* The legend of the kinds, where there are several; `lost`: and of what was not right. */
void page_write_kinds(const page *, bool lost, text *);
bool page_any_lost(const page *); /* that some row is not right */
/* The row's time, the lowest first; those that are not right last. For qsort of row indices. */
int *page_order(const page *);

/* ---- charts -------------------------------------------------------------------------------- */

/* A small builder of charts in SVG. Takes: where numbers lie, and marks. Makes: markup. Sizes are
   in units of which a chart is CHART_WIDTH wide; on a phone a unit is a little less than a pixel,
   so that text of 13 units is readable. Colours are classes of the page's style. */
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
