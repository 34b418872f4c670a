/* The page of a sweep. It answers two questions: how good is the best plan, and can the sweep be
   trusted? Takes: tuning results as sg_results tells them, and what a build says of the best plan.
   Makes: one HTML file with pictures in SVG, which fetches nothing. The same results make the same
   bytes: the page reads no clock and no environment. */
#ifndef SG_CLI_REPORT_PAGE_H
#define SG_CLI_REPORT_PAGE_H

#include "cli/session.h"

/* ---- results ------------------------------------------------------------------------------- */

/* Copies of results and of drifts, with their texts. */
typedef struct page_results {
    sg_result *list;
    int count;
} page_results;
void page_keep(page_results *, const sg_result *);

typedef struct page_drifts {
    sg_drift *list;
    int count;
} page_drifts;
void page_keep_drift(page_drifts *, const sg_drift *);

bool page_is_right(const sg_result *);
/* Seconds: of the finals for a finalist, else of its trial. */
double page_time(const sg_result *);
/* A copy's time over the result's: 1 is the speed of a copy; NAN where unknown. */
double page_of_copy(const sg_result *);
/* Whether builds prefer the first result. */
bool page_is_faster(const sg_result *, const sg_result *than);
/* Whether both results have the same spec, device, generator, number of steps and size. */
bool page_same_place(const sg_result *, const sg_result *);

/* ---- the page ------------------------------------------------------------------------------ */

enum { CHART_WIDTH = 400, CHART_HEIGHT = 290, CHART_KINDS = 6, CHART_LOST = CHART_KINDS };

typedef struct page {
    const char *spec, *name;             /* the file's name; what the spec is called now */
    const char *shape, *dtype;           /* "" where unknown */
    double operations, bytes;            /* a point: the textbook's, and the fewest; 0: unknown */
    const char *usual;                   /* the plan of a build that knows no results; NULL */
    const char *source, *source_trouble; /* of the best plan; why there is none */
    const sg_result *rows;               /* of one place, in the order taken */
    int count;
    const page_drifts *drifts; /* of the rows' sweeps; NULL */
    int best, usual_row;       /* −1 where no row was right, or the plan was not measured */
    int *kinds;                /* of each row: the mark of its method, algorithm or format */
    const char *kind_names[CHART_KINDS];
    int kind_count;
} page;

/* Fills in best, usual_row and kinds from the rest. */
void page_look(page *);
void page_kinds_find(page *); /* a part of page_look */

void page_write(const page *, text *out);

/* The sections that have files of their own. A section without data adds nothing. */
void page_write_progress(const page *, text *);
void page_write_drift(const page *, text *);
void page_write_roofline(const page *, text *);
void page_write_table(const page *, text *);

/* ---- words --------------------------------------------------------------------------------- */

/* Adds markup, in which each %s is replaced by a text, wherever HTML has text or an attribute's
   value between double quotes. What HTML cannot hold (control characters) becomes U+FFFD. */
void html_add(text *, const char *markup, ...) SG_PRINTF(2, 3);

/* The legend of the kinds, where there are several; with `lost` also the mark of lost rows. */
void page_write_kinds(const page *, bool lost, text *out);

/* ---- charts -------------------------------------------------------------------------------- */

/* A small builder of charts in SVG. Takes: scales and marks. Makes: markup. A chart is CHART_WIDTH
   units wide. On a phone a unit is a little less than a pixel, so text of 13 units is readable.
   Colours are classes of the page's style. */

/* Numbers to places. */
typedef struct svg_scale {
    double from, to;  /* numbers; of a logarithmic one both above 0 */
    double low, high; /* where these lie */
    bool logarithmic;
} svg_scale;
double svg_at(const svg_scale *, double number);
/* Widened by a twentieth at both ends; numbers that are all the same by more. Any two numbers make
   a scale that svg_at and svg_frame can use: numbers that are not finite, not in order, or not
   positive on a logarithmic scale make one around 1. */
svg_scale svg_scale_of(double least, double most, bool logarithmic);

/* How numbers at an axis are written. */
typedef const char *(*svg_label)(double);
const char *svg_plain(double); /* "12" */
const char *svg_rate(double);  /* "1.5 G" */

typedef struct svg {
    text *out;
    text best;                       /* the mark that lies above all others; svg_end writes it */
    double left, right, top, bottom; /* the area of marks */
    svg_scale x, y;                  /* svg_frame's caller sets them, svg_frame places them */
} svg;

/* A figure with its caption (text, not markup); `about` describes it to a screen reader. */
void svg_begin(svg *, text *, const char *caption, const char *about);
void svg_end(svg *);

/* The lines behind the marks, and the numbers and names of both axes. */
void svg_frame(svg *, svg_label x, svg_label y, const char *x_name, const char *y_name);

/* One mark, of a kind's shape and colour (0 to CHART_KINDS − 1, or CHART_LOST for a row that was
   not right); `best` makes the mark stand out. */
void svg_mark(svg *, double x, double y, int kind, bool best, const char *title);
void svg_text(svg *, double x, double y, const char *anchor, const char *class_name,
              const char *text);
void svg_line(svg *, double x1, double y1, double x2, double y2, const char *class_name);

/* Which mark means what, below a chart: `count` names, at most CHART_KINDS, and CHART_LOST's. */
void svg_legend(text *, const char *const *names, int count, bool lost);

#endif
