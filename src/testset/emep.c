/* EMEP: the ozone chemistry of the EMEP MSC-W model, rural case: 66 species, 170 reactions, emissions and
 * depositions over 112 hours.
 *
 *     y_s' = sum over reactions of (amount made - order) v_r,   v_r = factor_r k_r(t) prod y_s^order
 *
 * in molecules/cm^3, t in seconds from 4 h of the first day. The tables of emep_data.h are compiled by setup
 * into flat arrays from which f, its Jacobian and the sparsity pattern come. Rate constants depend on time
 * through sunlight (photolysis), the deposition factor and the humidity. They jump at sunrise and sunset (4
 * h and 20 h) and, by the humidity, at midnight; t_end is a sunset, where the reference is the left limit.
 *
 * Source: J.G. Verwer, D. Simpson, Explicit methods for stiff ODEs from atmospheric chemistry, CWI report
 * NM-R9409, 1994; test set report, release 2.3, part II-5. */
#include "testset/emep_data.h"
#include "testset/emep_parameters.h"
#include "testset/testset.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum {
    RATES = sizeof rate_table / sizeof rate_table[0],
    REACTIONS = sizeof reaction_table / sizeof reaction_table[0],
    FACTORS_MAX = 64, /* functions of time */
    TERMS_MAX = 800,  /* entries of the stoichiometric matrix */
    ENTRIES_MAX = 1600
};
/* The first functions of time; the photolyses follow. */
enum { CONSTANT, WATER, WATER_HO2, DEPOSIT, FIRST_PHOTOLYSIS };

static const double pi = 3.14159265358979323846;

typedef struct emep {
    double water;            /* H2O per per cent of humidity */
    double cos_cos, sin_sin; /* of latitude and declination */
    double ho2;              /* 1.4e-21 exp(2200/T) */
    double light_a[FACTORS_MAX], light_b[FACTORS_MAX];
    int nfactor; /* functions of time */
    double emission[SPECIES];
    int nfirst, nrate;                                 /* reactions with one and with any reactant */
    double k[REACTIONS];                               /* constant part of k_r */
    int factor[REACTIONS], a[REACTIONS], b[REACTIONS]; /* function of time, reactants */
    int row[SPECIES + 1], reaction[TERMS_MAX];         /* stoichiometric matrix by species */
    double amount[TERMS_MAX];
    int colptr[SPECIES + 1], rowind[ENTRIES_MAX];
    int first[ENTRIES_MAX + 1]; /* Jacobian entry e: terms first[e] .. first[e+1]-1 */
    int partial[ENTRIES_MAX];   /* dv_r/dy_s, in the order of partials() */
    double weight[ENTRIES_MAX];
} emep;

/* ---- Evaluation ------------------------------------------------------------------------------ */

/* The functions of time at t. */
static void time_functions(const emep *m, double t, double *w)
{
    double hour = t / 3600 - 24 * floor(t / 86400);
    int night = hour < 4 || hour >= 20;
    double humidity = 23 * sin(2.43 - 7.93e-5 * 3600 * hour) + 66.5, H2O = m->water * humidity;
    w[CONSTANT] = 1;
    w[WATER] = H2O;
    w[WATER_HO2] = 1 + m->ho2 * H2O;
    w[DEPOSIT] = night ? 0.25 : 1;
    if (night) {
        for (int i = FIRST_PHOTOLYSIS; i < m->nfactor; i++) w[i] = 1e-40;
        return;
    }
    double angle =
        (1 + 3600 * hour / 43200) * pi; /* in this order: exp(-b sec) magnifies its rounding at dawn */
    double sec = 1 / (cos(angle) * m->cos_cos + m->sin_sin);
    for (int i = FIRST_PHOTOLYSIS; i < m->nfactor; i++) w[i] = m->light_a[i] * exp(-m->light_b[i] * sec);
}

