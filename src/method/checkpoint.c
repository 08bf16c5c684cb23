/* Saving and loading a run: head, fingerprint, events, arena, what the method and the system keep outside of it. */
#include "core/vector.h"
#include "method/driver.h"
#include "method/matrix_free.h"
#include "method/poles.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Then the fingerprint, nrecord event records, the arena, what the method keeps outside it, and what the system keeps. */
typedef struct checkpoint_head {
    char magic[16];
    uint64_t checksum; /* of all that follows it */
    char method[32];
    int n, nrecord;
    size_t print, arena, outside, memory;
} checkpoint_head;

/* FNV-1a over 8 bytes at a time: finds damage, not malice. */
static uint64_t checksum(const void *buffer, size_t size)
{
    size_t first = offsetof(checkpoint_head, method);
    const unsigned char *p = (const unsigned char *)buffer + first;
    uint64_t sum = 14695981039346656037u;
    for (size_t left = size - first; left > 0;) {
        uint64_t word = 0;
        size_t n = left < sizeof word ? left : sizeof word;
        memcpy(&word, p, n);
        sum = (sum ^ word) * 1099511628211u;
        sum ^= sum >> 32;
        p += n;
        left -= n;
    }
    return sum;
}

static checkpoint_head head_of(const dae_integrator *it)
{
    checkpoint_head h = {.magic = "daedalus state 6", .n = it->ivp.n, .nrecord = it->nrecord};
    strncpy(h.method, it->method->info.name, sizeof h.method - 1);
    h.print = (dae_fingerprint_write(it, NULL, 0) + 7) / 8 * 8; /* what follows stays aligned */
    h.arena = dae_arena_bytes(it->arena);
    h.outside = it->method->save ? it->method->save(it->self, NULL) : 0;
    h.memory = it->memory.save ? it->memory.save(it->memory.user, NULL) : 0;
    return h;
}

const char *dae_integrator_why_not_saved(const dae_integrator *it)
{
    if (!it) return "the integrator is NULL";
    if (!it->started) return "the integrator was not started, or its start failed";
    if (!it->method->info.checkpoint)
        return "cvode, cvode-adams and ida keep their state inside SUNDIALS, which has no functions to write "
               "and read it; vode, "
               "vode-adams, lsoda and dassl are methods of their kind that can be saved";
    if (it->opt.linear_solver && (!it->opt.linear_solver->save || !it->opt.linear_solver->load))
        return "its factors are kept by the user's linear solver, which has no functions to write and read "
               "them";
    if (it->chart && !it->memory.save)
        return "its variables change between steps, and what they hang on is not known "
               "(dae_integrator_set_memory)";
    return "";
}

size_t dae_integrator_save(const dae_integrator *it, void *buffer, size_t size)
{
    if (dae_integrator_why_not_saved(it)[0]) return 0;
    checkpoint_head h = head_of(it);
    size_t records = (size_t)h.nrecord * sizeof *it->record, front = sizeof h + h.print,
           body = front + records + h.arena, need = body + h.outside + h.memory;
    if (!buffer || size < need) return need;
    driver_state *s = it->s;
    s->ivp_t_old = it->ivp.t_old;
    s->ivp_t = it->ivp.t;
    s->ivp_h_next = it->ivp.h_next;
    s->ivp_t_stop = it->ivp.t_stop;
    s->ivp_left = it->ivp.left;
    s->ivp_right = it->ivp.right;
    s->ivp_order = it->ivp.order;
    unsigned char *out = buffer;
    memcpy(out, &h, sizeof h);
    memset(out + sizeof h, 0, h.print);
    dae_fingerprint_write(it, (char *)out + sizeof h, h.print);
    if (records) memcpy(out + front, it->record, records);
    dae_arena_write(it->arena, out + front + records);
    if (h.outside) it->method->save(it->self, out + body);
    if (h.memory) it->memory.save(it->memory.user, out + body + h.outside);
    h.checksum = checksum(buffer, need);
    memcpy(out, &h, sizeof h);
    return need;
}

/* What is wrong with a checkpoint, or DAE_OK: nothing of the integrator is touched before this is known,
 * but that "auto" takes the method the checkpoint was made with. */
static dae_status check_checkpoint(dae_integrator *it, const void *buffer, size_t size, const char *changes,
                                   checkpoint_head *h, int *changed, dae_error *err)
{
    checkpoint_head mine = head_of(it);
    if (!buffer || size < sizeof *h || memcmp(buffer, mine.magic, sizeof mine.magic) != 0) {
        return dae_fail(err, DAE_ERR_INPUT, NAN, "this is not a checkpoint of this version");
    }
    memcpy(h, buffer, sizeof *h);
    if (h->checksum != checksum(buffer, size)) {
        return dae_fail(err, DAE_ERR_INPUT, NAN, "the checkpoint is damaged or incomplete (%zu bytes)", size);
    }
    h->method[sizeof h->method - 1] = 0;
    if (strcmp(h->method, mine.method) != 0 && it->automatic && dae_method_lookup(NULL, h->method)) {
        dae_status r = dae_driver_replace_method(it, dae_method_lookup(NULL, h->method), err);
        if (r) return r;
        mine = head_of(it);
    }
    if (strcmp(h->method, mine.method) != 0) {
        return dae_fail(err, DAE_ERR_INPUT, NAN, "the checkpoint is of method %s, the integrator uses %s",
                        h->method, mine.method);
    }
    size_t rest = size - sizeof *h;
    const char *print = (const char *)buffer + sizeof *h;
    if (h->print < 8 || h->print > rest || print[h->print - 1] != 0)
        return dae_fail(err, DAE_ERR_INPUT, NAN, "the checkpoint is damaged");
    dae_status s = dae_fingerprint_check(it, print, changes, changed, err);
    if (s < 0) return s;
    rest -= h->print;
    if (h->n != mine.n || h->arena != mine.arena || h->arena > rest || h->nrecord < 0 ||
        (size_t)h->nrecord > (rest - h->arena) / sizeof *it->record || (h->memory > 0) != (mine.memory > 0) ||
        h->outside > (rest -= h->arena + (size_t)h->nrecord * sizeof *it->record) ||
        h->memory != rest - h->outside) {
        return dae_fail(
            err, DAE_ERR_INPUT, NAN,
            "the checkpoint is of another system or of other options (size %d, %zu bytes; here %d, %zu)",
            h->n, h->arena, mine.n, mine.arena);
    }
    return DAE_OK;
}

