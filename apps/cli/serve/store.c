/* Results on disk: one file per ended job, written aside and renamed, the oldest removed when there is no more room. */
#include "server.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LARGEST_PART (64u << 20)
#define LARGEST_RESULT (4 * LARGEST_PART)

static int make_folder(const char *path)
{
    return mkdir(path, 0700) != 0 && errno != EEXIST ? -1 : 0;
}

static int default_folder(char *path, size_t size)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    if (state && state[0] == '/')
        return snprintf(path, size, "%s/daedalus-serve", state) < (int)size ? 0 : -1;
    if (!home || home[0] != '/')
        return snprintf(path, size, "/var/tmp/daedalus-serve-%d", (int)geteuid()) < (int)size ? 0 : -1;
    char up[4096];
    snprintf(up, sizeof up, "%s/.local", home);
    make_folder(up);
    snprintf(up, sizeof up, "%s/.local/state", home);
    make_folder(up);
    return snprintf(path, size, "%.3900s/daedalus-serve", up) < (int)size ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *place)
{
    (void)info, (void)kind, (void)place;
    remove(path);
    return 0;
}

void store_remove_folder(const char *path)
{
    nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* Folders of jobs that a server before this one left. */
static void remove_left(const char *path)
{
    DIR *d = opendir(path);
    struct dirent *e;
    char name[4500];
    while (d && (e = readdir(d))) {
        if (e->d_name[0] == '.') continue;
        snprintf(name, sizeof name, "%.4200s/%s", path, e->d_name);
        store_remove_folder(name);
    }
    if (d) closedir(d);
}

int store_open(server *s, char *message, size_t size)
{
    char path[4200], real[4096];
    if (s->o->store) snprintf(s->store, sizeof s->store, "%.4000s", s->o->store);
    else if (default_folder(s->store, sizeof s->store)) return -1;
    struct stat info;
    if (make_folder(s->store) || !realpath(s->store, real) || stat(real, &info) != 0 ||
        !S_ISDIR(info.st_mode) || info.st_uid != geteuid()) {
        snprintf(message, size, "the folder of results %.200s cannot be used: %s", s->store,
                 errno ? strerror(errno) : "it is not ours");
        return -1;
    }
    strcpy(s->store, real);
    snprintf(path, sizeof path, "%s/jobs", s->store);
    if (make_folder(path)) {
        snprintf(message, size, "%.200s: %s", path, strerror(errno));
        return -1;
    }
    if (geteuid() == 0)
        chmod(s->store, 0711), chmod(path, 0711); /* runs go on as nobody where there are no namespaces */
    remove_left(path);
    return 0;
}

int store_job_folder(const server *s, const job *j, char *path, size_t size)
{
    snprintf(path, size, "%s/jobs/%s", s->store, j->id);
    if (make_folder(path)) return -1;
    return geteuid() == 0 && chown(path, 65534, 65534) != 0 ? -1 : 0;
}

char *store_file(const char *folder, const char *name, size_t most, size_t *length)
{
    char path[4500];
    snprintf(path, sizeof path, "%.4200s/%s", folder, name);
    FILE *f = fopen(path, "rb");
    struct stat info;
    if (!f) return NULL;
    char *text = NULL;
    if (fstat(fileno(f), &info) == 0 && S_ISREG(info.st_mode) && (size_t)info.st_size <= most) {
        text = malloc((size_t)info.st_size + 1);
        *length = text ? fread(text, 1, (size_t)info.st_size, f) : 0;
        if (text) text[*length] = 0;
    }
    fclose(f);
    return text;
}

static int by_age(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

typedef struct kept {
    time_t time;
    off_t size;
    char name[64];
} kept;

static int older(const void *a, const void *b)
{
    const kept *x = a, *y = b;
    return (x->time > y->time) - (x->time < y->time);
}

/* What a result has beside its JSON, in files of their own. */
static const char *const parts[] = {".h5", ".html"};

static int is_result(const char *name)
{
    if (strspn(name, "0123456789abcdef") != ID_LENGTH) return 0;
    int found = !strcmp(name + ID_LENGTH, ".json");
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) found |= !strcmp(name + ID_LENGTH, parts[i]);
    return found;
}

/* Removes the oldest results while all together are above the limit. */
static void make_room(const server *s)
{
    struct dirent **list = NULL;
    int n = scandir(s->store, &list, NULL, by_age), count = 0;
    kept *k = n > 0 ? calloc((size_t)n, sizeof *k) : NULL;
    off_t total = 0, most = (off_t)s->o->store_size << 20;
    char path[4500];
    for (int i = 0; i < n; i++) {
        struct stat info;
        snprintf(path, sizeof path, "%s/%.250s", s->store, list[i]->d_name);
        if (k && is_result(list[i]->d_name) && stat(path, &info) == 0 && S_ISREG(info.st_mode)) {
            k[count].time = info.st_mtime;
            k[count].size = info.st_size;
            strcpy(k[count++].name, list[i]->d_name);
            total += info.st_size;
        }
        free(list[i]);
    }
    free(list);
    if (k) qsort(k, (size_t)count, sizeof *k, older);
    for (int i = 0; k && i < count && total > most; i++) {
        snprintf(path, sizeof path, "%s/%s", s->store, k[i].name);
        if (unlink(path) == 0) total -= k[i].size;
    }
    free(k);
}

static void put_file(json_t *o, const char *key, const char *folder, const char *name, int wanted)
{
    size_t length = 0;
    char *text = wanted ? store_file(folder, name, LARGEST_PART, &length) : NULL;
    json_object_set_new(o, key, text ? json_stringn(text, length) : json_null());
    free(text);
}

/* What the program printed: one text of JSON, or one on every line as a list. */
static json_t *printed(const char *answer, size_t length, int lines)
{
    if (!lines) return json_loadb(answer, length, 0, NULL);
    json_t *list = json_array();
    for (const char *c = answer, *end = answer + length; c < end;) {
        const char *stop = memchr(c, '\n', (size_t)(end - c));
        size_t n = stop ? (size_t)(stop - c) : (size_t)(end - c);
        json_t *one = json_loadb(c, n, 0, NULL);
        if (one) json_array_append_new(list, one);
        c += n + 1;
    }
    return list;
}

/* Files of the job that are kept as they are: 0, or -1. */
static int keep_parts(const server *s, const job *j, const char *folder)
{
    const struct {
        int wanted;
        const char *name, *ending;
    } file[] = {{j->h5 != NULL, j->h5, parts[0]}, {j->report, "out.html", parts[1]}};
    char from[4300], to[4300];
    struct stat info;
    int bad = 0;
    for (size_t i = 0; i < sizeof file / sizeof *file; i++) {
        if (!file[i].wanted) continue;
        snprintf(from, sizeof from, "%.4200s/%s", folder, file[i].name);
        snprintf(to, sizeof to, "%s/%s%s", s->store, j->id, file[i].ending);
        if (lstat(from, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0)
            bad |= rename(from, to) != 0;
    }
    return bad ? -1 : 0;
}

int store_part(const server *s, const char *id, const char *ending, size_t *length)
{
    char path[4300];
    struct stat info;
    if (strlen(id) != ID_LENGTH || strspn(id, "0123456789abcdef") != ID_LENGTH) return -1;
    snprintf(path, sizeof path, "%s/%s%s", s->store, id, ending);
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (file >= 0 && (fstat(file, &info) != 0 || !S_ISREG(info.st_mode))) {
        close(file);
        return -1;
    }
    if (file >= 0) *length = (size_t)info.st_size;
    return file;
}

/* {"state", "message", "status", "json", "csv", "scene", "log"}; json is what the program printed. */
static json_t *compose(const server *s, const job *j, const char *folder)
{
    size_t length = 0;
    char *answer = store_file(folder, "answer", LARGEST_PART, &length);
    json_t *o = json_object(), *json = answer ? printed(answer, length, j->lines) : NULL;
    (void)s;
    json_object_set_new(o, "id", json_string(j->id));
    json_object_set_new(o, "state", json_string(job_state_word(j->state)));
    json_object_set_new(o, "message", json_string(j->message));
    json_object_set_new(o, "status", json_integer(j->exit_status));
    json_object_set_new(o, "json", json ? json : json_null());
    put_file(o, "csv", folder, "out.csv", j->csv);
    put_file(o, "scene", folder, "scene.json", j->scene);
    json_object_set_new(o, "log",
                        (j->log || j->code || j->study) && j->said ? json_stringn_nocheck(j->said, j->nsaid)
                                                                   : json_null());
    free(answer);
    return o;
}

/* Its length, or -1. */
static off_t write_result(const json_t *o, const char *path)
{
    struct stat info;
    if (!o || json_dump_file(o, path, JSON_COMPACT | JSON_REAL_PRECISION(17)) != 0 || stat(path, &info) != 0)
        return -1;
    return info.st_size;
}

int store_finish(server *s, job *j)
{
    static int since; /* looking through the folder costs time: every 16th result is often enough */
    char folder[4200], part[4300], path[4300];
    if (store_job_folder(s, j, folder, sizeof folder)) return -1;
    json_t *o = compose(s, j, folder);
    snprintf(part, sizeof part, "%s/jobs/%s.part", s->store, j->id);
    snprintf(path, sizeof path, "%s/%s.json", s->store, j->id);
    off_t length = write_result(o, part);
    if (length > (off_t)LARGEST_RESULT) { /* what is no text grows sixfold: the parts go, the message stays */
        static const char *const large[] = {"json", "csv", "scene", "log"};
        for (size_t i = 0; i < 4; i++) json_object_set_new(o, large[i], json_null());
        json_object_set_new(o, "state", json_string(job_state_word(j->state = JOB_FAILED)));
        if (!j->message[0]) snprintf(j->message, sizeof j->message, "the result is too large to be kept");
        json_object_set_new(o, "message", json_string(j->message));
        length = write_result(o, part);
    }
    int bad = keep_parts(s, j, folder) || length < 0 || rename(part, path) != 0;
    if (bad) unlink(part);
    json_decref(o);
    store_remove_folder(folder);
    if (since++ % 16 == 0) make_room(s);
    return bad ? -1 : 0;
}

char *store_read(const server *s, const char *id, size_t *length)
{
    char name[ID_LENGTH + 8];
    if (strlen(id) != ID_LENGTH || strspn(id, "0123456789abcdef") != ID_LENGTH) return NULL;
    snprintf(name, sizeof name, "%s.json", id);
    return store_file(s->store, name, LARGEST_RESULT, length);
}
