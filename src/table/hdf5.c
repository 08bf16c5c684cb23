/* Tables as HDF5 files, in memory: the library neither opens nor names files. The HDF5 library (it brings 30 others,
 * and its start takes longer than many runs) is loaded when a file is first written or read.
 *
 * Layout: one dataset per column below the root, in the order of the attribute "columns" of the root; columns
 * NAME@TIME are the rows of datasets /series/NAME (rows x times), with the times in /series/t. */
#include "core/arena.h"
#include "core/number.h"
#include "core/text.h"
#include "table/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int dae_is_hdf5(const void *data, size_t size)
{
    return size >= 8 && !memcmp(data, "\x89HDF\r\n\x1a\n", 8);
}

#ifdef DAE_HDF5_LIBRARY
#include <dlfcn.h>
#include <hdf5.h>
#include <pthread.h>
#undef H5CHECK /* the constants of the header would call the library */
#undef H5OPEN
#define H5CHECK
#define H5OPEN

enum { file_step = 1 << 20 }; /* by so many bytes a file in memory grows; ours */
enum { most_names = 3000 };   /* an attribute has room for 64 kB; without it the order is that of creation */
static const char series_group[] = "series", columns_name[] = "columns", format_name[] = "format",
                  format_text[] = "daedalus table 1";

/* ---- The library ----------------------------------------------------------------------------------- */

#define FUNCTIONS(X)                                                                                    \
    X(herr_t, H5open, (void))                                                                           \
    X(herr_t, H5get_libversion, (unsigned *, unsigned *, unsigned *))                                   \
    X(herr_t, H5Eget_auto2, (hid_t, H5E_auto2_t *, void **))                                            \
    X(herr_t, H5Eset_auto2, (hid_t, H5E_auto2_t, void *))                                               \
    X(hid_t, H5Pcreate, (hid_t))                                                                        \
    X(herr_t, H5Pclose, (hid_t))                                                                        \
    X(herr_t, H5Pset_fapl_core, (hid_t, size_t, hbool_t))                                               \
    X(herr_t, H5Pset_file_image, (hid_t, void *, size_t))                                               \
    X(herr_t, H5Pset_fclose_degree, (hid_t, H5F_close_degree_t))                                        \
    X(herr_t, H5Pset_link_creation_order, (hid_t, unsigned))                                            \
    X(herr_t, H5Pset_obj_track_times, (hid_t, hbool_t))                                                 \
    X(hid_t, H5Fcreate, (const char *, unsigned, hid_t, hid_t))                                         \
    X(hid_t, H5Fopen, (const char *, unsigned, hid_t))                                                  \
    X(herr_t, H5Fflush, (hid_t, H5F_scope_t))                                                           \
    X(ssize_t, H5Fget_file_image, (hid_t, void *, size_t))                                              \
    X(herr_t, H5Fclose, (hid_t))                                                                        \
    X(hid_t, H5Gcreate2, (hid_t, const char *, hid_t, hid_t, hid_t))                                    \
    X(herr_t, H5Gget_info, (hid_t, H5G_info_t *))                                                       \
    X(htri_t, H5Lexists, (hid_t, const char *, hid_t))                                                  \
    X(ssize_t, H5Lget_name_by_idx,                                                                      \
      (hid_t, const char *, H5_index_t, H5_iter_order_t, hsize_t, char *, size_t, hid_t))               \
    X(hid_t, H5Oopen, (hid_t, const char *, hid_t))                                                     \
    X(herr_t, H5Oclose, (hid_t))                                                                        \
    X(H5I_type_t, H5Iget_type, (hid_t))                                                                 \
    X(hid_t, H5Screate, (H5S_class_t))                                                                  \
    X(hid_t, H5Screate_simple, (int, const hsize_t *, const hsize_t *))                                 \
    X(int, H5Sget_simple_extent_ndims, (hid_t))                                                         \
    X(int, H5Sget_simple_extent_dims, (hid_t, hsize_t *, hsize_t *))                                    \
    X(hssize_t, H5Sget_simple_extent_npoints, (hid_t))                                                  \
    X(herr_t, H5Sclose, (hid_t))                                                                        \
    X(hid_t, H5Tcopy, (hid_t))                                                                          \
    X(herr_t, H5Tset_size, (hid_t, size_t))                                                             \
    X(size_t, H5Tget_size, (hid_t))                                                                     \
    X(herr_t, H5Tset_cset, (hid_t, H5T_cset_t))                                                         \
    X(H5T_cset_t, H5Tget_cset, (hid_t))                                                                 \
    X(H5T_class_t, H5Tget_class, (hid_t))                                                               \
    X(htri_t, H5Tis_variable_str, (hid_t))                                                              \
    X(herr_t, H5Tclose, (hid_t))                                                                        \
    X(hid_t, H5Dcreate2, (hid_t, const char *, hid_t, hid_t, hid_t, hid_t, hid_t))                      \
    X(hid_t, H5Dget_space, (hid_t))                                                                     \
    X(hid_t, H5Dget_type, (hid_t))                                                                      \
    X(herr_t, H5Dread, (hid_t, hid_t, hid_t, hid_t, hid_t, void *))                                     \
    X(herr_t, H5Dwrite, (hid_t, hid_t, hid_t, hid_t, hid_t, const void *))                              \
    X(herr_t, H5Dclose, (hid_t))                                                                        \
    X(herr_t, H5Dvlen_reclaim, (hid_t, hid_t, hid_t, void *))                                           \
    X(hid_t, H5Acreate2, (hid_t, const char *, hid_t, hid_t, hid_t, hid_t))                             \
    X(htri_t, H5Aexists, (hid_t, const char *))                                                         \
    X(hid_t, H5Aopen, (hid_t, const char *, hid_t))                                                     \
    X(hid_t, H5Aopen_by_idx, (hid_t, const char *, H5_index_t, H5_iter_order_t, hsize_t, hid_t, hid_t)) \
    X(ssize_t, H5Aget_name, (hid_t, size_t, char *))                                                    \
    X(hid_t, H5Aget_space, (hid_t))                                                                     \
    X(hid_t, H5Aget_type, (hid_t))                                                                      \
    X(herr_t, H5Aread, (hid_t, hid_t, void *))                                                          \
    X(herr_t, H5Awrite, (hid_t, hid_t, const void *))                                                   \
    X(herr_t, H5Aclose, (hid_t))