/* Their derivatives. */
static void time_derivatives(const emep *m, double t, double *w)
{
    double hour = t / 3600 - 24 * floor(t / 86400), angle = (1 + 3600 * hour / 43200) * pi;
    double H2O = -7.93e-5 * 23 * cos(2.43 - 7.93e-5 * 3600 * hour) * m->water;
    w[CONSTANT] = w[DEPOSIT] = 0;
    w[WATER] = H2O;
    w[WATER_HO2] = m->ho2 * H2O;
    int night = hour < 4 || hour >= 20;
    double sec = 1 / (cos(angle) * m->cos_cos + m->sin_sin),
           slope = sec * sec * sin(angle) * m->cos_cos * pi / 43200;
    for (int i = FIRST_PHOTOLYSIS; i < m->nfactor; i++)
        w[i] = night ? 0 : -m->light_a[i] * exp(-m->light_b[i] * sec) * m->light_b[i] * slope;
}

/* f += what the reactions make at these values of the functions of time. */
static void add_reactions(const emep *m, const double *w, const double *y, double *f)
{
    double v[REACTIONS];
    int r = 0;
    for (; r < m->nfirst; r++) v[r] = m->k[r] * w[m->factor[r]] * y[m->a[r]];
    for (; r < m->nrate; r++) v[r] = m->k[r] * w[m->factor[r]] * y[m->a[r]] * y[m->b[r]];
    for (int s = 0, e = 0; s < SPECIES; s++) {
        double sum = f[s];
        for (; e < m->row[s + 1]; e++) sum += m->amount[e] * v[m->reaction[e]];
        f[s] = sum;
    }
}

static int rhs(double t, const double *y, double *f, void *user)
{
    const emep *m = user;
    double w[FACTORS_MAX];
    time_functions(m, t, w);
    memcpy(f, m->emission, sizeof m->emission);
    add_reactions(m, w, y, f);
    return 0;
}

static int dfdt(double t, const double *y, double *f, void *user)
{
    const emep *m = user;
    double w[FACTORS_MAX];
    time_derivatives(m, t, w);
    memset(f, 0, sizeof m->emission);
    add_reactions(m, w, y, f);
    return 0;
}

/* The derivatives of the rates: one per reactant (a square has one). */
static void partials(const emep *m, const double *w, const double *y, double *d)
{
    int n = 0, r = 0;
    for (; r < m->nfirst; r++) d[n++] = m->k[r] * w[m->factor[r]];
    for (; r < m->nrate; r++) {
        double k = m->k[r] * w[m->factor[r]];
        if (m->a[r] == m->b[r]) {
            d[n++] = 2 * k * y[m->a[r]];
        } else {
            d[n++] = k * y[m->b[r]];
            d[n++] = k * y[m->a[r]];
        }
    }
}

static int jacobian(double t, const double *y, double *jac, void *user)
{
    const emep *m = user;
    double w[FACTORS_MAX], d[2 * REACTIONS];
    time_functions(m, t, w);
    partials(m, w, y, d);
    for (int e = 0; e < m->colptr[SPECIES]; e++) {
        double sum = 0;
        for (int i = m->first[e]; i < m->first[e + 1]; i++) sum += m->weight[i] * d[m->partial[i]];
        jac[e] = sum;
    }
    return 0;
}

/* ---- Compiling the tables -------------------------------------------------------------------- */

/* The air and the place, and the factors of the rate constants, in the order of the parameters. */
typedef struct constants {
    double T, M, O2, HMIX, latitude, declination;
    double a[RATES];
} constants;

/* The constant part of a rate constant with the factor a; *factor becomes its function of time. */
static double constant_part(emep *m, const constants *c, const rate_constant *k, double a, int *factor)
{
    double arrhenius = a * exp(k->b / c->T);
    if (k->n != 0) arrhenius *= pow(c->T / 300, k->n);
    *factor = CONSTANT;
    switch (k->form) {
    case ARRHENIUS: return arrhenius;
    case ARRHENIUS_M: return arrhenius * c->M;
    case ARRHENIUS_M_O2: return arrhenius * c->M * c->O2;
    case ARRHENIUS_H2O: *factor = WATER; return arrhenius;
    case HO2_SELF:
        *factor = WATER_HO2;
        return a * (2.3e-13 * exp(600 / c->T) + c->M * 1.7e-33 * exp(1000 / c->T));
    case DEPOSITION: *factor = DEPOSIT; return a / c->HMIX;
    case EMISSION: return a / c->HMIX;
    case PHOTOLYSIS: break;
    }
    int i = FIRST_PHOTOLYSIS;
    while (i < m->nfactor && !(m->light_a[i] == a && m->light_b[i] == k->b)) i++;
    assert(i < FACTORS_MAX);
    m->light_a[i] = a;
    m->light_b[i] = k->b;
    if (i == m->nfactor) m->nfactor++;
    *factor = i;
    return 1;
}

