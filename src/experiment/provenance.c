/* Where numbers come from. What the build knows comes as definitions from CMake: DAE_BUILD_FLAGS, DAE_SUNDIALS_VERSION. */
#include <daedalus/provenance.h>

#include "core/escape.h"
#include "core/file.h"
#include "core/text.h"
#include "linalg/about.h"

#include <daedalus/version.h>

#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#ifndef DAE_BUILD_FLAGS
#define DAE_BUILD_FLAGS ""
#endif
#if defined(__clang__)
#define DAE_COMPILER "clang " __clang_version__
#elif defined(__GNUC__)
#define DAE_COMPILER "gcc " __VERSION__
#else
#define DAE_COMPILER ""
#endif

/* "model name : AMD EPYC ..." where Linux tells it. */
static void find_processor(char *text, size_t size)
{
    dae_lines file = {.descriptor = open("/proc/cpuinfo", O_RDONLY)};
    const char *line;
    text[0] = 0;
    while (!text[0] && (line = dae_lines_next(&file))) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !colon) continue;
        colon += 1 + strspn(colon + 1, " \t");
        snprintf(text, size, "%s", colon);
    }
    if (file.descriptor >= 0) close(file.descriptor);
}

static void add_library(char *text, size_t size, const char *name, const char *version)
{
    size_t used = strlen(text);
    if (used < size) snprintf(text + used, size - used, "%s%s %s", used ? ", " : "", name, version);
}

void dae_provenance_now(dae_provenance *p)
{
    struct utsname u;
    time_t now = time(NULL);
    struct tm utc;
    *p = (dae_provenance){0};
    snprintf(p->version, sizeof p->version, "%s", dae_version());
    if (gmtime_r(&now, &utc)) strftime(p->date, sizeof p->date, "%Y-%m-%dT%H:%M:%SZ", &utc);
    find_processor(p->processor, sizeof p->processor);
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    p->cores = cores > 0 ? (int)cores : 0;
    if (uname(&u) == 0)
        snprintf(p->system, sizeof p->system, "%.30s %.60s %.30s", u.sysname, u.release, u.machine);
    snprintf(p->compiler, sizeof p->compiler, "%s", DAE_COMPILER);
    snprintf(p->flags, sizeof p->flags, "%s", DAE_BUILD_FLAGS);
    dae_linalg_blas(p->blas, sizeof p->blas);
    dae_linalg_versions(p->libraries, sizeof p->libraries);
    add_library(p->libraries, sizeof p->libraries, "jansson", JANSSON_VERSION);
#ifdef DAE_SUNDIALS_VERSION
    add_library(p->libraries, sizeof p->libraries, "SUNDIALS", DAE_SUNDIALS_VERSION);
#endif
}

/* Names and texts in the order in which they are told; cores stand apart. */
enum { texts = 8 };
static void list(const dae_provenance *p, const char *name[texts], const char *text[texts])
{
    static const char *const names[texts] = {"version",  "date",  "processor", "system",
                                             "compiler", "flags", "blas",      "libraries"};
    const char *const values[texts] = {p->version,  p->date,  p->processor, p->system,
                                       p->compiler, p->flags, p->blas,      p->libraries};
    memcpy(name, names, sizeof names);
    memcpy(text, values, sizeof values);
}

dae_status dae_provenance_json(const dae_provenance *p, dae_write_fn *write, void *user)
{
    dae_text x = {.write = write, .user = user};
    const char *name[texts], *text[texts];
    list(p, name, text);
    dae_text_print(&x, "{\"cores\":%d", p->cores);
    for (int i = 0; i < texts; i++) {
        dae_text_print(&x, ",\"%s\":", name[i]);
        dae_escape_json(text[i], strlen(text[i]), dae_text_write, &x);
    }
    dae_text_put(&x, "}");
    return dae_text_end(&x);
}

void dae_provenance_text(const dae_provenance *p, char *text, size_t size)
{
    snprintf(text, size, "daedalus %s, %s; %s, %d cores, %s; %s %s; BLAS: %s; %s", p->version, p->date,
             p->processor[0] ? p->processor : "unknown processor", p->cores, p->system, p->compiler, p->flags,
             p->blas[0] ? p->blas : "unknown", p->libraries);
}

void dae_provenance_note(const dae_provenance *p, dae_table *t)
{
    const char *name[texts], *text[texts];
    list(p, name, text);
    for (int i = 0; i < texts; i++) {
        if (text[i][0]) dae_table_note(t, name[i], text[i], 0);
    }
    dae_table_note(t, "cores", NULL, p->cores);
}

void dae_provenance_stamp(dae_table *t)
{
    dae_provenance p;
    dae_provenance_now(&p);
    dae_provenance_note(&p, t);
}
