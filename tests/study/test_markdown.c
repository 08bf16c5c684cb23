#include "test.h"

#include <daedalus/daedalus.h>

#include <string.h>

static char page[262144];

static int remember(const char *text, size_t length, void *user)
{
    (void)user;
    size_t used = strlen(page);
    if (used + length >= sizeof page) return -1;
    memcpy(page + used, text, length);
    page[used + length] = 0;
    return 0;
}

static const char *html(const char *markdown)
{
    page[0] = 0;
    assert_int_equal(dae_markdown_html(markdown, strlen(markdown), 1, remember, NULL), DAE_OK);
    return page;
}

static void markdown_escapes_html(void **state)
{
    (void)state;
    assert_string_equal(html("a <script>alert(\"1\")</script> & 'b'\n"),
                        "<p>a &lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; &#39;b&#39;</p>\n");
    assert_string_equal(html("    y' < 0 & x\n"), "<pre class=\"equations\">y&#39; &lt; 0 &amp; x\n</pre>\n");
    assert_string_equal(html("`a<b`"), "<p><code>a&lt;b</code></p>\n");
    page[0] = 0;
    assert_int_equal(dae_html_text("<\"&'>", 5, remember, NULL), DAE_OK);
    assert_string_equal(page, "&lt;&quot;&amp;&#39;&gt;");
}

static void markdown_knows_blocks(void **state)
{
    (void)state;
    assert_string_equal(html("# Title\n\none\ntwo\n\nthree\n"),
                        "<h2>Title</h2>\n<p>one\ntwo</p>\n<p>three</p>\n");
    assert_string_equal(html("- a\n  b\n- c\n\n1. d\n"),
                        "<ul>\n<li>a\nb</li>\n<li>c</li>\n</ul>\n<ol>\n<li>d</li>\n</ol>\n");
    assert_string_equal(
        html("| a | b |\n| --- | ---: |\n| `x|y` | 2 |\n"),
        "<table>\n<tr><th>a</th><th>b</th></tr>\n<tr><td><code>x|y</code></td><td>2</td></tr>\n</table>\n");
    assert_string_equal(html("```c\nint a = 1 < 2;\n```\nrest"),
                        "<pre><code>int a = 1 &lt; 2;\n</code></pre>\n<p>rest</p>\n");
    assert_string_equal(html("    a\n\n    b\n\nc\n"), "<pre class=\"equations\">a\n\nb\n</pre>\n<p>c</p>\n");
    /* blocks right behind a line of text; "a|b" is text */
    const char *text = html("one\n| a |\n| --- |\n| 1 |\n");
    assert_true(!strncmp(text, "<p>one</p>\n<table", 17));
    assert_string_equal(html("one\na|b\n"), "<p>one\na|b</p>\n");
    assert_true(!strncmp(html("one\n- a\n"), "<p>one</p>\n<ul>", 15));
}

static void markdown_knows_marks_in_lines(void **state)
{
    (void)state;
    assert_string_equal(html("**bold\nface** and *slanted*, 2 * 3 * 4"),
                        "<p><strong>bold\nface</strong> and <em>slanted</em>, 2 * 3 * 4</p>\n");
    assert_string_equal(html("[us](https://a.example/?x=1&y=2) [here](docs/x.md) [bad](javascript:alert(1))"),
                        "<p><a href=\"https://a.example/?x=1&amp;y=2\">us</a> here bad)</p>\n");
    assert_string_equal(html("x_1 and y[2] \\* `open"), "<p>x_1 and y[2] * `open</p>\n");
}

static void markdown_ends_with_any_text(void **state)
{
    static const char *const odd[] = {"",     "#",  "# ", "|", "||", "| a", "- ", "1.", "1. ", "```",
                                      "    ", "**", "*",  "[", "[]", "[](", "!",  "![", "\\",  "`"};
    (void)state;
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) html(odd[i]);
}

static int count(const char *text, const char *word)
{
    int n = 0;
    while ((text = strstr(text, word))) {
        text += strlen(word);
        n++;
    }
    return n;
}

/* Every tag that is opened is closed, on the page of every problem. */
static void markdown_balances_tags_of_every_page(void **state)
{
    static const char *const tag[] = {"p",  "pre",  "table",  "tr", "td", "th", "ul",
                                      "li", "code", "strong", "em", "h3", "h2"};
    (void)state;
    for (int i = 0; dae_problem_get(i); i++) {
        const char *doc = dae_problem_doc(dae_problem_get(i)->name);
        if (!doc) continue;
        html(doc);
        for (size_t k = 0; k < sizeof tag / sizeof *tag; k++) {
            char open[16], with[16], close[16];
            snprintf(open, sizeof open, "<%s>", tag[k]);
            snprintf(with, sizeof with, "<%s ", tag[k]);
            snprintf(close, sizeof close, "</%s>", tag[k]);
            assert_int_equal(count(page, open) + count(page, with), count(page, close));
        }
        assert_true(count(page, "<h3>") > 2);
        assert_null(strstr(page, "**"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(markdown_escapes_html),
        cmocka_unit_test(markdown_knows_blocks),
        cmocka_unit_test(markdown_knows_marks_in_lines),
        cmocka_unit_test(markdown_ends_with_any_text),
        cmocka_unit_test(markdown_balances_tags_of_every_page),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
