/* Logs of a sweep: lines that only grow, each with a check sum, so that a kill at any time leaves whole lines and perhaps a part of one,
 * which is not taken. What they hold together says what is still to be done. */
#include "core/error.h"

#include <daedalus/study.h>

#include <jansson.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* CRC-32 of ISO 3309, four bits at a time: the remainders of 0 .. 15. */
static uint32_t checksum(const char *text, size_t length)
{
    static const uint32_t part[16] = {0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
                                      0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
                                      0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};
    uint32_t crc = UINT32_C(0xffffffff);
    for (size_t i = 0; i < length; i++) {
        crc ^= (unsigned char)text[i];
        crc = (crc >> 4) ^ part[crc & 15];
        crc = (crc >> 4) ^ part[crc & 15];
    }
    return ~crc;
}

dae_status dae_sweep_log_line(const char *line, size_t length, dae_write_fn *write, void *user)
{
    char *whole = malloc(length + 16);
    if (!whole) return DAE_ERR_MEMORY;
    int head = snprintf(whole, 16, "%08lx,", (unsigned long)checksum(line, length));
    memcpy(whole + head, line, length);
    int bad = write(whole, (size_t)head + length, user) < 0;
    free(whole);
    return bad ? DAE_ERR_FILE : DAE_OK;
}

/* ---- What logs hold --------------------------------------------------------------------------------------------------- */

typedef struct sweep_logs {
    dae_sweep_logs open;
    const dae_sweep *sweep;
    const char **line;
    long *pending;
    char **text;
    int ntext;
} sweep_logs;

dae_sweep_logs *dae_sweep_logs_create(const dae_sweep *s, const dae_design *d, long shard, long nshard)
{
    sweep_logs *l = calloc(1, sizeof *l);
    size_t count = (size_t)dae_design_count(d) + 1;
    if (!l) return NULL;
    l->sweep = s;
    l->line = calloc(count, sizeof *l->line);
    l->pending = calloc(count, sizeof *l->pending);
    l->open = (dae_sweep_logs){.count = dae_design_count(d),
                               .shard = shard,
                               .nshard = nshard,
                               .line = l->line,
                               .pending = l->pending};
    if (l->line && l->pending) return &l->open;
    dae_sweep_logs_destroy(&l->open);
    return NULL;
}

void dae_sweep_logs_destroy(dae_sweep_logs *open)
{
    sweep_logs *l = (sweep_logs *)open;
    if (!l) return;
    dae_sweep_logs_clear(open);
    free(l->text);
    free(l->line);
    free(l->pending);
    free(l);
}

void dae_sweep_logs_clear(dae_sweep_logs *open)
{
    sweep_logs *l = (sweep_logs *)open;
    for (int i = 0; i < l->ntext; i++) free(l->text[i]);
    l->ntext = 0;
    for (long k = 0; l->line && k < open->count; k++) l->line[k] = NULL;
}

dae_status dae_sweep_logs_take(dae_sweep_logs *open, char *text)
{
    sweep_logs *l = (sweep_logs *)open;
    char **longer = realloc(l->text, ((size_t)l->ntext + 1) * sizeof *longer);
    if (!longer) {
        free(text);
        return DAE_ERR_MEMORY;
    }
    l->text = longer;
    l->text[l->ntext++] = text;
    for (char *c = text; *c;) {
        char *end = strchr(c, '\n'), *rest;
        if (!end) break; /* torn */
        unsigned long sum = strtoul(c, &rest, 16);
        if (rest == c + 8 && *rest == ',' && checksum(rest + 1, (size_t)(end - rest)) == sum) {
            long run = strtol(rest + 1, NULL, 10);
            if (run >= 0 && run < open->count && !l->line[run]) l->line[run] = rest + 1;
        }
        c = end + 1;
    }
    return DAE_OK;
}

int dae_sweep_has_failed(const dae_design *d, const char *line)
{
    for (int k = 0; k <= dae_design_width(d); k++) { /* run and parameters */
        int quoted = 0;
        for (; *line && (quoted || *line != ','); line++) quoted ^= *line == '"';
        line += *line == ',';
    }
    return strncmp(line, "ok,", 3) != 0 && strncmp(line, "event,", 6) != 0;
}

void dae_sweep_logs_count(dae_sweep_logs *open, const dae_design *d)
{
    sweep_logs *l = (sweep_logs *)open;
    open->npending = open->done = open->failed = 0;
    for (long k = open->shard; k < open->count; k += open->nshard) {
        if (!l->line[k]) {
            l->pending[open->npending++] = k;
            continue;
        }
        open->done++;
        open->failed += dae_sweep_has_failed(d, l->line[k]);
    }
}

dae_status dae_sweep_logs_csv(const dae_sweep_logs *open, dae_write_fn *write, void *user)
{
    const sweep_logs *l = (const sweep_logs *)open;
    dae_status s = dae_sweep_header(l->sweep, write, user);
    for (long k = 0; s >= 0 && k < open->count; k++) {
        if (!l->line[k]) continue;
        if (write(l->line[k], strcspn(l->line[k], "\n") + 1, user) < 0) s = DAE_ERR_FILE;
    }
    return s;
}

/* ---- Whose logs they are ------------------------------------------------------------------------------------------------ */

char *dae_sweep_settings(const dae_sweep_setting *list, int count)
{
    json_t *o = json_object();
    for (int i = 0; i < count; i++) {
        json_t *text = json_string(list[i].value ? list[i].value : "");
        if (!list[i].several) {
            json_object_set_new(o, list[i].name, text);
            continue;
        }
        if (!json_object_get(o, list[i].name)) json_object_set_new(o, list[i].name, json_array());
        json_array_append_new(json_object_get(o, list[i].name), text);
    }
    char *text = json_dumps(o, JSON_INDENT(1));
    json_decref(o);
    return text;
}

int dae_sweep_settings_differ(const char *old, const char *now, char *name, size_t size)
{
    json_t *a = json_loads(old, 0, NULL), *b = json_loads(now, 0, NULL), *value;
    const char *key, *found = NULL;
    json_object_del(a, "version");
    json_object_del(b, "version");
    json_object_foreach(b, key, value)
    {
        if (!found && !json_equal(value, json_object_get(a, key))) found = key;
    }
    json_object_foreach(a, key, value)
    {
        if (!found && !json_object_get(b, key)) found = key;
    }
    snprintf(name, size, "%s", found ? found : "");
    int differ = !a || !b || found;
    json_decref(a);
    json_decref(b);
    return differ;
}
