/* HTTP: the files of the page, the API, streams of events. Who may ask what, and how much. */
#include "server.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#define IDLE_SECONDS 15 /* a connection that says nothing for so long is closed */
#define MOST_CONNECTIONS 1000
#define BEAT 12.0 /* s: a stream without news says that it is alive, before it counts as idle */

static const char policy[] =
    "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; worker-src blob:; img-src 'self' blob:; "
    "object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/* A request while its body arrives. */
typedef struct request {
    char *body;
    size_t length;
    int refused; /* HTTP status that it will get whatever follows */
} request;

struct listener {
    server *s;
    job *j;
    struct MHD_Connection *connection;
    int suspended, over;
    long seen;
    double beat;
    listener *next;
};

/* ---- Answers ------------------------------------------------------------------------------------- */

/* Of a report: a page that nobody's name is on, whatever stands in it; it shows itself and asks nobody anything. */
static const char report_policy[] =
    "sandbox allow-scripts allow-downloads; default-src 'none'; script-src 'unsafe-inline'; style-src "
    "'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

static enum MHD_Result answer_under(const char *rules, struct MHD_Connection *c, unsigned status,
                                    struct MHD_Response *r, const char *type)
{
    if (!r) return MHD_NO;
    MHD_add_response_header(r, "Content-Type", type);
    MHD_add_response_header(r, "Content-Security-Policy", rules);
    MHD_add_response_header(r, "X-Content-Type-Options", "nosniff");
    MHD_add_response_header(r, "Referrer-Policy", "no-referrer");
    MHD_add_response_header(r, "Cross-Origin-Resource-Policy", "same-origin");
    MHD_add_response_header(r, "Cache-Control",
                            strncmp(type, "application/json", 16) ? "no-cache" : "no-store");
    enum MHD_Result done = MHD_queue_response(c, status, r);
    MHD_destroy_response(r);
    return done;
}

static enum MHD_Result answer(struct MHD_Connection *c, unsigned status, struct MHD_Response *r,
                              const char *type)
{
    return answer_under(policy, c, status, r, type);
}

/* text was allocated and is handed over. */
static enum MHD_Result answer_json(struct MHD_Connection *c, unsigned status, char *text)
{
    if (!text) return MHD_NO;
    return answer(c, status, MHD_create_response_from_buffer(strlen(text), text, MHD_RESPMEM_MUST_FREE),
                  "application/json");
}

static enum MHD_Result refuse(struct MHD_Connection *c, unsigned status, const char *message)
{
    json_t *o = json_object();
    json_object_set_new(o, "status", json_integer(status));
    json_object_set_new(o, "message", json_string(message));
    char *text = json_dumps(o, JSON_COMPACT);
    json_decref(o);
    return answer_json(c, status, text);
}

/* ---- The files of the page: read once, so that no path of a request ever reaches the disk --------- */

