/* Robots of other programs: accelerations of their joints in random states against MuJoCo, what is told, what is refused. */
#include "mechanics.h"

#include "multibody/import/xml.h"
#include "multibody/mechanism.h"

#include "core/file.h"

#include <stdio.h>

typedef struct robot_state {
    int number; /* of the state */
    const char *joint;
    double q, speed, acceleration;
} robot_state;

typedef struct robot_case {
    const char *name;
    const robot_state *state;
    int count, joints;
} robot_case;

#include "robots_reference.h"

static char notes[4096];

static void note(const char *text, void *user)
{
    (void)user;
    snprintf(notes + strlen(notes), sizeof notes - strlen(notes), "%s\n", text);
}

static char written[1 << 20];

static int take(const char *text, size_t length, void *user)
{
    (void)user;
    size_t n = strlen(written);
    if (n + length + 1 > sizeof written) return -1;
    memcpy(written + n, text, length);
    written[n + length] = 0;
    return 0;
}

static dae_status import(const char *text, int floating, dae_error *err)
{
    notes[0] = written[0] = 0;
    return mbs_import(text, strlen(text), NULL, &(mbs_import_options){.floating = floating, .note = note},
                      take, NULL, err);
}

/* q'' of a joint from the accelerations of its two bodies: along its axis a, which is fixed in i,
 *     turning  q'' = a . (alpha_j - alpha_i),    sliding  q'' = a . (acceleration of the point of j - of the point of i there). */
static double joint_acceleration(const mbs_mechanism *m, const mbs_joint_data *j, const double *y,
                                 const double *a)
{
    double axis[3], world[3], alpha[2][3] = {{0}};
    mbs_context x = mbs_begin(m, 0, y, y + m->np);
    mbs_column(j->i.C, 2, axis);
    mbs_axis(&x, j->i.body, axis, world);
    const int body[2] = {j->i.body, j->j.body};
    for (int k = 0; k < 2; k++) {
        if (body[k]) mbs_rotate(x.pose[body[k]].A, a + 6 * (body[k] - 1) + 3, alpha[k]);
    }
    mbs_end(&x);
    double sum = 0;
    for (int i = 0; i < 3; i++) sum += world[i] * (alpha[1][i] - alpha[0][i]);
    return sum;
}

static void robots_move_as_in_mujoco(void **state)
{
    (void)state;
    for (size_t r = 0; r < sizeof robot_cases / sizeof *robot_cases; r++) {
        const robot_case *c = &robot_cases[r];
        char path[600];
        size_t length;
        dae_error err = {0};
        snprintf(path, sizeof path, "tests/multibody/robots/%s.urdf", c->name); /* from the source folder */
        char *text = dae_read_file(path, &length, &err);
        if (!text) fail_msg("%s", err.text);
        for (int first = 0; first < c->count; first += c->joints) {
            dae_setting start[32];
            char value[32][80];
            for (int k = 0; k < c->joints; k++) {
                const robot_state *s = &c->state[first + k];
                snprintf(value[k], sizeof value[k], "%.17g:%.17g", s->q, s->speed);
                start[k] = (dae_setting){s->joint, value[k]};
            }
            dae_problem *p = mbs_import_problem(text, length, path, start, c->joints, &err);
            if (!p) fail_msg("%s", err.text);
            const mbs_mechanism *m = mbs_problem_mechanism(p);
            double *a = calloc((size_t)m->nv, sizeof *a), scale = 1;
            assert_int_equal(m->njoint, c->joints);
            assert_int_equal(mbs_mechanism_acceleration(m, 0, p->y0, a, NULL, &err), DAE_OK);
            for (int k = 0; k < c->joints; k++) scale = fmax(scale, fabs(c->state[first + k].acceleration));
            for (int k = 0; k < c->joints; k++) {
                const robot_state *s = &c->state[first + k];
                double found = joint_acceleration(m, &m->joint[k], p->y0, a);
                if (!(fabs(found - s->acceleration) < 1e-8 * scale))
                    fail_msg("%s, joint %s: %.12g instead of %.12g", c->name, s->joint, found,
                             s->acceleration);
            }
            free(a);
            dae_problem_destroy(p);
        }
        free(text);
    }
}

