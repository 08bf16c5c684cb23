/* Report pages through the library: what they show of what they get. */
#include "test.h"

#include <daedalus/daedalus.h>

typedef struct memory {
    char *text;
    size_t length;
} memory;

static int remember(const char *text, size_t length, void *user)
{
    memory *m = user;
    m->text = realloc(m->text, m->length + length + 1);
    assert_non_null(m->text);
    memcpy(m->text + m->length, text, length);
    m->length += length;
    m->text[m->length] = 0;
    return 0;
}

typedef struct easel {
    char drawn[256];
    int refuse;
} easel;

/* Draws nothing: notes the name, and that the script is one. */
static dae_status draw(const char *what, dae_script_fn *script, const void *data, dae_write_fn *write,
                       void *to, void *user)
{
    easel *e = user;
    memory m = {0};
    if (e->refuse) return DAE_ERR_FILE;
    assert_int_equal(script(data, "svg", remember, &m), DAE_OK);
    assert_non_null(strstr(m.text, "plot"));
    free(m.text);
    strcat(e->drawn, what);
    strcat(e->drawn, " ");
    return write("<svg/>", 6, to) < 0 ? DAE_ERR_MEMORY : DAE_OK;
}

/* A failed run of a study with text that would be HTML. */
static dae_measurement measured(double rtol, double scd, dae_status status)
{
    dae_measurement m = {
        .rtol = rtol, .scd = scd, .mescd = scd, .cpu_seconds = 1e-3, .f = 100, .status = status};
    strcpy(m.problem, "hires");
    strcpy(m.solver, "radau5");
    if (status < 0) strcpy(m.message, "a <b> & c");
    return m;
}

static void a_page_shows_what_it_gets(void **state)
{
    (void)state;
    dae_error err = {0};
    dae_problem *p = dae_problem_open("hires", NULL, 0, &err);
    dae_run_options o = dae_run_options_default(p);
    o.trajectory = DAE_TRAJECTORY_STEPS;
    dae_run_result *run = dae_run(p, &o, &err);
    memory json = {0}, out = {0}, about = {0}, index = {0};
    dae_run_json(run, remember, &json);
    const dae_measurement m[] = {measured(1e-4, 3, DAE_OK), measured(1e-6, 5, DAE_OK),
                                 measured(1e-8, NAN, DAE_ERR_STEP_TOO_SMALL)};
    easel e = {.refuse = 0};
    dae_report r = {.name = "hires",
                    .problem = p,
                    .run = json.text,
                    .layout = "the layout",
                    .t = run->point_t,
                    .y = run->point_y,
                    .npoint = run->npoint,
                    .m = m,
                    .count = 3,
                    .draw = draw,
                    .user = &e};
    int failed = -1;
    assert_int_equal(dae_report_page(&r, remember, &out, &failed), DAE_OK);
    assert_int_equal(failed, 1);
    assert_string_equal(e.drawn, "solution.svg workprec.svg ");
    assert_non_null(strstr(out.text, "data:image/svg+xml;base64,PHN2Zy8+")); /* <svg/> */
    assert_non_null(strstr(out.text, "a &lt;b&gt; &amp; c"));
    assert_non_null(strstr(out.text, "<pre>the layout</pre>"));
    assert_non_null(strstr(out.text, "Content-Security-Policy"));
    assert_non_null(strstr(out.text, "</body></html>\n"));
    assert_non_null(strstr(out.text, "<td class=\"best\">1 ms</td>"));
    /* What is kept beside it makes a line of the index; without the figures of a finished page it makes none. */
    assert_int_equal(dae_report_about(&r, failed, remember, &about), DAE_OK);
    const char *one = about.text;
    assert_int_equal(dae_report_index(&one, 1, remember, &index), DAE_OK);
    assert_non_null(strstr(index.text, "<a href=\"hires.html\">hires</a>"));
    assert_non_null(strstr(index.text, "<td>3</td><td class=\"worse\">1</td>"));
    about.length = index.length = 0;
    assert_int_equal(dae_report_about(&r, -1, remember, &about), DAE_OK);
    one = about.text;
    assert_int_equal(dae_report_index(&one, 1, remember, &index), DAE_OK);
    assert_null(strstr(index.text, "hires.html"));
    e.refuse = 1;
    assert_int_equal(dae_report_page(&r, remember, &out, NULL), DAE_ERR_FILE);
    free(json.text);
    free(out.text);
    free(about.text);
    free(index.text);
    dae_run_destroy(run);
    dae_problem_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_page_shows_what_it_gets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
