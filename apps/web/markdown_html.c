/* markdown_html FILE: a page of docs/ as HTML on standard output, for the build of the web page. */
#include <daedalus/daedalus.h>

#include <stdio.h>
#include <stdlib.h>

static int put(const char *text, size_t length, void *user)
{
    return fwrite(text, 1, length, user) == length ? 0 : -1;
}

int main(int argc, char **argv)
{
    FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
    if (!file) return fprintf(stderr, "usage: markdown_html FILE\n"), 2;
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    char *text = size >= 0 ? malloc((size_t)size + 1) : NULL;
    int bad = !text || fread(text, 1, (size_t)size, file) != (size_t)size;
    fclose(file);
    if (!bad) bad = dae_markdown_html(text, (size_t)size, 0, put, stdout) < 0;
    free(text);
    return bad;
}