/* Fixed links are one body with the mass of both; a link without mass at an end is welded; what means nothing is told once. */
static void guesses_are_told(void **state)
{
    (void)state;
    dae_error err = {0};
    static const char text[] =
        "<?xml version=\"1.0\"?><!-- a robot --><robot name=\"two\"><transmission/><transmission/>"
        "<link name=\"base\"/><link name=\"arm\"><inertial><origin xyz=\"0 0 1\"/><mass value=\"2\"/>"
        "<inertia ixx=\"1\" iyy=\"1\" izz=\"1\" ixy=\"0\" ixz=\"0\" iyz=\"0\"/></inertial>"
        "<visual><geometry><mesh filename=\"package://x/a.dae\"/></geometry></visual></link>"
        "<link name=\"tip\"><inertial><mass value=\"2\"/><inertia ixx=\"1\" iyy=\"1\" "
        "izz=\"1\"/></inertial></link>"
        "<link name=\"ghost\"/>"
        "<joint name=\"turn\" type=\"revolute\"><parent link=\"base\"/><child link=\"arm\"/><axis xyz=\"0 1 "
        "0\"/>"
        "<limit lower=\"-1\" upper=\"1\"/><dynamics damping=\"0.5\" friction=\"0.1\"/></joint>"
        "<joint name=\"held\" type=\"fixed\"><parent link=\"arm\"/><child link=\"tip\"/><origin xyz=\"0 0 "
        "3\"/></joint>"
        "<joint name=\"spin\" type=\"continuous\"><parent link=\"tip\"/><child "
        "link=\"ghost\"/></joint></robot>";
    assert_int_equal(import(text, 0, &err), DAE_OK);
    assert_non_null(strstr(notes, "link ghost has no mass: joint spin is taken as fixed"));
    assert_non_null(strstr(notes, "the base link \"base\" stands on the ground"));
    assert_non_null(strstr(notes, "1 mesh is not there"));
    char *once = strstr(notes, "<transmission>");
    assert_true(once && !strstr(once + 1, "<transmission>"));
    dae_problem *p = dae_problem_open(written, NULL, 0, &err);
    if (!p) fail_msg("%s", err.text);
    const mbs_mechanism *m = mbs_problem_mechanism(p);
    assert_int_equal(m->nbody, 1);
    assert_near(m->mass[0], 4, 1e-15);
    assert_near(m->inertia[0], 1 + 1 + 4 * 1, 1e-14); /* about z = 2: 2 kg at 1 m below and above */
    assert_near(m->inertia[8], 2, 1e-15);
    assert_near(p->y0[2], 2, 1e-15);
    assert_int_equal(m->nforce, 2); /* stop, damping with friction */
    dae_problem_destroy(p);
}

static void mimic_joints_are_gears(void **state)
{
    (void)state;
    dae_error err = {0};
    char text[3000] = "<robot name=\"gripper\"><link name=\"palm\"/>";
    for (int k = 0; k < 2; k++) {
        char part[900];
        snprintf(
            part, sizeof part,
            "<link name=\"finger%d\"><inertial><mass value=\"1\"/><inertia ixx=\"1\" iyy=\"1\" "
            "izz=\"%d\"/></inertial>"
            "</link><joint name=\"j%d\" type=\"%s\"><parent link=\"palm\"/><child link=\"finger%d\"/><axis "
            "xyz=\"0 0 1\"/>%s</joint>",
            k, k + 1, k, "continuous", k, k ? "<mimic joint=\"j0\" multiplier=\"-2\" offset=\"0.1\"/>" : "");
        strcat(text, part);
    }
    strcat(text, "</robot>");
    dae_setting start = {"j0", "0.3:1.5"};
    dae_problem *p = mbs_import_problem(text, strlen(text), NULL, &start, 1, &err);
    if (!p) fail_msg("%s", err.text);
    const mbs_mechanism *m = mbs_problem_mechanism(p);
    assert_int_equal(mbs_mechanism_topology(m).freedom, 1);
    assert_near(2 * atan2(p->y0[7 + 6], p->y0[7 + 3]), -2 * 0.3 + 0.1, 1e-14);
    assert_near(p->y0[m->np + 6 + 5], -3, 1e-14);
    dae_problem_destroy(p);
    start.name = "j1";
    assert_null(mbs_import_problem(text, strlen(text), NULL, &start, 1, &err));
    assert_non_null(strstr(err.text, "joint j1 follows joint j0 (mimic): set that one"));
}

