/* Reports: documentation pages as HTML, pictures of tables, the growth of cost with size. As in experiment.h nothing here
 * prints or opens files: text goes to a callback. */
#ifndef DAEDALUS_REPORT_H
#define DAEDALUS_REPORT_H

#include <daedalus/study.h>

DAE_BEGIN_DECLS

/* ---- Pages --------------------------------------------------------------------------------------- */

/* Text in HTML: & < > " ' are written as entities. */
DAE_API dae_status dae_html_text(const char *text, size_t length, dae_write_fn *write, void *user);
/* A file of this name in an address: a link to it in the same folder, whatever the name is. */
DAE_API dae_status dae_html_address(const char *name, dae_write_fn *write, void *user);
/* A file's name made of any text: letters, digits and - _ . stay, all else becomes _, so that it names no other folder. It is
 * not empty and does not begin with a dot or a dash. size >= 2. */
DAE_API void dae_file_name(const char *text, char *name, size_t size);
/* The Markdown of the documentation pages as HTML: headings, paragraphs, lists, tables, indented and fenced blocks
 * (class "equations" where they are indented), links, emphasis, code. Headings become heading_shift levels lower. What is
 * HTML in the text is shown, not interpreted. */
DAE_API dae_status dae_markdown_html(const char *text, size_t length, int heading_shift, dae_write_fn *write,
                                     void *user);

/* ---- Pictures of tables -------------------------------------------------------------------------- */

typedef struct dae_table_plot_options {
    int x;        /* column of the abscissa */
    const int *y; /* columns that are drawn, ny of them */
    int ny;
    int log_x, log_y; /* logarithmic axes */
    int lines;        /* 0: points where x goes back and forth */
    const char *title, *terminal;
} dae_table_plot_options;

/* What is worth drawing over column x: the first `most` others that are numbers and vary. Returns their number. */
DAE_API int dae_table_plot_choose(const dae_table *t, int x, int *y, int most);
/* A gnuplot script: columns of one unit and of like size share a panel, panels are stacked. DAE_ERR_INPUT: fewer than two
 * points. */
DAE_API dae_status dae_table_plot(const dae_table *t, const dae_table_plot_options *opt, dae_write_fn *write,
                                  void *user);

/* ---- Growth of cost ------------------------------------------------------------------------------ */

/* cost = factor * size^exponent, by least squares in the logarithms. */
typedef struct dae_growth {
    int count; /* of points used: both positive and finite */
    double exponent, factor;
    double error; /* standard error of the exponent, NAN with fewer than three points */
    double last;  /* exponent between the two largest sizes */
} dae_growth;
/* DAE_ERR_INPUT: fewer than two different sizes. */
DAE_API dae_status dae_growth_fit(const double *size, const double *cost, int n, dae_growth *out);

typedef struct dae_growth_line {
    const char *label;
    const double *size, *cost; /* n each; NAN: the run failed */
    int n;
} dae_growth_line;
/* A gnuplot script: both axes logarithmic, points, fitted lines, exponents in the key. DAE_ERR_INPUT: nothing to draw. */
DAE_API dae_status dae_growth_plot(const dae_growth_line *line, int count, const char *title,
                                   const char *size_label, const char *terminal, dae_write_fn *write,
                                   void *user);

DAE_END_DECLS

#endif
