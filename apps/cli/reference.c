/* The cache of reference solutions: one file per problem and parameters below $XDG_CACHE_HOME/daedalus. */
#include "cli.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* FNV-1a */
static uint64_t hash(const char *text)
{
    uint64_t h = 14695981039346656037u;
    for (; *text; text++) h = (h ^ (unsigned char)*text) * 1099511628211u;
    return h;
}

int cli_reference_path(const dae_problem *p, char *path, size_t size)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    char key[2048], name[64]; /* a model has any name */
    int n;
    dae_file_name(p->info->name, name, sizeof name);
    dae_reference_key(p, key, sizeof key);
    unsigned long long number = (unsigned long long)hash(key) ^ p->hash; /* the key of a model is its name */
    if (cache && cache[0]) {
        n = snprintf(path, size, "%s/daedalus/%s-%016llx.json", cache, name, number);
    } else if (home && home[0]) {
        n = snprintf(path, size, "%s/.cache/daedalus/%s-%016llx.json", home, name, number);
    } else {
        return -1;
    }
    return n > 0 && (size_t)n < size ? 0 : -1;
}

dae_reference *cli_reference_find(const dae_problem *p)
{
    char path[4096];
    if (!p->info || cli_reference_path(p, path, sizeof path) < 0) return NULL;
    size_t used = 0;
    char *text = cli_read_file(path, &used);
    if (!text) return NULL;
    dae_error err = {0};
    dae_reference *r = dae_reference_read(p, text, used, &err);
    if (!r) fprintf(stderr, "daedalus: %s is not used: %s\n", path, err.text);
    free(text);
    return r;
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

int cli_reference_keep(const cli_args *args, const dae_reference *r, const dae_problem *p, char *path,
                       size_t size)
{
    cli_draft d;
    if (cli_reference_path(p, path, size) < 0)
        return cli_wrong(args, "there is no folder for the cache: XDG_CACHE_HOME and HOME are not set");
    if (make_folders(path) != 0) return cli_wrong(args, "%s: %s", path, strerror(errno));
    if (cli_draft_begin(args, &d, NULL, path)) return EXIT_USAGE;
    return cli_draft_end(args, &d, dae_reference_write(r, p, cli_write_file, d.file) < 0);
}

int cli_reference_use(const cli_args *args, dae_problem *p, dae_reference **r)
{
    const char *mode = cli_value(args, "reference");
    *r = NULL;
    if (mode && strcmp(mode, "auto") != 0 && strcmp(mode, "none") != 0)
        return cli_wrong(args, "--reference %s: expected auto or none", mode);
    if (mode && !strcmp(mode, "none")) p->reference = NULL;
    if ((mode && !strcmp(mode, "none")) || p->reference) return 0;
    *r = cli_reference_find(p);
    if (*r) dae_reference_use(*r, p);
    return 0;
}