static const char *type_of(const char *name)
{
    static const struct {
        const char *ending, *type;
    } known[] = {{".html", "text/html; charset=utf-8"}, {".js", "text/javascript; charset=utf-8"},
                 {".css", "text/css; charset=utf-8"},   {".wasm", "application/wasm"},
                 {".txt", "text/plain; charset=utf-8"}, {".svg", "image/svg+xml"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (cli_has_ending(name, known[i].ending)) return known[i].type;
    }
    return NULL;
}

/* Tells the page that it was served: its scripts then ask the API instead of the module. */
static void mark_served(site_file *f)
{
    static const char mark[] = "<meta name=\"daedalus-served\" content=\"1\">";
    char *at = strstr(f->data, "<head>"), *more = malloc(f->length + sizeof mark);
    if (!at || !more) {
        free(more);
        return;
    }
    size_t head = (size_t)(at - f->data) + 6;
    memcpy(more, f->data, head);
    memcpy(more + head, mark, sizeof mark - 1);
    memcpy(more + head + sizeof mark - 1, f->data + head, f->length - head + 1);
    f->length += sizeof mark - 1;
    free(f->data);
    f->data = more;
}

static void load_site(server *s, const char *folder)
{
    DIR *d = opendir(folder);
    struct dirent *e;
    while (d && (e = readdir(d)) && s->nfile < SITE_FILES) {
        site_file *f = &s->file[s->nfile];
        if (!type_of(e->d_name) || strlen(e->d_name) >= sizeof f->name) continue;
        f->data = store_file(folder, e->d_name, 64u << 20, &f->length);
        if (!f->data) continue;
        strcpy(f->name, e->d_name);
        f->type = type_of(e->d_name);
        if (!strcmp(f->name, "index.html")) mark_served(f);
        s->nfile++;
    }
    if (d) closedir(d);
}

/* --site, or beside the program: build/web, or share/daedalus/web where it is installed. */
static void find_site(server *s)
{
    char path[1200];
    ssize_t n = readlink("/proc/self/exe", path, 1000);
    if (s->o->site || n <= 0) {
        if (s->o->site) load_site(s, s->o->site);
        return;
    }
    path[n] = 0;
    char *slash = strrchr(path, '/');
    if (!slash) return;
    strcpy(slash, "/web");
    load_site(s, path);
    strcpy(slash, "/../share/daedalus/web");
    if (!s->nfile) load_site(s, path);
}

static enum MHD_Result answer_file(server *s, struct MHD_Connection *c, const char *url)
{
    const char *name = url[1] ? url + 1 : "index.html";
    for (int i = 0; i < s->nfile; i++) {
        const site_file *f = &s->file[i];
        if (strcmp(f->name, name) != 0) continue;
        return answer(c, 200, MHD_create_response_from_buffer(f->length, f->data, MHD_RESPMEM_PERSISTENT),
                      f->type);
    }
    if (!url[1])
        return refuse(c, 404, "there is no page here: `make web` makes it; the API is under /api/v1");
    return refuse(c, 404, "there is nothing of this name");
}

/* ---- Who may ask ---------------------------------------------------------------------------------- */

static void client_address(struct MHD_Connection *c, char *text, size_t size)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    const struct sockaddr *a = info ? info->client_addr : NULL;
    text[0] = 0;
    if (a && a->sa_family == AF_INET)
        inet_ntop(AF_INET, &((const struct sockaddr_in *)(const void *)a)->sin_addr, text, (socklen_t)size);
    if (a && a->sa_family == AF_INET6)
        inet_ntop(AF_INET6, &((const struct sockaddr_in6 *)(const void *)a)->sin6_addr, text,
                  (socklen_t)size);
}

/* A bucket of requests per address, filled `rate` times a second. 1: there was one in it. */
static int within_rate(server *s, const char *address)
{
    unsigned long hash = 5381;
    for (const char *p = address; *p; p++) hash = 33 * hash + (unsigned char)*p;
    double now = server_now(), most = 4.0 * (double)s->o->rate, *tokens = &s->bucket[hash % BUCKETS].tokens,
           *time = &s->bucket[hash % BUCKETS].time;
    *tokens = *time > 0 ? *tokens + (now - *time) * (double)s->o->rate : most;
    if (*tokens > most) *tokens = most;
    *time = now;
    if (*tokens < 1) return 0;
    *tokens -= 1;
    return 1;
}

/* All characters are looked at, so that the time tells nothing. */
static int same_secret(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b);
    unsigned difference = (unsigned)(n != m);
    for (size_t i = 0; i < n; i++) difference |= (unsigned)(a[i] ^ b[i % (m + 1)]);
    return difference == 0;
}

static int authorized(const server *s, struct MHD_Connection *c)
{
    const char *given = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Authorization");
    if (!s->token[0]) return 1;
    return given && !strncmp(given, "Bearer ", 7) && same_secret(given + 7, s->token);
}

/* On the loopback only names of it are taken (a page elsewhere may point its own name here), and no other origin. */
static int host_allowed(const server *s, struct MHD_Connection *c)
{
    const char *host = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Host");
    const char *origin = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Origin");
    if (!host || strlen(host) > 200) return 0;
    if (origin && strcmp(origin, "null") != 0) {
        const char *rest = strstr(origin, "://");
        if (!rest || strcmp(rest + 3, host) != 0) return 0;
    }
    if (!s->loopback) return 1;
    size_t n = host[0] == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":");
    return (n == 9 && !strncmp(host, "127.0.0.1", 9)) || (n == 9 && !strncmp(host, "localhost", 9)) ||
           (n == 5 && !strncmp(host, "[::1]", 5));
}

/* ---- Streams of events ------------------------------------------------------------------------------ */

void http_wake(job *j)
{
    for (listener *l = j->listeners; l; l = l->next) {
        if (!l->suspended) continue;
        l->suspended = 0;
        MHD_resume_connection(l->connection);
    }
}