/* What a file of xacro leaves where a number belongs. */
static void macros_of_xacro_are_named(void **state)
{
    (void)state;
    dae_error err = {0};
    assert_int_equal(
        import("<robot name=\"r\"><link name=\"base\"/><link name=\"arm\"><inertial><mass "
               "value=\"${2*m}\"/></inertial></link><joint name=\"j\" type=\"continuous\"><parent "
               "link=\"base\"/><child link=\"arm\"/></joint></robot>",
               0, &err),
        DAE_ERR_INPUT);
    assert_non_null(strstr(err.text, "value=\"${2*m}\": expected 1 number; ${...} is a macro of xacro"));
}

/* A link of 1 kg at (x 0 z) of its axes, with inertia I about its center. */
static void add_link(char *text, size_t size, const char *name, double x, double z, double I)
{
    snprintf(text + strlen(text), size - strlen(text),
             "<link name=\"%s\"><inertial><origin xyz=\"%g 0 %g\"/><mass value=\"1\"/><inertia ixx=\"%g\" "
             "iyy=\"%g\" izz=\"%g\"/></inertial></link>",
             name, x, z, I, I, I);
}

static void add_joint(char *text, size_t size, const char *name, const char *type, const char *up,
                      const char *down, const char *more)
{
    snprintf(text + strlen(text), size - strlen(text),
             "<joint name=\"%s\" type=\"%s\"><parent link=\"%s\"/><child link=\"%s\"/><axis xyz=\"0 1 "
             "0\"/>%s</joint>",
             name, type, up, down, more);
}

/* A joint carries all that hangs behind it: 1e4 N m/rad for 1 kg m^2, in proportion above, 1000 rad/s below 0.01 kg m^2. */
static void stops_suit_what_the_joint_carries(void **state)
{
    (void)state;
    dae_error err = {0};
    char text[3000] = "<robot name=\"arm\"><link name=\"base\"/>";
    static const char limits[] = "<origin xyz=\"1 0 0\"/><limit lower=\"0.2\" upper=\"4\"/>";
    add_link(text, sizeof text, "upper", 1, 0, 1);
    add_link(text, sizeof text, "tip", 0, 0, 1e-4);
    add_joint(text, sizeof text, "shoulder", "revolute", "base", "upper",
              "<limit lower=\"-1\" upper=\"1\"/>");
    add_joint(text, sizeof text, "wrist", "revolute", "upper", "tip", limits);
    strcat(text, "</robot>");
    assert_int_equal(import(text, 0, &err), DAE_OK);
    assert_non_null(strstr(notes, "joint wrist: 0 is beyond its limits: it starts at 0.2"));
    dae_problem *p = dae_problem_open(written, NULL, 0, &err);
    if (!p) fail_msg("%s", err.text);
    const mbs_mechanism *m = mbs_problem_mechanism(p);
    double I = 1 + 1 + 1 + 1e-4; /* both at 1 m of the shoulder */
    struct {
        double min, max, k, c;
    } stop;
    assert_int_equal(m->nforce, 2);
    memcpy(&stop, m->force[0].own, sizeof stop);
    assert_near(stop.k, 1e4 * I, 1e-8 * I);
    assert_near(stop.c, 100 * I, 1e-10 * I);
    memcpy(&stop, m->force[1].own, sizeof stop);
    assert_near(stop.k, 1e2, 1e-10);
    assert_near(stop.c, 0.1, 1e-13);
    dae_problem_destroy(p);
}

