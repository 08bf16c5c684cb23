#include "test.h"

#include "core/file.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* Lines of 0, 1, 1022, 1023, 1024 and 5000 letters: those across the ends of the buffer are whole, those longer than a line cut. */
static void lines_are_read_across_the_buffer(void **state)
{
    static const size_t length[] = {0, 1, 1022, 1023, 1024, 5000, 3, 0};
    char path[] = "lines_XXXXXX", letter = 'a';
    int fd = mkstemp(path);
    (void)state;
    assert_true(fd >= 0);
    for (size_t k = 0; k < sizeof length / sizeof *length; k++, letter++) {
        for (size_t i = 0; i < length[k]; i++) assert_int_equal(write(fd, &letter, 1), 1);
        assert_int_equal(write(fd, "\n", 1), 1);
    }
    assert_int_equal(write(fd, "end", 3), 3); /* without an end of line */
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    dae_lines x = {.descriptor = fd};
    letter = 'a';
    for (size_t k = 0; k < sizeof length / sizeof *length; k++, letter++) {
        const char *line = dae_lines_next(&x);
        size_t kept = length[k] < sizeof x.line ? length[k] : sizeof x.line - 1;
        assert_non_null(line);
        assert_int_equal(strlen(line), kept);
        for (size_t i = 0; i < kept; i++) assert_int_equal(line[i], letter);
    }
    assert_string_equal(dae_lines_next(&x), "end");
    assert_null(dae_lines_next(&x));
    close(fd);
    unlink(path);
}

static void nothing_to_read_is_no_line(void **state)
{
    dae_lines x = {.descriptor = -1};
    (void)state;
    assert_null(dae_lines_next(&x));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(lines_are_read_across_the_buffer),
                                       cmocka_unit_test(nothing_to_read_is_no_line)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