void http_beat(job *j)
{
    for (listener *l = j->listeners; l; l = l->next) {
        if (!l->suspended || server_now() - l->beat <= BEAT) continue;
        l->suspended = 0;
        MHD_resume_connection(l->connection);
    }
}

static ssize_t write_event(listener *l, char *buffer, size_t most)
{
    int done = l->j->state >= JOB_DONE, n;
    char *state = job_state_json(l->s, l->j);
    if (!state) return MHD_CONTENT_READER_END_WITH_ERROR;
    if (done) n = snprintf(buffer, most, "id: %ld\nevent: done\ndata: %s\n\n", l->j->event, state);
    else if (l->j->state == JOB_RUNNING && l->j->progress[0])
        n = snprintf(buffer, most, "id: %ld\nevent: progress\ndata: %s\n\n", l->j->event, l->j->progress);
    else n = snprintf(buffer, most, "id: %ld\nevent: state\ndata: %s\n\n", l->j->event, state);
    free(state);
    l->seen = l->j->event;
    l->over = done;
    return n > 0 && (size_t)n < most ? n : MHD_CONTENT_READER_END_WITH_ERROR;
}

static ssize_t read_events(void *user, uint64_t position, char *buffer, size_t most)
{
    listener *l = user;
    (void)position;
    if (l->over) return MHD_CONTENT_READER_END_OF_STREAM;
    if (l->seen < l->j->event || l->seen < 0) {
        l->beat = server_now();
        return write_event(l, buffer, most);
    }
    if (server_now() - l->beat > BEAT) {
        l->beat = server_now();
        return snprintf(buffer, most, ": still here\n\n");
    }
    l->suspended = 1;
    MHD_suspend_connection(l->connection);
    return 0;
}

static void end_events(void *user)
{
    listener *l = user;
    for (listener **at = &l->j->listeners; *at; at = &(*at)->next) {
        if (*at != l) continue;
        *at = l->next;
        break;
    }
    free(l);
}

static enum MHD_Result answer_events(server *s, struct MHD_Connection *c, job *j)
{
    listener *l = calloc(1, sizeof *l);
    if (!l) return MHD_NO;
    *l = (listener){.s = s, .j = j, .connection = c, .seen = -1, .next = j->listeners, .beat = server_now()};
    j->listeners = l;
    struct MHD_Response *r =
        MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 4096, read_events, l, end_events);
    if (!r) {
        end_events(l);
        return MHD_NO;
    }
    return answer(c, 200, r, "text/event-stream");
}

/* A stream of a job that only the store knows: one event. */
static enum MHD_Result answer_ended(struct MHD_Connection *c, json_t *stored)
{
    char *state = json_dumps(stored, JSON_COMPACT), *text = NULL;
    if (state && asprintf(&text, "event: done\ndata: %s\n\n", state) < 0) text = NULL;
    free(state);
    if (!text) return MHD_NO;
    return answer(c, 200, MHD_create_response_from_buffer(strlen(text), text, MHD_RESPMEM_MUST_FREE),
                  "text/event-stream");
}

/* ---- The API ---------------------------------------------------------------------------------------- */

static const char run_has[] = "a run has /result, /result.csv, /result.h5, /result.html and /events";

static enum MHD_Result answer_facts(const server *s, struct MHD_Connection *c)
{
    json_t *o = json_pack("{s:i,s:s,s:b,s:b,s:b,s:{s:i,s:i,s:i,s:i}}", "api", 1, "version", dae_version(),
                          "hdf5", s->hdf5, "reports", s->reports, "allow_code", s->o->allow_code, "limits",
                          "jobs", (int)s->o->jobs, "max_seconds", (int)s->o->max_seconds, "max_memory_mib",
                          (int)s->o->max_memory, "max_body", (int)s->o->max_body);
    char *text = o ? json_dumps(o, JSON_COMPACT) : NULL;
    json_decref(o);
    return answer_json(c, 200, text);
}

static enum MHD_Result answer_new(server *s, struct MHD_Connection *c, const request *q)
{
    char message[300] = "the server has no room for another run now";
    const char *type = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Content-Type");
    if (!type || strncmp(type, "application/json", 16) != 0)
        return refuse(c, 415, "the body must be application/json");
    job *j = calloc(1, sizeof *j);
    int bad = j ? request_read(s, q->body ? q->body : "", q->length, j, message, sizeof message) : 503;
    if (!bad) {
        client_address(c, j->client, sizeof j->client);
        bad = jobs_add(s, j);
    }
    if (bad) {
        jobs_free(j);
        return refuse(c, (unsigned)bad, message);
    }
    jobs_tend(s);
    job *now = jobs_find(s, j->id);
    return now ? answer_json(c, 202, job_state_json(s, now)) : refuse(c, 503, "the run was lost");
}