/* All that a checkpoint holds, after it was checked. */
static dae_status take_checkpoint(dae_integrator *it, const void *buffer, const checkpoint_head *h,
                                  dae_error *err)
{
    const unsigned char *in = (const unsigned char *)buffer + sizeof *h + h->print;
    size_t records = (size_t)h->nrecord * sizeof *it->record;
    if (h->nrecord > it->capacity) {
        dae_event_record *record = realloc(it->record, records);
        if (!record) return dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory to load a checkpoint");
        it->record = record;
        it->capacity = h->nrecord;
    }
    if (records) memcpy(it->record, in, records);
    it->nrecord = h->nrecord;
    dae_arena_read(it->arena, in + records);
    dae_matrix_free_loaded(&it->ivp);
    driver_state *s = it->s;
    it->ivp.t_old = s->ivp_t_old;
    it->ivp.t = s->ivp_t;
    it->ivp.h_next = s->ivp_h_next;
    it->ivp.t_stop = s->ivp_t_stop;
    it->ivp.left = s->ivp_left;
    it->ivp.right = s->ivp_right;
    it->ivp.order = s->ivp_order;
    it->ivp.t_end = s->t_end;
    it->ivp.direction = s->t_end >= s->t0 ? 1 : -1;
    dae_driver_watch_stiffness(it);
    dae_driver_switches_loaded(it);
    dae_poles_forget(it);
    int bad = it->method->load ? it->method->load(it->self, in + records + h->arena, h->outside) : 0;
    if (bad) {
        it->started = 0;
        if (bad < 0) return dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for the factors in the checkpoint");
        return dae_fail(err, DAE_ERR_INPUT, NAN, "the factors in the checkpoint could not be restored");
    }
    if (h->memory) bad = it->memory.load(it->memory.user, in + records + h->arena + h->outside, h->memory);
    if (bad) {
        it->started = 0;
        if (bad < 0)
            return dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for the coordinates in the checkpoint");
        return dae_fail(err, DAE_ERR_INPUT, NAN,
                        "the coordinates in the checkpoint are those of another system or of other options");
    }
    return DAE_OK;
}

/* The state of the checkpoint with the tolerances and the method of this integrator: the method starts afresh there. own: its
 * arena before the checkpoint was read. */
static dae_status start_afresh(dae_integrator *it, const void *own, dae_error *err)
{
    int n = it->ivp.n;
    driver_state s = *it->s;
    double h = fabs(it->ivp.h_next), *y = malloc(2 * (size_t)n * sizeof *y);
    if (!y) {
        it->started = 0;
        return dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory to load a checkpoint");
    }
    dae_copy(n, it->y, y);
    if (it->ivp.t != it->ivp.t_old) it->method->interpolate(it->self, s.now, it->scratch, it->yp);
    dae_copy(n, it->yp, y + n);
    dae_arena_read(it->arena, own);
    *it->s = s;
    it->s->stats.restarts++;
    dae_copy(n, y, it->y);
    dae_copy(n, y + n, it->yp);
    free(y);
    dae_status r = dae_driver_derivative(it, s.now, 0, err);
    if (!r) r = dae_driver_restart(it, h, err);
    if (!r) r = dae_driver_events_start(it, err);
    it->started = !r;
    return r;
}

dae_status dae_integrator_load(dae_integrator *it, const void *buffer, size_t size, dae_error *err)
{
    return dae_integrator_load_changed(it, buffer, size, NULL, err);
}

dae_status dae_integrator_load_changed(dae_integrator *it, const void *buffer, size_t size,
                                       const char *changes, dae_error *err)
{
    dae_error spare;
    if (!err) err = &spare;
    err->status = DAE_OK;
    if (!it) return dae_need(it, "the integrator", err);
    if (!it->started)
        return dae_fail(err, DAE_ERR_INPUT, NAN,
                        "checkpoint: start the integrator with its initial values before loading");
    if (it->chart && !it->memory.load) {
        return dae_fail(err, DAE_ERR_UNSUPPORTED, NAN,
                        "checkpoint: runs whose variables change between steps need "
                        "dae_integrator_set_memory to be resumed");
    }
    checkpoint_head h;
    int changed = 0;
    dae_status r = check_checkpoint(it, buffer, size, changes, &h, &changed, err);
    if (r) return r;
    void *own = changed ? malloc(dae_arena_bytes(it->arena)) : NULL;
    if (changed && !own) return dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory to load a checkpoint");
    if (changed) dae_arena_write(it->arena, own);
    r = take_checkpoint(it, buffer, &h, err);
    if (!r && changed) r = start_afresh(it, own, err);
    free(own);
    return r;
}
