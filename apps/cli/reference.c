/* The cache of reference solutions: a store of one file each below $XDG_CACHE_HOME/daedalus. */
#include "cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int cli_cache_path(const char *name, char *path, size_t size)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int n = -1;
    if (cache && cache[0]) n = snprintf(path, size, "%s/daedalus/%s", cache, name);
    else if (home && home[0]) n = snprintf(path, size, "%s/.cache/daedalus/%s", home, name);
    return n > 0 && (size_t)n < size ? 0 : -1;
}

static int get(const char *name, dae_write_fn *write, void *to, void *user)
{
    char path[4096];
    size_t length = 0;
    (void)user;
    errno = 0;
    char *text = cli_cache_path(name, path, sizeof path) == 0 ? cli_read_file(path, &length) : NULL;
    int bad = !text ? (errno == ENOMEM ? DAE_ERR_MEMORY : 1) : write(text, length, to) < 0 ? -1 : 0;
    free(text);
    return bad;
}

/* All folders of a path; they may be there. */
static int make_folders(char *path)
{
    for (char *c = path + 1; *c; c++) {
        if (*c != '/') continue;
        *c = 0;
        int bad = mkdir(path, 0777) != 0 && errno != EEXIST;
        *c = '/';
        if (bad) return -1;
    }
    return 0;
}

/* Tells what is wrong. */
static int put(const char *name, const char *text, size_t length, void *user)
{
    const cli_args *args = user;
    char path[4096];
    cli_draft d;
    int bad = 1;
    if (cli_cache_path(name, path, sizeof path) < 0)
        cli_wrong(args, "there is no folder for the cache: XDG_CACHE_HOME and HOME are not set");
    else if (make_folders(path) != 0) cli_wrong(args, "%s: %s", path, strerror(errno));
    else if (!cli_draft_begin(args, &d, NULL, path))
        bad = cli_draft_end(args, &d, fwrite(text, 1, length, d.file) != length);
    return bad ? -1 : 0;
}

dae_store cli_cache(cli_args *args)
{
    return (dae_store){get, put, args};
}

dae_reference *cli_reference_find(cli_args *args, const dae_problem *p)
{
    dae_store cache = cli_cache(args);
    dae_error err = {0};
    char name[128], path[4096] = "";
    dae_reference *r = p->info ? dae_reference_find(p, &cache, &err) : NULL;
    if (!r && err.status == DAE_ERR_MEMORY) {
        cli_wrong(args, "out of memory");
    } else if (!r && err.status < 0) {
        dae_reference_name(p, name, sizeof name);
        cli_cache_path(name, path, sizeof path);
        fprintf(stderr, "daedalus: %s is not used: %s\n", path, err.text);
    }
    return r;
}

int cli_reference_use(cli_args *args, dae_problem *p, dae_reference **r)
{
    const char *mode = cli_value(args, "reference");
    *r = NULL;
    if (mode && strcmp(mode, "auto") != 0 && strcmp(mode, "none") != 0)
        return cli_wrong(args, "--reference %s: expected auto or none", mode);
    if (mode && !strcmp(mode, "none")) p->reference = NULL;
    if ((mode && !strcmp(mode, "none")) || p->reference) return 0;
    *r = cli_reference_find(args, p);
    if (*r) dae_reference_use(*r, p);
    return cli_starved(0) ? EXIT_USAGE : 0;
}