/* /result.h5 and /result.html: files as they were written. */
static enum MHD_Result answer_part(const server *s, struct MHD_Connection *c, const char *id, int html)
{
    size_t length = 0;
    int file = store_part(s, id, html ? ".html" : ".h5", &length);
    if (file < 0) return refuse(c, 404, html ? "this run has no page" : "this run has no HDF5 file");
    struct MHD_Response *r = MHD_create_response_from_fd(length, file);
    if (!r) {
        close(file);
        return MHD_NO;
    }
    return html ? answer_under(report_policy, c, 200, r, "text/html; charset=utf-8")
                : answer(c, 200, r, "application/x-hdf5");
}

/* A job that only the store knows: its state, its result, or a part of it. */
static enum MHD_Result answer_stored(server *s, struct MHD_Connection *c, const char *id, const char *rest)
{
    size_t length = 0;
    char *text = store_read(s, id, &length);
    if (!text) return refuse(c, 404, "there is no run of this number (results are kept for a while)");
    if (!strcmp(rest, "/result.h5") || !strcmp(rest, "/result.html")) {
        free(text);
        return answer_part(s, c, id, !strcmp(rest, "/result.html"));
    }
    if (!strcmp(rest, "/result"))
        return answer(c, 200, MHD_create_response_from_buffer(length, text, MHD_RESPMEM_MUST_FREE),
                      "application/json");
    json_t *stored = json_loadb(text, length, 0, NULL);
    free(text);
    const json_t *csv = json_object_get(stored, "csv");
    enum MHD_Result done;
    if (!strcmp(rest, "/result.csv")) {
        done = json_is_string(csv)
                   ? answer(c, 200,
                            MHD_create_response_from_buffer(json_string_length(csv),
                                                            (void *)(size_t)json_string_value(csv),
                                                            MHD_RESPMEM_MUST_COPY),
                            "text/csv; charset=utf-8")
                   : refuse(c, 404, "this run has no CSV");
    } else {
        static const char *const large[] = {"json", "csv", "scene", "log"};
        for (size_t i = 0; i < 4; i++) json_object_del(stored, large[i]);
        if (!strcmp(rest, "/events")) done = answer_ended(c, stored);
        else if (!rest[0]) done = answer_json(c, 200, json_dumps(stored, JSON_COMPACT));
        else done = refuse(c, 404, run_has);
    }
    json_decref(stored);
    return done;
}

static enum MHD_Result answer_run(server *s, struct MHD_Connection *c, const char *method, const char *path)
{
    char id[ID_LENGTH + 1];
    size_t n = strspn(path, "0123456789abcdef");
    if (n != ID_LENGTH) return refuse(c, 404, "there is no run of this number");
    memcpy(id, path, n);
    id[n] = 0;
    const char *rest = path + n;
    job *j = jobs_find(s, id);
    if (!strcmp(method, "DELETE")) {
        if (j) jobs_cancel(s, j);
        return answer_stored(s, c, id, "");
    }
    if (strcmp(method, "GET") != 0) return refuse(c, 405, "GET and DELETE");
    if (!j || j->state >= JOB_DONE) return answer_stored(s, c, id, rest);
    if (!strcmp(rest, "/events")) return answer_events(s, c, j);
    if (!strncmp(rest, "/result", 7)) return refuse(c, 409, "the run has not ended yet");
    if (rest[0]) return refuse(c, 404, run_has);
    return answer_json(c, 200, job_state_json(s, j));
}

static enum MHD_Result route(server *s, struct MHD_Connection *c, const char *url, const char *method,
                             const request *q)
{
    static const char base[] = "/api/v1";
    if (strncmp(url, base, sizeof base - 1) != 0) {
        if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0) return refuse(c, 405, "only GET here");
        return answer_file(s, c, url);
    }
    const char *path = url + sizeof base - 1;
    if (!authorized(s, c)) return refuse(c, 401, "the token is missing or wrong (Authorization: Bearer ...)");
    if (!path[0] || !strcmp(path, "/"))
        return strcmp(method, "GET") ? refuse(c, 405, "only GET here") : answer_facts(s, c);
    if (!strcmp(path, "/runs"))
        return strcmp(method, "POST") ? refuse(c, 405, "only POST here") : answer_new(s, c, q);
    if (!strncmp(path, "/runs/", 6)) return answer_run(s, c, method, path + 6);
    return refuse(c, 404, "the API has /api/v1, /api/v1/runs and /api/v1/runs/ID");
}

