/* What users write never leaves the place where it is put. */
#include "test.h"

#include "core/escape.h"
#include "core/sha256.h"

typedef struct sink {
    char text[4096];
    size_t length;
} sink;

static int take(const char *text, size_t length, void *user)
{
    sink *s = user;
    if (s->length + length >= sizeof s->text) return -1;
    memcpy(s->text + s->length, text, length);
    s->length += length;
    s->text[s->length] = 0;
    return 0;
}

typedef int escape_fn(const char *text, size_t length, dae_put_fn *put, void *user);

static void expect(escape_fn *escape, const char *text, const char *wanted)
{
    sink s = {.length = 0};
    s.text[0] = 0;
    assert_int_equal(escape(text, strlen(text), take, &s), 0);
    assert_string_equal(s.text, wanted);
}

static void html_shows_markup(void **state)
{
    (void)state;
    expect(dae_escape_html, "a<b & \"c\" 'd'>", "a&lt;b &amp; &quot;c&quot; &#39;d&#39;&gt;");
    expect(dae_escape_html, "\x1b[31m\n\xc3\xa4", " [31m\n\xc3\xa4");
}

static void json_is_safe_in_a_script(void **state)
{
    (void)state;
    expect(dae_escape_json, "</script><!--&", "\"\\u003c/script\\u003e\\u003c!--\\u0026\"");
    expect(dae_escape_json, "a\"b\\c\n", "\"a\\\"b\\\\c\\u000a\"");
    expect(dae_escape_json, "\xe2\x80\xa8\xe2\x80\xa9\xe2\x82\xac", "\"\\u2028\\u2029\xe2\x82\xac\"");
    /* lone bytes, an overlong form, a surrogate, a cut letter, beyond the last */
    expect(dae_escape_json, "\xff\xc0\xaf\xed\xa0\x80\xe2\x82",
           "\"\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd\"");
    expect(dae_escape_json, "\xf0\x9f\x98\x80\xf4\x90\x80\x80",
           "\"\xf0\x9f\x98\x80\\ufffd\\ufffd\\ufffd\\ufffd\"");
}

static void gnuplot_runs_nothing(void **state)
{
    (void)state;
    expect(dae_escape_gnuplot, "a\"b`ls`\\n\nplot", "\"a\\\"b\\`ls\\`\\\\n plot\"");
}

static void latex_is_text(void **state)
{
    (void)state;
    expect(dae_escape_latex, "a_b 5% \\input{x}", "a\\_b 5\\% \\textbackslash{}input\\{x\\}");
}

static void address_has_no_scheme(void **state)
{
    (void)state;
    expect(dae_escape_address, "javascript:a/b?c#d%", "javascript%3Aa%2Fb%3Fc%23d%25");
}

static void file_names_stay_in_their_folder(void **state)
{
    char name[16];
    (void)state;
    dae_escape_file_name("../../x", name, sizeof name);
    assert_string_equal(name, "_._.._x");
    dae_escape_file_name("..", name, sizeof name);
    assert_string_equal(name, "_.");
    dae_escape_file_name("", name, sizeof name);
    assert_string_equal(name, "_");
    dae_escape_file_name("-rf", name, sizeof name);
    assert_string_equal(name, "_rf");
    dae_escape_file_name("seven_body-2.5", name, sizeof name);
    assert_string_equal(name, "seven_body-2.5");
    dae_escape_file_name("a very long name of a model", name, sizeof name);
    assert_string_equal(name, "a_very_long_nam");
}

static void a_write_that_fails_is_told(void **state)
{
    static char much[8192];
    sink s = {.length = 0};
    (void)state;
    memset(much, '<', sizeof much);
    assert_int_equal(dae_escape_html(much, sizeof much, take, &s), -1);
    s.length = 0;
    assert_int_equal(dae_escape_json(much, sizeof much, take, &s), -1);
}

/* [FIPS 180-4] examples: "abc", the two-block message, the empty one. */
static void sha256_of_known_messages(void **state)
{
    static const struct {
        const char *text, *base64;
    } known[] = {{"abc", "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0="},
                 {"", "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="},
                 {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                  "JI1qYdIGOLjlwCaTDD5gOaM85Flk/yFn9uzt1BnbBsE="}};
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        size_t n = strlen(known[i].text);
        for (size_t cut = 0; cut <= n; cut++) { /* in two pieces */
            dae_sha256 h;
            unsigned char sum[DAE_SHA256_BYTES];
            char text[45];
            dae_sha256_begin(&h);
            dae_sha256_add(&h, known[i].text, cut);
            dae_sha256_add(&h, known[i].text + cut, n - cut);
            dae_sha256_end(&h, sum);
            dae_sha256_base64(sum, text);
            assert_string_equal(text, known[i].base64);
        }
    }
}

static void a_byte_order_mark_is_known(void **state)
{
    (void)state;
    assert_int_equal(dae_utf8_mark("\xEF\xBB\xBF{}", 5), 3);
    assert_int_equal(dae_utf8_mark("\xEF\xBB", 2), 0);
    assert_int_equal(dae_utf8_mark("{}", 2), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(html_shows_markup),          cmocka_unit_test(json_is_safe_in_a_script),
        cmocka_unit_test(gnuplot_runs_nothing),       cmocka_unit_test(latex_is_text),
        cmocka_unit_test(address_has_no_scheme),      cmocka_unit_test(file_names_stay_in_their_folder),
        cmocka_unit_test(a_write_that_fails_is_told), cmocka_unit_test(sha256_of_known_messages),
        cmocka_unit_test(a_byte_order_mark_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