/* A joint turned beyond half a turn is pushed back to the end that it passed, not to the other one. */
static void angles_of_stops_count_from_their_middle(void **state)
{
    (void)state;
    dae_error err = {0};
    char text[3000] = "<robot name=\"arm\"><link name=\"base\"/>";
    add_link(text, sizeof text, "arm", 0, 0, 1);
    add_joint(text, sizeof text, "shoulder", "revolute", "base", "arm", "<limit lower=\"0\" upper=\"3.1\"/>");
    strcat(text, "</robot>");
    dae_setting start = {"shoulder", "3.2"};
    dae_problem *p = mbs_import_problem(text, strlen(text), NULL, &start, 1, &err);
    if (!p) fail_msg("%s", err.text);
    assert_true(p->note && p->note[0] && p->note[1]);
    assert_non_null(strstr(p->note[1], "joint shoulder: 3.2 is beyond its limits 0 .. 3.1"));
    double a[6];
    assert_int_equal(mbs_mechanism_acceleration(mbs_problem_mechanism(p), 0, p->y0, a, NULL, &err), DAE_OK);
    assert_near(a[4], -1e4 * 0.1, 1e-8);
    dae_problem_destroy(p);
}

/* A foot that is fixed to the ground holds a base that moves freely: legs above it, and one loop without redundant rows. */
static void fixed_second_joint_closes_a_loop(void **state)
{
    (void)state;
    dae_error err = {0};
    char text[3000] = "<robot name=\"walker\">";
    add_link(text, sizeof text, "pelvis", 0, 0, 1);
    add_link(text, sizeof text, "leg", 0, -0.5, 1);
    add_joint(text, sizeof text, "hip", "revolute", "pelvis", "leg", "");
    add_joint(text, sizeof text, "held", "fixed", "world", "leg", "<origin xyz=\"0 0 2\"/>");
    strcat(text, "</robot>");
    dae_setting start = {"hip", "0.5"};
    dae_problem *p = mbs_import_problem(text, strlen(text), NULL, &start, 1, &err);
    if (!p) fail_msg("%s", err.text);
    assert_int_equal(mbs_mechanism_topology(mbs_problem_mechanism(p)).freedom, 1);
    assert_non_null(p->note);
    assert_string_equal(p->note[1], "link leg hangs on two joints: held closes a loop");
    assert_near(p->y0[7], 0,
                1e-15); /* the leg stands upright where it is held, its center half a meter below */
    assert_near(p->y0[9], 1.5, 1e-15);
    assert_near(p->y0[2], 2, 1e-15);
    assert_near(2 * atan2(p->y0[5], p->y0[3]), -0.5, 1e-15); /* and the pelvis is turned */
    dae_problem_destroy(p);
    memcpy(strstr(text, "fixed"), "other", 5); /* joints that move do not */
    assert_true(import(text, 0, &err) < 0);
    assert_non_null(strstr(err.text, "hangs on two joints"));
}

/* A mesh without triangles is drawn as a box, like one that is not there. */
static void meshes_that_cannot_be_read_are_boxes(void **state)
{
    (void)state;
    dae_error err = {0};
    FILE *f = fopen("empty_mesh.stl", "w");
    assert_non_null(f);
    fputs("solid nothing\n", f);
    fclose(f);
    char text[3000] = "<robot name=\"arm\"><link name=\"base\"/>";
    add_link(text, sizeof text, "arm", 0, 0, 1);
    char *end = strstr(text, "</link>");
    *end = 0;
    strcat(text, "<visual><geometry><mesh filename=\"empty_mesh.stl\"/></geometry></visual></link>");
    add_joint(text, sizeof text, "shoulder", "continuous", "base", "arm", "");
    strcat(text, "</robot>");
    assert_int_equal(import(text, 0, &err), DAE_OK);
    remove("empty_mesh.stl");
    assert_non_null(strstr(notes, "1 mesh is not there"));
    assert_non_null(strstr(written, "\"box\""));
}