static enum MHD_Result handle(void *user, struct MHD_Connection *c, const char *url, const char *method,
                              const char *version, const char *data, size_t *size, void **state)
{
    server *s = user;
    request *q = *state;
    char address[64];
    (void)version;
    if (!q) {
        q = *state = calloc(1, sizeof *q);
        if (!q) return MHD_NO;
        client_address(c, address, sizeof address);
        if (!within_rate(s, address)) q->refused = 429;
        else if (!host_allowed(s, c)) q->refused = 403;
        return MHD_YES;
    }
    if (*size) {
        if (q->length + *size > (size_t)s->o->max_body) q->refused = q->refused ? q->refused : 413;
        char *more = q->refused ? NULL : realloc(q->body, q->length + *size + 1);
        if (more) {
            q->body = more;
            memcpy(q->body + q->length, data, *size);
            q->length += *size;
        } else if (!q->refused) {
            q->refused = 503;
        }
        if (q->refused) {
            free(q->body);
            q->body = NULL;
        }
        *size = 0;
        return MHD_YES;
    }
    if (q->refused == 429) return refuse(c, 429, "too many requests from this address: wait a moment");
    if (q->refused == 403) return refuse(c, 403, "this server answers only to its own address");
    if (q->refused == 413) return refuse(c, 413, "the request is too large");
    if (q->refused) return refuse(c, (unsigned)q->refused, "no memory for this request");
    return route(s, c, url, method, q);
}

static void completed(void *user, struct MHD_Connection *c, void **state,
                      enum MHD_RequestTerminationCode code)
{
    request *q = *state;
    (void)user, (void)c, (void)code;
    if (q) free(q->body);
    free(q);
    *state = NULL;
}

/* ---- Start ------------------------------------------------------------------------------------------ */

static int is_loopback(const struct sockaddr *a)
{
    if (a->sa_family == AF_INET)
        return (ntohl(((const struct sockaddr_in *)(const void *)a)->sin_addr.s_addr) >> 24) == 127;
    const struct in6_addr *six = &((const struct sockaddr_in6 *)(const void *)a)->sin6_addr;
    return a->sa_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(six);
}

static int make_token(server *s)
{
    unsigned char random[24];
    if (s->o->token) snprintf(s->token, sizeof s->token, "%.79s", s->o->token);
    if (s->o->token || s->loopback) return 0;
    if (getrandom(random, sizeof random, 0) != sizeof random) return -1;
    for (size_t i = 0; i < sizeof random; i++) snprintf(s->token + 2 * i, 3, "%02x", random[i]);
    return 0;
}

int http_start(server *s, char *message, size_t size)
{
    char port[16];
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICHOST},
                    *list = NULL;
    snprintf(port, sizeof port, "%ld", s->o->port);
    if (getaddrinfo(s->o->host, port, &hints, &list) != 0 || !list) {
        snprintf(message, size, "--host %.100s: expected an address like 127.0.0.1", s->o->host);
        return -1;
    }
    s->loopback = is_loopback(list->ai_addr);
    if (make_token(s)) {
        freeaddrinfo(list);
        return -1;
    }
    find_site(s);
    unsigned flags =
        MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | (list->ai_family == AF_INET6 ? MHD_USE_IPv6 : 0);
    s->daemon = MHD_start_daemon(flags, 0, NULL, NULL, handle, s, MHD_OPTION_SOCK_ADDR, list->ai_addr,
                                 MHD_OPTION_NOTIFY_COMPLETED, completed, NULL, MHD_OPTION_CONNECTION_TIMEOUT,
                                 (unsigned)IDLE_SECONDS, MHD_OPTION_CONNECTION_LIMIT,
                                 (unsigned)MOST_CONNECTIONS, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
                                 (size_t)32768, MHD_OPTION_LISTENING_ADDRESS_REUSE, 1u, MHD_OPTION_END);
    int why = errno;
    freeaddrinfo(list);
    if (!s->daemon) {
        snprintf(message, size, "port %s of %.100s cannot be used: %s", port, s->o->host, strerror(why));
        return -1;
    }
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(s->daemon, MHD_DAEMON_INFO_BIND_PORT);
    s->port = info ? info->port : (int)s->o->port;
    return 0;
}