#define NUMBERS(X)                 \
    X(H5P_CLS_FILE_ACCESS_ID_g)    \
    X(H5P_CLS_FILE_CREATE_ID_g)    \
    X(H5P_CLS_GROUP_CREATE_ID_g)   \
    X(H5P_CLS_DATASET_CREATE_ID_g) \
    X(H5T_NATIVE_DOUBLE_g)         \
    X(H5T_IEEE_F64LE_g)            \
    X(H5T_C_S1_g)

/* Function pointers and identifiers under the names of the library, without the macros of its header. */
typedef struct hdf5 {
#define X(type, name, arguments) type(*f_##name) arguments;
    FUNCTIONS(X)
#undef X
#define X(name) hid_t n_##name;
    NUMBERS(X)
#undef X
    H5E_auto2_t report; /* how it told errors before: here they become a dae_error */
    void *report_user;
    hid_t words; /* strings of any length, UTF-8 */
    int failed;
    dae_error *err;
} hdf5;

/* It is not made for threads: one at a time. */
static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

static int find(hdf5 *h, void *library, const char *name, void *out, size_t size)
{
    void *symbol = dlsym(library, name);
    if (!symbol) {
        dae_fail(h->err, DAE_ERR_UNSUPPORTED, NAN,
                 "%s has no %s: it is not the version this program was built for", DAE_HDF5_LIBRARY, name);
        return -1;
    }
    if (size) memcpy(out, symbol, size);
    else memcpy(out, &symbol, sizeof symbol);
    return 0;
}

static dae_status load(hdf5 *h, dae_error *err)
{
    *h = (hdf5){.err = err};
    pthread_mutex_lock(&one_at_a_time);
    void *library = dlopen(DAE_HDF5_LIBRARY, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!library) {
        pthread_mutex_unlock(&one_at_a_time);
        if (dae_says_no_memory(dlerror())) return dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
        return dae_fail(
            err, DAE_ERR_UNSUPPORTED, NAN,
            "HDF5 files need the library %s, which was not found; install it (Debian: apt install "
            "libhdf5-dev) or use CSV files",
            DAE_HDF5_LIBRARY);
    }
    int bad = 0;
#define X(type, name, arguments) bad = bad || find(h, library, #name, &h->f_##name, 0);
    FUNCTIONS(X)
#undef X
    unsigned version[3] = {0};
    if (!bad && (h->f_H5get_libversion(&version[0], &version[1], &version[2]) < 0 ||
                 version[0] != H5_VERS_MAJOR || version[1] != H5_VERS_MINOR)) {
        dae_fail(err, DAE_ERR_UNSUPPORTED, NAN,
                 "%s is version %u.%u of HDF5; this program was built for %d.%d", DAE_HDF5_LIBRARY,
                 version[0], version[1], H5_VERS_MAJOR, H5_VERS_MINOR);
        bad = 1;
    }
    if (!bad && h->f_H5open() < 0) {
        dae_fail(err, DAE_ERR_UNSUPPORTED, NAN, "the HDF5 library did not start");
        bad = 1;
    }
#define X(name) bad = bad || find(h, library, #name, &h->n_##name, sizeof h->n_##name);
    NUMBERS(X)
#undef X
    dlclose(library); /* it stays, RTLD_NODELETE */
    if (bad) {
        pthread_mutex_unlock(&one_at_a_time);
        return DAE_ERR_UNSUPPORTED;
    }
    h->f_H5Eget_auto2(H5E_DEFAULT, &h->report, &h->report_user);
    h->f_H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    h->words = h->f_H5Tcopy(h->n_H5T_C_S1_g);
    h->f_H5Tset_size(h->words, H5T_VARIABLE);
    h->f_H5Tset_cset(h->words, H5T_CSET_UTF8);
    return DAE_OK;
}