static void mistakes_are_named(void **state)
{
    (void)state;
    static const char *const wrong[][2] = {
        {"<robot", "line 1"},
        {"<robot><link name='a'></robot>", "a closing tag does not belong"},
        {"<robot></robot>", "has no links"},
        {"<robot><link/></robot>", "has no name"},
        {"<robot><link name='a'/></robot>", "nothing in it moves"},
        {"<robot><link name='a'/><link name='a'/></robot>", "two links \"a\""},
        {"<robot><link name='a'/><joint name='j' type='fixed'><parent link='a'/><child "
         "link='b'/></joint></robot>",
         "child \"b\" is no link"},
        {"<robot><link name='a'/><link name='b'/><joint name='j' type='elastic'><parent link='a'/><child "
         "link='b'/>"
         "</joint></robot>",
         "no joint type \"elastic\""},
        {"<robot><link name='a'/><link name='b'/><joint name='j' type='fixed'><parent link='a'/><child "
         "link='b'/>"
         "<origin xyz='0 x 0'/></joint></robot>",
         "xyz=\"0 x 0\": expected 3 numbers"},
        {"<mujoco><worldbody/><tendon/></mujoco>", "not supported: <tendon>"},
        {"<sdf/>", "expected <robot>"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        dae_error err = {0};
        assert_true(import(wrong[i][0], 0, &err) < 0);
        if (!strstr(err.text, wrong[i][1])) fail_msg("\"%s\" does not say \"%s\"", err.text, wrong[i][1]);
    }
}

/* A pendulum in MJCF: a capsule from the hinge downwards, with defaults and degrees; its acceleration by hand. */
static void mjcf_pendulum_falls(void **state)
{
    (void)state;
    dae_error err = {0};
    static const char text[] =
        "<mujoco model='pendulum'><option gravity='0 0 -10'/><default><geom density='500'/><default "
        "class='link'>"
        "<geom type='capsule' size='.1'/></default></default><worldbody><geom type='plane' size='1 1 1'/>"
        "<body name='bob' pos='0 0 2' childclass='link'><joint name='hinge' axis='0 1 0' damping='0.25'/>"
        "<geom fromto='0 0 0 1 0 0'/></body></worldbody></mujoco>";
    dae_setting start = {"hinge", "0:2"};
    dae_problem *p = mbs_import_problem(text, strlen(text), NULL, &start, 1, &err);
    if (!p) fail_msg("%s", err.text);
    const mbs_mechanism *m = mbs_problem_mechanism(p);
    double r = 0.1, l = 1, pi = 3.14159265358979323846, mc = 500 * pi * r * r * l,
           ms = 500 * 4 * pi * r * r * r / 3;
    double I = mc * (r * r / 4 + l * l / 12) + ms * (2 * r * r / 5 + l * l / 4 + 3 * r * l / 8),
           mass = mc + ms, a[6];
    assert_near(m->mass[0], mass, 1e-13 * mass);
    assert_int_equal(mbs_mechanism_acceleration(m, 0, p->y0, a, NULL, &err), DAE_OK);
    assert_near(a[4], (mass * 10 * 0.5 - 0.25 * 2) / (I + mass * 0.25), 1e-11);
    dae_problem_destroy(p);
}

/* Names of models begin with a letter, have letters, digits and _ alone, and are there once. */
static void names_become_words(void **state)
{
#define LINK(name)                                                                                       \
    "<link name='" name "'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' " \
    "iyz='0'/></inertial></link>"
    static const char robot[] = "<robot name='r'>" LINK("base") LINK("1st link")
        LINK("1st-link") "<joint name='2' type='revolute'><parent link='base'/><child link='1st link'/><axis "
                         "xyz='0 0 1'/></joint>"
                         "<joint name='3 b' type='revolute'><parent link='1st link'/><child "
                         "link='1st-link'/><axis xyz='0 0 1'/></joint>"
                         "</robot>";
    static const char *const word[] = {"\"n1st_link\"", "\"n1st_link_2\"", "\"n2\"", "\"n3_b\""};
    dae_error err = {0};
    (void)state;
    if (import(robot, 0, &err) < 0) fail_msg("%s", err.text);
    for (int k = 0; k < 4; k++) {
        if (!strstr(written, word[k])) fail_msg("no %s in\n%s", word[k], written);
    }
    dae_problem *p = dae_problem_open(written, NULL, 0, &err);
    if (!p) fail_msg("%s", err.text);
    dae_problem_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_become_words),
        cmocka_unit_test(robots_move_as_in_mujoco),
        cmocka_unit_test(guesses_are_told),
        cmocka_unit_test(stops_suit_what_the_joint_carries),
        cmocka_unit_test(angles_of_stops_count_from_their_middle),
        cmocka_unit_test(fixed_second_joint_closes_a_loop),
        cmocka_unit_test(meshes_that_cannot_be_read_are_boxes),
        cmocka_unit_test(mimic_joints_are_gears),
        cmocka_unit_test(macros_of_xacro_are_named),
        cmocka_unit_test(mistakes_are_named),
        cmocka_unit_test(mjcf_pendulum_falls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