/* A decimal number without exponent; independent of the locale, correctly rounded. */
static double read_number(const char **text)
{
    double digits = 0, scale = 1;
    int fraction = 0;
    for (; (**text >= '0' && **text <= '9') || **text == '.'; ++*text) {
        if (**text == '.') {
            fraction = 1;
        } else {
            digits = 10 * digits + (**text - '0');
            if (fraction) scale *= 10;
        }
    }
    return digits / scale;
}

static int read_species(const char **text)
{
    size_t n = strcspn(*text, " ");
    for (int s = 0; s < SPECIES; s++) {
        if (strlen(species_name[s]) == n && !memcmp(species_name[s], *text, n)) {
            *text += n;
            return s;
        }
    }
    assert(0); /* the table names an unknown species */
    return 0;
}

/* One reaction as numbers: reactants (a square has twice the same), net amounts of all species. */
typedef struct parsed {
    int order, reactant[2];
    double net[SPECIES];
} parsed;

static void parse(const char *text, parsed *p)
{
    *p = (parsed){0};
    double sign = -1;
    while (*text) {
        if (*text == ' ' || *text == '+') {
            text++;
        } else if (*text == '-') { /* -> */
            sign = 1;
            text += 2;
        } else {
            double amount = *text >= '0' && *text <= '9' ? read_number(&text) : 1;
            while (*text == ' ') text++;
            int s = read_species(&text);
            p->net[s] += sign * amount;
            for (int i = 0; sign < 0 && i < (int)amount; i++) p->reactant[p->order++] = s;
        }
    }
}

/* Takes the reactions of one order into the list; amounts go to net (by reaction). */
static void take_order(emep *m, const constants *c, int order, double (*net)[SPECIES])
{
    for (int i = 0; i < REACTIONS; i++) {
        const reaction *x = &reaction_table[i];
        parsed p;
        parse(x->text, &p);
        if (p.order != order) continue;
        int j = 0, factor;
        while (j < RATES && strcmp(rate_table[j].name, x->rate)) j++;
        assert(j < RATES);
        double k = x->factor * constant_part(m, c, &rate_table[j], c->a[j], &factor);
        if (order == 0) {
            for (int s = 0; s < SPECIES; s++) m->emission[s] += k * p.net[s];
            continue;
        }
        int r = m->nrate++;
        m->k[r] = k;
        m->factor[r] = factor;
        m->a[r] = p.reactant[0];
        m->b[r] = p.reactant[1];
        memcpy(net[r], p.net, sizeof p.net);
    }
}

static void compile_jacobian(emep *m, double (*net)[SPECIES])
{
    int entries = 0, terms = 0;
    for (int column = 0; column < SPECIES; column++) {
        int hit[REACTIONS], position[REACTIONS], hits = 0, partial = 0;
        for (int r = 0; r < m->nrate; r++) { /* counts the partials as partials() does */
            int two = r >= m->nfirst && m->a[r] != m->b[r];
            if (m->a[r] == column || (two && m->b[r] == column)) {
                hit[hits] = r;
                position[hits++] = m->a[r] == column ? partial : partial + 1;
            }
            partial += two ? 2 : 1;
        }
        m->colptr[column] = entries;
        for (int s = 0; s < SPECIES; s++) {
            m->first[entries] = terms;
            for (int i = 0; i < hits; i++) {
                if (net[hit[i]][s] == 0) continue;
                assert(terms < ENTRIES_MAX);
                m->partial[terms] = position[i];
                m->weight[terms++] = net[hit[i]][s];
            }
            if (terms > m->first[entries]) m->rowind[entries++] = s;
        }
    }
    m->colptr[SPECIES] = entries;
    m->first[entries] = terms;
}

