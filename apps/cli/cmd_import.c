/* daedalus import: a robot of another program as a model file. */
#include "cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void tell(const char *text, void *user)
{
    fprintf(stderr, "daedalus import: %s\n", text);
    (void)user;
}

static int convert(cli_args *args, const dae_setting *start, int nstart)
{
    size_t length;
    dae_error err = {0};
    const char *path = args->argument[0], *out = cli_value(args, "out");
    int status = EXIT_DONE;
    char *text = cli_read_file(path, &length);
    if (!text) return cli_wrong(args, "%s: %s", path, strerror(errno));
    mbs_import_options o = {.floating = cli_has(args, "floating"), .start = start, .nstart = nstart};
    if (!cli_has(args, "quiet")) o.note = tell;
    cli_draft file = {.file = stdout};
    if (out && cli_draft_begin(args, &file, "--out", out)) {
        free(text);
        return EXIT_USAGE;
    }
    dae_status s = mbs_import(text, length, path, &o, cli_write_file, file.file, &err);
    free(text);
    if (out && s < 0) cli_draft_drop(&file);
    else if (out) status = cli_draft_end(args, &file, 0);
    if (s < 0) return cli_wrong(args, "%s", err.text);
    return status;
}

static int run(cli_args *args)
{
    dae_setting *start;
    int nstart, status = cli_settings(args, "set", &start, &nstart);
    if (status) return status;
    status = convert(args, start, nstart);
    free(start);
    return status;
}

static const cli_option options[] = {
    {"set", "JOINT=Q[:SPEED]", NULL,
     "position and speed of a joint at the start; can be given more than once"},
    {"floating", NULL, NULL, "the base moves freely instead of standing on the ground"},
    {"out", "FILE", "file", "write the model here instead of to standard output"},
    {"quiet", NULL, NULL, "do not say what was guessed or left out"},
    {NULL, NULL, NULL, NULL},
};
static const char notes[] = "URDF: links that are fixed to each other become one body; limits become stops, "
                            "damping and friction\n"
                            "forces, mimic joints gears; visuals are drawn (STL, OBJ; other meshes as "
                            "boxes). MJCF: bodies, joints, geoms, defaults,\n"
                            "equalities. What is guessed or left out is told, one line each. `daedalus run "
                            "ROBOT.urdf` does the same on the way.\n";
static const char *const examples[] = {"import arm.urdf > arm.json", "a robot as a model file",
                                       "import arm.urdf --set elbow=1.2:0.5 --out arm.json",
                                       "with its elbow at 1.2 rad, turning with 0.5 rad/s", NULL};
const cli_command cli_import = {"import", "a robot of another program (URDF, MJCF) as a model file",
                                "FILE",   NULL,
                                1,        1,
                                options,  examples,
                                notes,    run};
