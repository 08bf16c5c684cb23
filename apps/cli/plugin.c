/* --plugin: own methods from shared objects. They are there for one command line, from its start to its end. */
#include "cli.h"

#include <string.h>

enum { most_files = 16, most_methods = 64 };

static dae_plugin *file[most_files];
static const dae_method *own[most_methods + 1]; /* ended by NULL */
static int nfile, nown;

const dae_method *const *cli_own(void)
{
    return nown ? own : NULL;
}

const dae_method_info *cli_method_at(int i)
{
    int n = dae_method_count();
    if (i >= n) return i - n < nown ? &own[i - n]->info : NULL;
    return dae_method_get(i);
}

const dae_method_info *cli_method(const char *name)
{
    return dae_options_method(&(dae_options){.own = cli_own()}, name);
}

int cli_plugins_open(const cli_args *args)
{
    const char *path;
    for (int i = 0; (path = cli_value_at(args, "plugin", i)); i++) {
        dae_error err = {0};
        if (nfile == most_files) return cli_wrong(args, "--plugin: at most %d files", most_files);
        file[nfile] = dae_plugin_open(path, &err);
        if (!file[nfile]) return cli_wrong(args, "--plugin %s", err.text);
        for (const dae_method *const *m = dae_plugin_list(file[nfile++]); *m; m++) {
            if (nown == most_methods) return cli_wrong(args, "--plugin: at most %d methods", most_methods);
            if (cli_method((*m)->info.name))
                return cli_wrong(args, "--plugin %s: there is a method %s already", path, (*m)->info.name);
            own[nown++] = *m;
        }
    }
    return 0;
}

void cli_plugins_close(void)
{
    memset(own, 0, sizeof own);
    nown = 0;
    while (nfile > 0) dae_plugin_close(file[--nfile]);
}