static void unload(hdf5 *h)
{
    h->f_H5Tclose(h->words);
    h->f_H5Eset_auto2(H5E_DEFAULT, h->report, h->report_user);
    pthread_mutex_unlock(&one_at_a_time);
}

/* ---- Names ----------------------------------------------------------------------------------------- */

/* The name of the dataset of a column: "/" separates groups, and a name can be there only once. NULL: no memory. */
static char *link_name(const char *const *name, int k)
{
    size_t n = strlen(name[k]);
    char *link = malloc(n + 16);
    int again = !*name[k] || !strcmp(name[k], ".") || !strcmp(name[k], series_group);
    if (!link) return NULL;
    for (int i = 0; i < k && !again; i++) again = !strcmp(name[i], name[k]);
    memcpy(link, name[k], n + 1);
    for (char *c = link; *c; c++) {
        if (*c == '/') *c = '|';
    }
    if (again) snprintf(link + n, 16, "|%d", k + 1);
    return link;
}

/* NAME@TIME: the length of NAME, or 0. */
static size_t series_name(const char *name, double *t)
{
    const char *at = strrchr(name, '@');
    char *end;
    if (!at || at == name) return 0;
    *t = dae_strtod(at + 1, &end);
    return end > at + 1 && !*end ? (size_t)(at - name) : 0;
}

/* Columns first + j nname + i, i < nname, j < ntime, at the end of the table. */
typedef struct series {
    int first, nname, ntime;
} series;

/* All columns NAME@TIME, if they are complete and regular; else none. */
static series find_series(const dae_table *t)
{
    series s = {t->ncol, 0, 0}, none = s;
    double first = 0, time = 0;
    while (s.first > 0 && series_name(t->name[s.first - 1], &time)) s.first--;
    if (s.first == t->ncol || s.first == 0) return none;
    series_name(t->name[s.first], &first);
    while (s.first + s.nname < t->ncol && series_name(t->name[s.first + s.nname], &time) && time == first)
        s.nname++;
    s.ntime = (t->ncol - s.first) / s.nname;
    if (s.nname * s.ntime != t->ncol - s.first) return none;
    for (int k = s.first; k < t->ncol; k++) {
        int i = (k - s.first) % s.nname, j = (k - s.first) / s.nname;
        const char *name = t->name[s.first + i];
        double begin = 0;
        size_t n = series_name(t->name[k], &time), expected = series_name(name, &begin);
        series_name(t->name[s.first + j * s.nname], &begin);
        char text[64];
        dae_snprintf(text, sizeof text, "%.9g", time);
        if (n != expected || strncmp(t->name[k], name, n) != 0 || time != begin ||
            strcmp(t->name[k] + n + 1, text) != 0)
            return none;
        for (int q = 0; q < i; q++) {
            if (!strncmp(t->name[s.first + q], name, n + 1)) return none;
        }
        if (n == 1 && *name == 't') return none; /* /series/t has the times */
    }
    return s;
}

/* ---- Writing --------------------------------------------------------------------------------------- */

static void need(hdf5 *h, int good)
{
    if (!good) h->failed = 1;
}

