/* A branch as a table and as a picture. */
#include <daedalus/steady.h>

#include "core/text.h"

#include <math.h>
#include <string.h>

dae_table *dae_branch_table(const dae_branch *b, const dae_problem *p)
{
    int n = b->n, k = dae_parameter_find(p, b->parameter);
    char buffer[24];
    dae_table *t = dae_table_create(n + 6, b->count);
    if (!t) return NULL;
    dae_table_column(t, 0, b->parameter, k >= 0 ? p->info->parameter[k].unit : "");
    for (int i = 0; i < n; i++)
        dae_table_column(t, 1 + i, dae_component_name(p, i, buffer, sizeof buffer), dae_component_unit(p, i));
    static const char *const last[] = {"re", "im", "unstable", "frequency", "kind"};
    for (int i = 0; i < 5; i++) dae_table_column(t, 1 + n + i, last[i], "");
    dae_table_mark_words(t, "kind");
    for (int j = 0; j < b->count; j++) {
        dae_table_set(t, j, 0, b->value[j]);
        for (int i = 0; i < n; i++) dae_table_set(t, j, 1 + i, b->y[(size_t)j * (size_t)n + (size_t)i]);
        dae_table_set(t, j, 1 + n, b->re[j]);
        dae_table_set(t, j, 2 + n, b->im[j]);
        dae_table_set(t, j, 3 + n, b->unstable[j]);
        dae_table_set(t, j, 4 + n, b->frequency[j]);
        dae_table_set_text(t, j, 5 + n, b->kind[j] ? dae_branch_kind_name(b->kind[j]) : "-");
    }
    if (p->info && p->info->title) dae_table_note(t, "title", p->info->title, 0);
    dae_table_note(t, "parameter", b->parameter, 0);
    if (!t->failed) return t;
    dae_table_destroy(t);
    return NULL;
}

/* Parts of one stability as lines with gaps between; a part reaches the first point of the next. */
static void curve(dae_text *x, const dae_branch *b, int i, int stable)
{
    int open = 0;
    for (int j = 0; j < b->count; j++) {
        int mine = (b->unstable[j] <= 0) == stable, before = j > 0 && (b->unstable[j - 1] <= 0) == stable;
        if (mine || before)
            dae_text_print(x, "%.10g %.10g\n", b->value[j], b->y[(size_t)j * (size_t)b->n + (size_t)i]);
        if (!mine && before) dae_text_print(x, "\n");
        open |= mine;
    }
    if (!open) dae_text_print(x, "%.10g NaN\n", b->count ? b->value[0] : 0.0);
    dae_text_print(x, "e\n");
}

static void marks(dae_text *x, const dae_branch *b, int i, dae_branch_kind kind)
{
    int any = 0;
    for (int j = 0; j < b->count; j++) {
        if (b->kind[j] != kind) continue;
        dae_text_print(x, "%.10g %.10g\n", b->value[j], b->y[(size_t)j * (size_t)b->n + (size_t)i]);
        any = 1;
    }
    if (!any) dae_text_print(x, "%.10g NaN\n", b->count ? b->value[0] : 0.0);
    dae_text_print(x, "e\n");
}

dae_status dae_branch_plot(const dae_branch *b, const dae_problem *p, int i, const char *terminal,
                           dae_write_fn *write, void *user)
{
    dae_text x = {.write = write, .user = user};
    char buffer[24];
    const char *name = i >= 0 && i < b->n ? dae_component_name(p, i, buffer, sizeof buffer) : NULL;
    if (!name) return DAE_ERR_INPUT;
    dae_text_terminal(&x, terminal, 800, 500);
    dae_text_print(&x, "set grid\nset key outside top center horizontal\nset xlabel ");
    dae_text_quoted(&x, b->parameter);
    dae_text_print(&x, " noenhanced\nset ylabel ");
    dae_text_quoted(&x, name);
    dae_text_print(&x, " noenhanced\n"
                       "plot '-' with lines lw 2 lc rgb '#1f77b4' title 'stable', "
                       "'-' with lines lw 2 dt 2 lc rgb '#d62728' title 'unstable', "
                       "'-' with points pt 7 ps 1 lc rgb '#333333' title 'fold', "
                       "'-' with points pt 5 ps 1 lc rgb '#2ca02c' title 'Hopf', "
                       "'-' with points pt 9 ps 1 lc rgb '#9467bd' title 'branches cross'\n");
    curve(&x, b, i, 1);
    curve(&x, b, i, 0);
    marks(&x, b, i, DAE_BRANCH_FOLD);
    marks(&x, b, i, DAE_BRANCH_HOPF);
    marks(&x, b, i, DAE_BRANCH_CROSS);
    return dae_text_end(&x);
}
