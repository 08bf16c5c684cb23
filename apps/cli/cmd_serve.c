/* daedalus serve: the web page with native runs behind it, and the same as a JSON API. */
#include "serve.h"

#include <string.h>

static int run(cli_args *args)
{
    serve_options o = {.host = "127.0.0.1",
                       .port = 8080,
                       .max_seconds = 60,
                       .max_memory = 1024,
                       .store_size = 512,
                       .max_body = 1 << 20,
                       .rate = 200,
                       .drain = 30};
    const struct {
        const char *name;
        long least, most, *value;
    } number[] = {{"port", 0, 65535, &o.port},
                  {"jobs", 1, 1024, &o.jobs},
                  {"max-seconds", 1, 86400, &o.max_seconds},
                  {"max-memory", 16, 1 << 20, &o.max_memory},
                  {"store-size", 1, 1 << 20, &o.store_size},
                  {"max-body", 1024, 1 << 28, &o.max_body},
                  {"rate", 1, 1000000, &o.rate},
                  {"drain", 0, 86400, &o.drain}};
    for (size_t i = 0; i < sizeof number / sizeof *number; i++) {
        if (cli_whole(args, number[i].name, number[i].least, number[i].most, number[i].value))
            return EXIT_USAGE;
    }
    if (cli_value(args, "host")) o.host = cli_value(args, "host");
    o.token = cli_value(args, "token");
    o.site = cli_value(args, "site");
    o.store = cli_value(args, "store");
    o.allow_code = cli_has(args, "allow-code");
    if (o.token && strlen(o.token) < 16) return cli_wrong(args, "--token: at least 16 characters");
    return cli_serve(args, &o);
}

static const cli_option options[] = {
    {"port", "N", NULL, "where to listen (8080); 0: any free one, which is told"},
    {"host", "ADDRESS", NULL,
     "address to listen on (127.0.0.1); others need a token, which is made and told"},
    {"token", "TEXT", NULL, "what clients must send as \"Authorization: Bearer TEXT\""},
    {"jobs", "N", NULL, "runs at the same time (the number of processors)"},
    {"max-seconds", "S", NULL, "processor time of one run (60)"},
    {"max-memory", "M", NULL, "memory of one run in MiB (1024)"},
    {"max-body", "N", NULL, "largest request in bytes (1048576)"},
    {"rate", "N", NULL, "requests per second of one address (200)"},
    {"site", "DIR", "file", "folder of the page that `make web` made"},
    {"store", "DIR", "file", "folder of the results; they outlive the server"},
    {"store-size", "M", NULL, "room for results in MiB (512): the oldest go first"},
    {"allow-code", NULL, NULL, "take problems written in C and Fortran (docs/own-problem.md); needs bubblewrap"},
    {"drain", "S", NULL, "seconds that SIGTERM waits for runs that are going on (30)"},
    {NULL, NULL, NULL, NULL},
};
const cli_command cli_serve_command = {
    "serve",
    "the web page with native runs, and a JSON API",
    "",
    NULL,
    0,
    0,
    options,
    NULL,
    "`daedalus serve` alone listens on http://127.0.0.1:8080; `daedalus serve --port 9000 --jobs 2 "
    "--max-seconds 20` has other\n"
    "limits. Every run is a process of its own without network, in an empty folder, with limits on time and "
    "memory "
    "and a\n"
    "filter of system calls. docs/server.md describes the API. SIGTERM drains: runs end, results are kept.\n",
    run};