static void put_attribute(hdf5 *h, hid_t at, const char *name, hid_t type, hid_t memory_type, int n,
                          const void *value)
{
    hsize_t size = (hsize_t)n;
    hid_t space = n ? h->f_H5Screate_simple(1, &size, NULL) : h->f_H5Screate(H5S_SCALAR);
    hid_t a = h->f_H5Acreate2(at, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    need(h, a >= 0 && h->f_H5Awrite(a, memory_type, value) >= 0);
    if (a >= 0) h->f_H5Aclose(a);
    h->f_H5Sclose(space);
}

static void put_text(hdf5 *h, hid_t at, const char *name, const char *text)
{
    put_attribute(h, at, name, h->words, h->words, 0, &text);
}

static void put_data(hdf5 *h, hid_t at, const char *name, const char *unit, int rank, const hsize_t *size,
                     hid_t type, hid_t memory_type, const void *value)
{
    hid_t properties = h->f_H5Pcreate(h->n_H5P_CLS_DATASET_CREATE_ID_g);
    hid_t space = h->f_H5Screate_simple(rank, size, NULL);
    h->f_H5Pset_obj_track_times(properties, 0); /* the same numbers are the same file */
    hid_t d = h->f_H5Dcreate2(at, name, type, space, H5P_DEFAULT, properties, H5P_DEFAULT);
    need(h, d >= 0);
    if (d >= 0) {
        if (size[0] > 0) need(h, h->f_H5Dwrite(d, memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, value) >= 0);
        if (unit && *unit) put_text(h, d, "unit", unit);
        h->f_H5Dclose(d);
    }
    h->f_H5Sclose(space);
    h->f_H5Pclose(properties);
}

/* A column of words is marked as one, or has a cell that is neither empty nor a number. */
static int has_words(const dae_table *t, int k)
{
    const char *const *cell = t->text ? t->text + (size_t)k * (size_t)t->nrow : NULL;
    const double *value = t->value + (size_t)k * (size_t)t->nrow;
    if (cell && t->words && t->words[k]) return 1;
    for (long i = 0; cell && i < t->nrow; i++) {
        if (cell[i] && isnan(value[i]) && *cell[i] && strcmp(cell[i], "nan") != 0 &&
            strcmp(cell[i], "NaN") != 0)
            return 1;
    }
    return 0;
}

/* Strings of equal length, which all readers of HDF5 know. */
static void put_words(hdf5 *h, hid_t file, const dae_table *t, int k, const char *link)
{
    const char *const *cell = t->text + (size_t)k * (size_t)t->nrow;
    size_t longest = 1, rows = (size_t)t->nrow;
    hsize_t size = (hsize_t)rows;
    for (size_t i = 0; i < rows; i++)
        longest = cell[i] && strlen(cell[i]) > longest ? strlen(cell[i]) : longest;
    char *block = calloc(rows + 1, longest + 1);
    hid_t type = h->f_H5Tcopy(h->n_H5T_C_S1_g);
    need(h, block && h->f_H5Tset_size(type, longest + 1) >= 0 && h->f_H5Tset_cset(type, H5T_CSET_UTF8) >= 0);
    for (size_t i = 0; block && i < rows; i++) {
        if (cell[i]) memcpy(block + i * (longest + 1), cell[i], strlen(cell[i]));
    }
    if (!h->failed) put_data(h, file, link, t->unit[k], 1, &size, type, type, block);
    h->f_H5Tclose(type);
    free(block);
}

static void put_column(hdf5 *h, hid_t file, const dae_table *t, int k)
{
    hsize_t size = (hsize_t)t->nrow;
    char *link = link_name(t->name, k);
    need(h, link != NULL);
    if (!link) return;
    if (has_words(t, k)) put_words(h, file, t, k, link);
    else
        put_data(h, file, link, t->unit[k], 1, &size, h->n_H5T_IEEE_F64LE_g, h->n_H5T_NATIVE_DOUBLE_g,
                 t->value + (size_t)k * (size_t)t->nrow);
    free(link);
}

static hid_t make_group(hdf5 *h, hid_t file, const char *name)
{
    hid_t properties = h->f_H5Pcreate(h->n_H5P_CLS_GROUP_CREATE_ID_g);
    h->f_H5Pset_link_creation_order(properties, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
    hid_t group = h->f_H5Gcreate2(file, name, H5P_DEFAULT, properties, H5P_DEFAULT);
    need(h, group >= 0);
    h->f_H5Pclose(properties);
    return group;
}

static void put_series(hdf5 *h, hid_t file, const dae_table *t, const series *s)
{
    hid_t group = make_group(h, file, series_group);
    size_t rows = (size_t)t->nrow, times = (size_t)s->ntime;
    double *block = calloc(rows * times + times, sizeof *block);
    int tk = dae_table_find(t, "t");
    need(h, block != NULL);
    for (int j = 0; block && j < s->ntime; j++) series_name(t->name[s->first + j * s->nname], &block[j]);
    if (!h->failed)
        put_data(h, group, "t", tk >= 0 ? t->unit[tk] : "", 1, &(hsize_t){times}, h->n_H5T_IEEE_F64LE_g,
                 h->n_H5T_NATIVE_DOUBLE_g, block);
    for (int i = 0; i < s->nname && !h->failed; i++) {
        const char *name = t->name[s->first + i];
        double time;
        size_t n = series_name(name, &time);
        char *link = malloc(n + 1);
        need(h, link != NULL);
        for (size_t j = 0; j < times; j++) {
            const double *column = t->value + ((size_t)s->first + j * (size_t)s->nname + (size_t)i) * rows;
            for (size_t r = 0; r < rows; r++) block[r * times + j] = column[r];
        }
        if (link) {
            for (size_t c = 0; c < n; c++) link[c] = name[c] == '/' ? '|' : name[c];
            link[n] = 0;
            put_data(h, group, link, t->unit[s->first + i], 2, (hsize_t[]){rows, times},
                     h->n_H5T_IEEE_F64LE_g, h->n_H5T_NATIVE_DOUBLE_g, block);
        }
        free(link);
    }
    free(block);
    if (group >= 0) h->f_H5Oclose(group);
}

static hid_t create_file(hdf5 *h)
{
    hid_t access = h->f_H5Pcreate(h->n_H5P_CLS_FILE_ACCESS_ID_g);
    hid_t create = h->f_H5Pcreate(h->n_H5P_CLS_FILE_CREATE_ID_g);
    h->f_H5Pset_fapl_core(access, file_step, 0);
    h->f_H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
    h->f_H5Pset_link_creation_order(create, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
    hid_t file = h->f_H5Fcreate("table.h5", H5F_ACC_TRUNC, create, access);
    h->f_H5Pclose(access);
    h->f_H5Pclose(create);
    return file;
}

/* Hands the file over; DAE_ERR_FILE: write asked to stop. */
static dae_status deliver(hdf5 *h, hid_t file, dae_write_fn *write, void *user)
{
    if (h->f_H5Fflush(file, H5F_SCOPE_GLOBAL) < 0) return DAE_ERR_MEMORY;
    ssize_t size = h->f_H5Fget_file_image(file, NULL, 0);
    char *image = size > 0 ? malloc((size_t)size) : NULL;
    dae_status s = DAE_ERR_MEMORY;
    if (image && h->f_H5Fget_file_image(file, image, (size_t)size) == size)
        s = write(image, (size_t)size, user) < 0 ? DAE_ERR_FILE : DAE_OK;
    free(image);
    return s;
}

dae_status dae_table_hdf5(const dae_table *t, dae_write_fn *write, void *user, dae_error *err)
{
    hdf5 h;
    if (t->failed) return dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    dae_status s = load(&h, err);
    if (s < 0) return s;
    hid_t file = create_file(&h);
    series columns = find_series(t);
    if (file < 0) {
        unload(&h);
        return dae_fail(err, DAE_ERR_MEMORY, NAN, "the HDF5 library could not make a file in memory");
    }
    put_text(&h, file, format_name, format_text);
    if (columns.first <= most_names)
        put_attribute(&h, file, columns_name, h.words, h.words, columns.first, t->name);
    for (int i = 0; i < t->nattribute && !h.failed; i++) {
        const dae_attribute *a = &t->attribute[i];
        if (a->text) put_text(&h, file, a->name, a->text);
        else put_attribute(&h, file, a->name, h.n_H5T_IEEE_F64LE_g, h.n_H5T_NATIVE_DOUBLE_g, 0, &a->value);
    }
    for (int k = 0; k < columns.first && !h.failed; k++) put_column(&h, file, t, k);
    if (columns.first < t->ncol && !h.failed) put_series(&h, file, t, &columns);
    s = h.failed ? DAE_ERR_MEMORY : deliver(&h, file, write, user);
    if (s == DAE_ERR_MEMORY) dae_fail(err, s, NAN, "the HDF5 library could not write the table: memory?");
    if (s == DAE_ERR_FILE) dae_fail(err, s, NAN, "the file could not be written");
    h.f_H5Fclose(file);
    unload(&h);
    return s;
}

/* ---- Reading --------------------------------------------------------------------------------------- */

/* The table that is made, and its parts in the arena. */
typedef struct builder {
    hdf5 *h;
    hid_t file;
    dae_arena *arena;
    dae_table_memory *m;
} builder;

static const char *kept(builder *b, const char *text)
{
    const char *copy = dae_arena_copy(b->arena, text, strlen(text) + 1, 1);
    return copy ? copy : "";
}

/* The type in which strings of that file type are read: HDF5 does not convert between the two kinds. */
static hid_t string_type(hdf5 *h, hid_t type)
{
    hid_t memory_type = h->f_H5Tcopy(h->n_H5T_C_S1_g);
    h->f_H5Tset_size(memory_type,
                     h->f_H5Tis_variable_str(type) > 0 ? H5T_VARIABLE : h->f_H5Tget_size(type) + 1);
    h->f_H5Tset_cset(memory_type, h->f_H5Tget_cset(type));
    return memory_type;
}

/* Strings of a dataset (or an attribute) into n cells. */
static void read_strings(builder *b, hid_t from, int attribute, size_t n, const char **cell)
{
    hdf5 *h = b->h;
    hid_t type = attribute ? h->f_H5Aget_type(from) : h->f_H5Dget_type(from),
          memory_type = string_type(h, type);
    hid_t space = attribute ? h->f_H5Aget_space(from) : h->f_H5Dget_space(from);
    int variable = h->f_H5Tis_variable_str(type) > 0;
    size_t size = variable ? sizeof(char *) : h->f_H5Tget_size(type) + 1;
    char *block = calloc(n + 1, size);
    herr_t r = -1;
    if (block)
        r = attribute ? h->f_H5Aread(from, memory_type, block)
                      : h->f_H5Dread(from, memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, block);
    need(h, r >= 0);
    if (r >= 0 && variable) {
        char **text = (char **)(void *)block;
        for (size_t i = 0; i < n; i++) cell[i] = kept(b, text[i] ? text[i] : "");
        h->f_H5Dvlen_reclaim(memory_type, space, H5P_DEFAULT, block);
    } else if (r >= 0) {
        const char *copy = dae_arena_copy(b->arena, block, n + 1, size);
        for (size_t i = 0; copy && i < n; i++) cell[i] = copy + i * size;
    }
    free(block);
    h->f_H5Sclose(space);
    h->f_H5Tclose(memory_type);
    h->f_H5Tclose(type);
}

static int type_class(hdf5 *h, hid_t type)
{
    int c = h->f_H5Tget_class(type);
    h->f_H5Tclose(type);
    return c;
}

/* Attribute `name` of an object: its text, or "". */
static const char *text_attribute(builder *b, hid_t at, const char *name)
{
    hdf5 *h = b->h;
    const char *text = "";
    if (h->f_H5Aexists(at, name) <= 0) return text;
    hid_t a = h->f_H5Aopen(at, name, H5P_DEFAULT), space = h->f_H5Aget_space(a);
    if (type_class(h, h->f_H5Aget_type(a)) == H5T_STRING && h->f_H5Sget_simple_extent_npoints(space) == 1)
        read_strings(b, a, 1, 1, &text);
    h->f_H5Sclose(space);
    h->f_H5Aclose(a);
    return text;
}

/* Sizes of a dataset; its rank, or -1: no dataset, or of something else than numbers and strings. */
static int shape(builder *b, hid_t d, hsize_t *size)
{
    hdf5 *h = b->h;
    if (d < 0 || h->f_H5Iget_type(d) != H5I_DATASET) return -1;
    int c = type_class(h, h->f_H5Dget_type(d)), rank = -1;
    hid_t space = h->f_H5Dget_space(d);
    if (h->f_H5Sget_simple_extent_ndims(space) <= 2) rank = h->f_H5Sget_simple_extent_dims(space, size, NULL);
    h->f_H5Sclose(space);
    return c == H5T_INTEGER || c == H5T_FLOAT || c == H5T_STRING ? rank : -1;
}

static int add_column(builder *b, const char *name)
{
    dae_table_memory *m = b->m;
    int k = m->t.ncol;
    if ((k & (k + 1)) == 0) { /* 0, 1, 3, 7, ...: room for as many again */
        size_t n = 2 * (size_t)k + 2;
        const char **names = realloc(m->name, n * sizeof *names), **units;
        if (names) m->name = names;
        units = realloc(m->unit, n * sizeof *units);
        if (units) m->unit = units;
        need(b->h, names && units);
        if (!names || !units) return -1;
    }
    m->name[k] = kept(b, name);
    m->unit[k] = "";
    m->t.ncol++;
    return k;
}

/* Names of the columns: those of the attribute, or of all datasets with one dimension of the same length. */
static void list_columns(builder *b)
{
    hdf5 *h = b->h;
    if (h->f_H5Aexists(b->file, columns_name) > 0) {
        hid_t a = h->f_H5Aopen(b->file, columns_name, H5P_DEFAULT), space = h->f_H5Aget_space(a);
        hssize_t n = h->f_H5Sget_simple_extent_npoints(space);
        const char **name = n > 0 ? calloc((size_t)n, sizeof *name) : NULL;
        need(h, name && type_class(h, h->f_H5Aget_type(a)) == H5T_STRING);
        if (!h->failed) read_strings(b, a, 1, (size_t)n, name);
        for (hssize_t k = 0; k < n && !h->failed; k++) add_column(b, name[k]);
        free(name);
        h->f_H5Sclose(space);
        h->f_H5Aclose(a);
        return;
    }
    H5G_info_t info = {0};
    hsize_t rows = 0;
    h->f_H5Gget_info(b->file, &info);
    for (hsize_t i = 0; i < info.nlinks && !h->failed; i++) {
        char name[256];
        hsize_t size[2] = {0};
        if (h->f_H5Lget_name_by_idx(b->file, ".", H5_INDEX_CRT_ORDER, H5_ITER_INC, i, name, sizeof name,
                                    H5P_DEFAULT) < 0 &&
            h->f_H5Lget_name_by_idx(b->file, ".", H5_INDEX_NAME, H5_ITER_INC, i, name, sizeof name,
                                    H5P_DEFAULT) < 0)
            continue;
        hid_t d = h->f_H5Oopen(b->file, name, H5P_DEFAULT);
        if (shape(b, d, size) == 1 && (b->m->t.ncol == 0 || size[0] == rows)) {
            add_column(b, name);
            rows = size[0];
        }
        if (d >= 0) h->f_H5Oclose(d);
    }
}

/* The columns of /series, after those there are. */
static void list_series(builder *b, series *s)
{
    hdf5 *h = b->h;
    *s = (series){b->m->t.ncol, 0, 0};
    if (h->f_H5Lexists(b->file, series_group, H5P_DEFAULT) <= 0) return;
    hid_t group = h->f_H5Oopen(b->file, series_group, H5P_DEFAULT),
          d = h->f_H5Oopen(b->file, "series/t", H5P_DEFAULT);
    hsize_t size[2] = {0};
    H5G_info_t info = {0};
    if (shape(b, d, size) == 1 && size[0] > 0 && size[0] < 10000000) {
        double *t = calloc((size_t)size[0], sizeof *t);
        need(h, t && h->f_H5Dread(d, h->n_H5T_NATIVE_DOUBLE_g, H5S_ALL, H5S_ALL, H5P_DEFAULT, t) >= 0);
        h->f_H5Gget_info(group, &info);
        s->ntime = (int)size[0];
        s->nname = (int)info.nlinks - 1;
        for (int j = 0; j < s->ntime && !h->failed; j++) {
            for (hsize_t i = 0; i < info.nlinks && !h->failed; i++) {
                char name[256], full[320];
                if (h->f_H5Lget_name_by_idx(group, ".", H5_INDEX_CRT_ORDER, H5_ITER_INC, i, name, sizeof name,
                                            H5P_DEFAULT) < 0)
                    h->failed = 1;
                if (h->failed || !strcmp(name, "t")) continue;
                dae_snprintf(full, sizeof full, "%s@%.9g", name, t[j]);
                add_column(b, full);
            }
        }
        free(t);
    }
    if (d >= 0) h->f_H5Oclose(d);
    if (group >= 0) h->f_H5Oclose(group);
}

/* Room for the cells of so many rows. */
static void reserve(builder *b, size_t rows)
{
    dae_table_memory *m = b->m;
    size_t n = (size_t)m->t.ncol * rows + 1;
    m->t.nrow = (long)rows;
    m->value = calloc(n, sizeof *m->value);
    m->cell = calloc(n, sizeof *m->cell);
    need(b->h, m->value && m->cell);
}

static void print_numbers(builder *b, int k)
{
    enum { width = 26 };
    size_t rows = (size_t)b->m->t.nrow, from = (size_t)k * rows;
    char *text = dae_arena_take(b->arena, rows + 1, width);
    for (size_t i = 0; text && i < rows; i++) {
        if (!isnan(b->m->value[from + i]))
            dae_snprintf(text + i * width, width, "%.17g", b->m->value[from + i]);
        b->m->cell[from + i] = text + i * width;
    }
}

static double as_number(const char *text)
{
    char *end;
    double x = dae_strtod(text, &end);
    return end == text || *end ? NAN : x;
}

static void read_column(builder *b, int k)
{
    hdf5 *h = b->h;
    dae_table_memory *m = b->m;
    hsize_t size[2] = {0};
    char *link = link_name(m->name, k);
    hid_t d = link ? h->f_H5Oopen(b->file, link, H5P_DEFAULT) : -1;
    if (shape(b, d, size) != 1 || (k > 0 && (long)size[0] != m->t.nrow) || size[0] > 1000000000) {
        h->failed = 1;
        dae_fail(h->err, DAE_ERR_INPUT, NAN, "/%s is not a column of %ld values", link ? link : "?",
                 m->t.nrow);
    }
    if (!h->failed && k == 0) reserve(b, (size_t)size[0]);
    size_t rows = (size_t)m->t.nrow, from = (size_t)k * rows;
    if (!h->failed && type_class(h, h->f_H5Dget_type(d)) == H5T_STRING) {
        read_strings(b, d, 0, rows, m->cell + from);
        for (size_t i = 0; i < rows && !h->failed; i++) m->value[from + i] = as_number(m->cell[from + i]);
    } else if (!h->failed) {
        need(h,
             h->f_H5Dread(d, h->n_H5T_NATIVE_DOUBLE_g, H5S_ALL, H5S_ALL, H5P_DEFAULT, m->value + from) >= 0);
        print_numbers(b, k);
    }
    if (!h->failed) m->unit[k] = text_attribute(b, d, "unit");
    if (d >= 0) h->f_H5Oclose(d);
    free(link);
}

static void read_series(builder *b, const series *s)
{
    hdf5 *h = b->h;
    dae_table_memory *m = b->m;
    size_t rows = (size_t)m->t.nrow, times = (size_t)s->ntime;
    double *block = calloc(rows * times + 1, sizeof *block), time;
    need(h, block != NULL);
    for (int i = 0; i < s->nname && !h->failed; i++) {
        char path[320];
        hsize_t size[2] = {0};
        const char *name = m->name[s->first + i];
        snprintf(path, sizeof path, "%s/%.*s", series_group, (int)series_name(name, &time), name);
        hid_t d = h->f_H5Oopen(b->file, path, H5P_DEFAULT);
        if (shape(b, d, size) != 2 || size[0] != rows || size[1] != times) {
            h->failed = 1;
            dae_fail(h->err, DAE_ERR_INPUT, NAN, "/%s is not a table of %zu x %zu values", path, rows, times);
        } else {
            need(h, h->f_H5Dread(d, h->n_H5T_NATIVE_DOUBLE_g, H5S_ALL, H5S_ALL, H5P_DEFAULT, block) >= 0);
        }
        const char *unit = h->failed ? "" : text_attribute(b, d, "unit");
        for (size_t j = 0; j < times && !h->failed; j++) {
            int k = s->first + (int)j * s->nname + i;
            for (size_t r = 0; r < rows; r++) m->value[(size_t)k * rows + r] = block[r * times + j];
            m->unit[k] = unit;
            print_numbers(b, k);
        }
        if (d >= 0) h->f_H5Oclose(d);
    }
    free(block);
}

/* Attributes of the root that are one text or one number. */
static void read_attributes(builder *b)
{
    enum { most = 1000 };
    hdf5 *h = b->h;
    dae_attribute *list = dae_arena_take(b->arena, most, sizeof *list);
    int n = 0;
    for (hsize_t i = 0; list && i < most && !h->failed; i++) {
        char name[256];
        hid_t a = h->f_H5Aopen_by_idx(b->file, ".", H5_INDEX_NAME, H5_ITER_INC, i, H5P_DEFAULT, H5P_DEFAULT);
        if (a < 0) break;
        hid_t space = h->f_H5Aget_space(a);
        int kind = type_class(h, h->f_H5Aget_type(a)), single = h->f_H5Sget_simple_extent_npoints(space) == 1;
        h->f_H5Aget_name(a, sizeof name, name);
        if (single && strcmp(name, format_name) != 0 && strcmp(name, columns_name) != 0) {
            dae_attribute *x = &list[n];
            x->name = kept(b, name);
            if (kind == H5T_STRING) read_strings(b, a, 1, 1, &x->text);
            if (kind == H5T_INTEGER || kind == H5T_FLOAT)
                need(h, h->f_H5Aread(a, h->n_H5T_NATIVE_DOUBLE_g, &x->value) >= 0);
            n += kind == H5T_STRING || kind == H5T_INTEGER || kind == H5T_FLOAT;
        }
        h->f_H5Sclose(space);
        h->f_H5Aclose(a);
    }
    b->m->t.attribute = list;
    b->m->t.nattribute = n;
}

static hid_t open_file(hdf5 *h, const void *data, size_t size)
{
    hid_t access = h->f_H5Pcreate(h->n_H5P_CLS_FILE_ACCESS_ID_g), file = -1;
    void *copy = malloc(size); /* the library wants a pointer that is not constant */
    if (copy) memcpy(copy, data, size);
    h->f_H5Pset_fapl_core(access, file_step, 0);
    h->f_H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
    if (copy && h->f_H5Pset_file_image(access, copy, size) >= 0)
        file = h->f_H5Fopen("table.h5", H5F_ACC_RDONLY, access);
    h->f_H5Pclose(access);
    free(copy);
    return file;
}

dae_table *dae_table_read_hdf5(const void *data, size_t size, dae_error *err)
{
    hdf5 h;
    dae_error what = {0};
    series s;
    if (load(&h, err) < 0) return NULL;
    h.err = &what;
    builder b = {
        .h = &h, .file = open_file(&h, data, size), .arena = dae_arena_create(), .m = calloc(1, sizeof *b.m)};
    if (b.m) b.m->arena = b.arena;
    if (b.file < 0) {
        h.failed = 1;
        dae_fail(&what, DAE_ERR_INPUT, NAN, "the HDF5 file is damaged or ends early");
    } else if (b.arena && b.m) {
        list_columns(&b);
        if (!h.failed && b.m->t.ncol == 0) {
            h.failed = 1;
            dae_fail(&what, DAE_ERR_INPUT, NAN,
                     "the HDF5 file has no columns: no datasets with one dimension");
        }
        if (!h.failed) list_series(&b, &s);
        for (int k = 0; !h.failed && k < s.first; k++) read_column(&b, k);
        if (!h.failed && s.nname > 0) read_series(&b, &s);
        if (!h.failed) read_attributes(&b);
    }
    if (b.file >= 0) h.f_H5Fclose(b.file);
    unload(&h);
    if (b.arena && b.m && !h.failed && !dae_arena_failed(b.arena)) {
        b.m->t.name = b.m->name;
        b.m->t.unit = b.m->unit;
        b.m->t.text = b.m->cell;
        b.m->t.value = b.m->value;
        return &b.m->t;
    }
    if (what.status < 0) dae_fail(err, what.status, NAN, "%s", what.text);
    else if (h.failed) dae_fail(err, DAE_ERR_INPUT, NAN, "the HDF5 file cannot be read as a table");
    else dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    if (b.m) dae_table_destroy(&b.m->t);
    else dae_arena_destroy(b.arena);
    return NULL;
}

#else

static dae_status missing(dae_error *err)
{
    return dae_fail(err, DAE_ERR_UNSUPPORTED, NAN,
                    "this program was built without HDF5; install libhdf5-dev and build again (make extras), "
                    "or use CSV or JSON files");
}

dae_status dae_table_hdf5(const dae_table *t, dae_write_fn *write, void *user, dae_error *err)
{
    (void)t, (void)write, (void)user;
    return missing(err);
}

dae_table *dae_table_read_hdf5(const void *data, size_t size, dae_error *err)
{
    (void)data, (void)size;
    missing(err);
    return NULL;
}

#endif