static void compile(emep *m, const constants *c, double (*net)[SPECIES])
{
    const double T = c->T;
    double degree = pi / 180, Z = (597.3 - 0.57 * (T - 273.16)) * 18 / 1.986 * (1 / T - 1 / 273.16);
    m->water = 6.1078 * exp(-Z) * 10 / (1.38e-16 * T);
    m->cos_cos = cos(c->latitude * degree) * cos(c->declination * degree);
    m->sin_sin = sin(c->latitude * degree) * sin(c->declination * degree);
    m->ho2 = 1.4e-21 * exp(2200 / T);
    m->nfactor = FIRST_PHOTOLYSIS;
    take_order(m, c, 0, net);
    take_order(m, c, 1, net);
    m->nfirst = m->nrate;
    take_order(m, c, 2, net);
    int terms = 0;
    for (int s = 0; s < SPECIES; s++) {
        m->row[s] = terms;
        for (int r = 0; r < m->nrate; r++) {
            if (net[r][s] == 0) continue;
            assert(terms < TERMS_MAX);
            m->reaction[terms] = r;
            m->amount[terms++] = net[r][s];
        }
    }
    m->row[SPECIES] = terms;
    compile_jacobian(m, net);
}

/* ---- Data ------------------------------------------------------------------------------------ */

/* Sunsets, midnights and sunrises in seconds; the last one is t_end. */
static const double jump[] = {72000,  86400,  100800, 158400, 172800, 187200, 244800,
                              259200, 273600, 331200, 345600, 360000, 417600};
static const int plot[] = {0, 1, 2, 4, 13, 39};

static const dae_parameter parameter[] = {EMEP_PARAMETERS, {NULL, 0, 0, 0, NULL, 0, NULL, NULL}};

static dae_status setup(dae_problem *p, dae_error *err)
{
    (void)err;
    emep *m = dae_problem_take(p, 1, sizeof *m);
    double(*net)[SPECIES] = dae_problem_take(p, REACTIONS, sizeof *net);
    double *y0 = dae_problem_reals(p, SPECIES);
    unsigned char *scored = dae_problem_take(p, SPECIES, 1);
    constants *c = dae_problem_take(p, 1, sizeof *c);
    if (!m || !net || !y0 || !scored || !c) return DAE_ERR_MEMORY;
    dae_problem_constants(p, 0, c, sizeof *c);
    compile(m, c, net);
    for (int s = 0; s < SPECIES; s++) {
        y0[s] = s < 5 ? 0 : s < 13 ? 1e7 : 100;
        scored[s] = s != 35 && s != 37; /* OP and OD: very small and without meaning */
    }
    y0[0] = 1e9;
    y0[1] = y0[2] = 5e9;
    y0[3] = 3.8e12;
    y0[4] = 3.5e13;
    y0[13] = 5e11;
    y0[37] = 1e-3;
    p->system = (dae_system){
        .kind = DAE_KIND_ODE,
        .ode = {.n = SPECIES, .f = rhs, .jac = jacobian, .dfdt = dfdt, .user = m},
        .structure = {.jacobian = {.storage = DAE_SPARSE, .colptr = m->colptr, .rowind = m->rowind}}};
    p->t0 = 14400;
    p->t_end = 417600;
    p->y0 = y0;
    p->discontinuity = jump;
    p->ndiscontinuity = (int)(sizeof jump / sizeof jump[0]);
    p->rtol = 1e-2;
    p->atol = 1;
    p->h0 = 1e-7;
    p->reference = dae_problem_is_default(p) ? reference : NULL;
    p->reference_digits = 15.9;
    p->reference_source = "recomputed in extended precision, orders 13 and 9 agree to 16.1 digits; "
                          "the test set's has 11.6 (OP, OD: 4.8, 0)";
    p->published = dae_problem_is_default(p) ? published : NULL;
    p->scored = scored;
    p->component = species_name;
    dae_problem_units(p, 0, SPECIES, "1/cm^3");
    p->time_unit = "s";
    p->plot = plot;
    p->nplot = 6;
    return DAE_OK;
}

const dae_problem_entry dae_problem_emep = {
    .info = {.name = "emep",
             .title = "EMEP problem",
             .kind = DAE_KIND_ODE,
             .n = SPECIES,
             .stiff = 1,
             .origin = "atmospheric chemistry, EMEP MSC-W ozone model (Verwer and Simpson 1994)",
             .parameter = parameter},
    .setup = setup};
