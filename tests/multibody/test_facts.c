/* One fact with a closed form for every joint and force, in the plane and in space, signs and factors included; and bodies that
 * turn together as one, in which no damper and no friction may act. */
#include "mechanics.h"

#define HEAD(d) "{\"daedalus\":1,\"kind\":\"mechanism\",\"name\":\"m\",\"dimension\":" #d ","
#define BODY2(n, x, y, rest) "{\"name\":\"" n "\",\"mass\":2,\"inertia\":0.5,\"r\":[" x "," y "]" rest "}"
#define BODY3(n, x, y, z, rest) \
    "{\"name\":\"" n "\",\"mass\":2,\"inertia\":[0.4,0.6,0.5],\"r\":[" x "," y "," z "]" rest "}"
#define SENSE(e) "\"sensors\":[{\"name\":\"s\",\"value\":\"" e "\"}]}"
#define O2 "{\"name\":\"O\",\"body\":\"ground\",\"r\":[0,0]}"
#define O3 "{\"name\":\"O\",\"body\":\"ground\",\"r\":[0,0,0]}"
#define P2 "{\"name\":\"P\",\"body\":\"b\",\"r\":[0,0]}"
#define P3 "{\"name\":\"P\",\"body\":\"b\",\"r\":[0,0,0]}"
#define G2 "\"gravity\":[0,-10],"
#define G3 "\"gravity\":[0,0,-10],"

typedef struct fact {
    const char *what, *model;
    double t, value;
} fact;

/* mass 2, inertia 0.5 about z (0.4, 0.6 about x, y), g = 10. */
static const fact facts[] = {
    /* a rod of half length 1, level: alpha = -m g l/(J + m l^2) */
    {"revolute, plane",
     HEAD(2) G2 "\"bodies\":[" BODY2(
         "b", "1", "0", "") "],\"points\":[" O2 ",{\"name\":\"P\",\"body\":\"b\",\"r\":[-1,0]}],\"joints\":[{"
                            "\"name\":\"J\",\"type\":\"revolute\",\"a\":\"O\","
                            "\"b\":\"P\"}]," SENSE("b.alpha"),
     0, -20 / 2.5},
    {"spherical, plane",
     HEAD(2) G2 "\"bodies\":[" BODY2(
         "b", "1", "0", "") "],\"points\":[" O2 ",{\"name\":\"P\",\"body\":\"b\",\"r\":[-1,0]}],\"joints\":[{"
                            "\"name\":\"J\",\"type\":\"spherical\",\"a\":\"O\","
                            "\"b\":\"P\"}]," SENSE("b.alpha"),
     0, -20 / 2.5},
    {"revolute, space",
     HEAD(3) G3 "\"bodies\":[" BODY3("b", "1", "0", "0",
                                     "") "],\"points\":[" O3
                                         ",{\"name\":\"P\",\"body\":\"b\",\"r\":[-1,0,0]}],\"joints\":[{"
                                         "\"name\":\"J\",\"type\":\"revolute\",\"a\":\"O\","
                                         "\"b\":\"P\",\"axis\":[0,1,0]}]," SENSE("b.az"),
     0, -20 / 2.6},
    {"spherical, space",
     HEAD(3) G3 "\"bodies\":[" BODY3("b", "1", "0", "0",
                                     "") "],\"points\":[" O3
                                         ",{\"name\":\"P\",\"body\":\"b\",\"r\":[-1,0,0]}],\"joints\":[{"
                                         "\"name\":\"J\",\"type\":\"spherical\",\"a\":\"O\","
                                         "\"b\":\"P\"}]," SENSE("b.az"),
     0, -20 / 2.6},
    {"fixed, space: a rod of two bodies on a hinge",
     HEAD(3) G3 "\"bodies\":[" BODY3("a", "1", "0", "0", "") "," BODY3(
         "b", "3", "0", "0",
         "") "],\"points\":[" O3
             ",{\"name\":\"A\",\"body\":\"a\",\"r\":[-1,0,0]},{\"name\":\"E\",\"body\":\"a\",\"r\":[1,0,0]},"
             "{\"name\":\"P\",\"body\":\"b\",\"r\":[-1,0,0]}],\"joints\":[{\"name\":\"J\",\"type\":"
             "\"revolute\",\"a\":\"O\","
             "\"b\":\"A\",\"axis\":[0,1,0]},{\"name\":\"K\",\"type\":\"fixed\",\"a\":\"E\",\"b\":\"P\"}]"
             "," SENSE("b.az"),
     0, -3 * 80 / (1.2 + 2 * 1 + 2 * 9)},
    {"fixed, plane",
     HEAD(2) G2 "\"bodies\":[" BODY2("a", "1", "0", "") "," BODY2(
         "b", "3", "0",
         "") "],\"points\":[" O2
             ",{\"name\":\"A\",\"body\":\"a\",\"r\":[-1,0]},{\"name\":\"E\",\"body\":\"a\",\"r\":[1,0]},"
             "{\"name\":\"P\",\"body\":\"b\",\"r\":[-1,0]}],\"joints\":[{\"name\":\"J\",\"type\":"
             "\"revolute\",\"a\":\"O\","
             "\"b\":\"A\"},{\"name\":\"K\",\"type\":\"fixed\",\"a\":\"E\",\"b\":\"P\"}]," SENSE("b.ay"),
     0, -3 * 80 / (1.0 + 2 * 1 + 2 * 9)},
    /* down a slope of 3:4 */
    {"prismatic, plane",
     HEAD(2) G2
     "\"bodies\":[" BODY2("b", "0", "0", "") "],\"points\":[" O2 "," P2
                                             "],\"joints\":[{\"name\":\"J\",\"type\":\"prismatic\",\"a\":"
                                             "\"O\",\"b\":\"P\",\"axis\":[4,-3]}]," SENSE("J.value"),
     1, 3},
    {"prismatic, space",
     HEAD(3) G3 "\"bodies\":[" BODY3("b", "0", "0", "0",
                                     "") "],\"points\":[" O3 "," P3
                                         "],\"joints\":[{\"name\":\"J\",\"type\":\"prismatic\",\"a\":\"O\","
                                         "\"b\":\"P\",\"axis\":[4,0,-3]}]," SENSE("J.value"),
     1, 3},
    {"point_on_line, plane",
     HEAD(2) G2
     "\"bodies\":[" BODY2("b", "0", "0", "") "],\"points\":[" O2 "," P2
                                             "],\"joints\":[{\"name\":\"J\",\"type\":\"point_on_line\",\"a\":"
                                             "\"O\",\"b\":\"P\",\"axis\":[4,-3]}]," SENSE("b.y"),
     1, -3 * 0.6},
    {"point_on_line, space",
     HEAD(3) G3
     "\"bodies\":[" BODY3("b", "0", "0", "0", "") "],\"points\":[" O3 "," P3
                                                  "],\"joints\":[{\"name\":\"J\",\"type\":\"point_on_line\","
                                                  "\"a\":\"O\",\"b\":\"P\",\"axis\":[4,0,-3]}]," SENSE("b.z"),
     1, -3 * 0.6},
    {"point_on_plane, space: normal (3, 0, 4)",
     HEAD(3) G3
     "\"bodies\":[" BODY3("b", "0", "0", "0", "") "],\"points\":[" O3 "," P3
                                                  "],\"joints\":[{\"name\":\"J\",\"type\":\"point_on_plane\","
                                                  "\"a\":\"O\",\"b\":\"P\",\"axis\":[3,0,4]}]," SENSE("b.x"),
     1, 3 * 0.8},
    {"planar, space",
     HEAD(3) G3
     "\"bodies\":[" BODY3("b", "0", "0", "0", "") "],\"points\":[" O3 "," P3
                                                  "],\"joints\":[{\"name\":\"J\",\"type\":\"planar\",\"a\":"
                                                  "\"O\",\"b\":\"P\",\"axis\":[3,0,4]}]," SENSE("b.x"),
     1, 3 * 0.8},
    {"cylindrical, space: falls freely along its axis",
     HEAD(3) G3 "\"bodies\":[" BODY3("b", "0", "0", "0",
                                     "") "],\"points\":[" O3 "," P3
                                         "],\"joints\":[{\"name\":\"J\",\"type\":\"cylindrical\",\"a\":\"O\","
                                         "\"b\":\"P\",\"axis\":[0,0,1]}]," SENSE("J.slide"),
     1, -5},
    /* travel p per radian: p q'' (m p^2 + J) = -m g p^2 */
    {"screw, space",
     HEAD(3) G3 "\"bodies\":[" BODY3("b", "0", "0", "0",
                                     "") "],\"points\":[" O3 "," P3
                                         "],\"joints\":[{\"name\":\"J\",\"type\":\"screw\",\"a\":\"O\",\"b\":"
                                         "\"P\",\"axis\":[0,0,1],\"pitch\":0.5}]," SENSE("b.z"),
     1, -5 * 2 * 0.25 / (2 * 0.25 + 0.5)},
    {"screw, space: a right-hand thread turns with its travel",
     HEAD(3) G3 "\"bodies\":[" BODY3(
         "b", "0", "0", "0", "") "],\"points\":[" O3 "," P3
                                 "],\"joints\":[{\"name\":\"J\",\"type\":\"screw\",\"a\":\"O\",\"b\":\"P\","
                                 "\"axis\":[0,0,1],\"pitch\":0.5}]," SENSE("b.omega.z - b.vz/0.5"),
     1, 0},
    {"distance, plane: a pendulum of length 2, level",
     HEAD(2) G2 "\"bodies\":[" BODY2(
         "b", "1.2", "-1.6",
         "") "],\"points\":[" O2 "," P2
             "],\"joints\":[{\"name\":\"J\",\"type\":\"distance\",\"a\":\"O\",\"b\":\"P\"}]," SENSE("b.ax"),
     0, -10 * 0.6 * 0.8},
    {"distance, space",
     HEAD(3) G3 "\"bodies\":[" BODY3(
         "b", "1.2", "0", "-1.6",
         "") "],\"points\":[" O3 "," P3
             "],\"joints\":[{\"name\":\"J\",\"type\":\"distance\",\"a\":\"O\",\"b\":\"P\"}]," SENSE("b.ax"),
     0, -10 * 0.6 * 0.8},
    /* q1 + 3 q2 = constant, torque 1 on the first: alpha1 (J + J/9) = 1: q1(1) = 0.9, q2 = -q1/3 (the ratio inverted would give the same q2) */
    {"gear, plane",
     HEAD(2) "\"bodies\":[" BODY2("a", "0", "0", "") "," BODY2(
         "b", "1", "0",
         "") "],\"points\":[" O2 ",{\"name\":\"Q\",\"body\":\"ground\",\"r\":[1,0]},{\"name\":"
             "\"A\",\"body\":\"a\",\"r\":[0,0]}," P2
             "],\"joints\":[{\"name\":\"J\",\"type\":\"revolute\",\"a\":\"O\",\"b\":\"A\"},{"
             "\"name\":\"K\",\"type\":\"revolute\","
             "\"a\":\"Q\",\"b\":\"P\"},{\"name\":\"L\",\"type\":\"gear\",\"joints\":[\"J\","
             "\"K\"],\"ratio\":3}],\"forces\":[{\"name\":"
             "\"F\",\"type\":\"torque\",\"joint\":\"J\",\"value\":1}]," SENSE("a.angle + 10*b.angle"),
     1, 0.9 - 10 * 0.3},
    {"gear, space",
     HEAD(3) "\"bodies\":[" BODY3("a", "0", "0", "0", "") "," BODY3(
         "b", "1", "0", "0", "") "],\"points\":[" O3 ",{\"name\":\"Q\",\"body\":\"ground\",\"r\":[1,0,0]},{"
                                 "\"name\":\"A\",\"body\":\"a\",\"r\":[0,0,0]}," P3
                                 "],\"joints\":[{\"name\":\"J\",\"type\":\"revolute\",\"a\":\"O\",\"b\":"
                                 "\"A\",\"axis\":[0,0,1]},{\"name\":\"K\",\"type\":"
                                 "\"revolute\",\"a\":\"Q\",\"b\":\"P\",\"axis\":[0,0,1]},{\"name\":\"L\","
                                 "\"type\":\"gear\",\"joints\":[\"J\",\"K\"],"
                                 "\"ratio\":3}],\"forces\":[{\"name\":\"F\",\"type\":\"torque\",\"joint\":"
                                 "\"J\",\"value\":1}]," SENSE("J.value + 10*K.value"),
     1, 0.9 - 10 * 0.3},
    /* a force of 3 to the right: a (m + J/R^2) = 3; the disc above the line turns clockwise */
    {"rolling, plane: travel",
     HEAD(2) G2 "\"bodies\":[" BODY2(
         "b", "0", "0.5",
         "") "],\"points\":[" O2 "," P2 "],\"joints\":[{\"name\":\"J\",\"type\":\"rolling\",\"a\":\"O\","
             "\"b\":\"P\",\"axis\":[1,0],\"radius\":0.5}],\"forces\":"
             "[{\"name\":\"F\",\"type\":\"force\",\"b\":\"P\",\"value\":[3,0]}]," SENSE("b.x"),
     1, 1.5 / (2 + 0.5 / 0.25)},
    {"rolling, plane: turn",
     HEAD(2) G2 "\"bodies\":[" BODY2(
         "b", "0", "0.5",
         "") "],\"points\":[" O2 "," P2 "],\"joints\":[{\"name\":\"J\",\"type\":\"rolling\",\"a\":\"O\","
             "\"b\":\"P\",\"axis\":[1,0],\"radius\":0.5}],\"forces\":"
             "[{\"name\":\"F\",\"type\":\"force\",\"b\":\"P\",\"value\":[3,0]}]," SENSE("b.angle"),
     1, -1.5 / (2 + 0.5 / 0.25) / 0.5},
    {"rolling, space: a disc about y on the plane z = 0",
     HEAD(3) G3
     "\"bodies\":[" BODY3("b", "0", "0", "0.5",
                          "") "],\"points\":[" O3 ",{\"name\":\"P\",\"body\":\"b\",\"r\":[0,0,0],\"q\":[0."
                              "7071067811865476,0,0,0.7071067811865476]}],\"joints\":[{"
                              "\"name\":\"J\",\"type\":\"rolling\",\"a\":\"O\",\"b\":\"P\",\"axis\":[0,0,1],"
                              "\"radius\":0.5}],\"forces\":[{\"name\":"
                              "\"F\",\"type\":\"force\",\"b\":\"P\",\"value\":[3,0,0]}]," SENSE("b.ax"),
     0, 3 / (2 + 0.6 / 0.25)},
    {"rolling_sphere, space",
     HEAD(3) G3 "\"bodies\":[" BODY3(
         "b", "0", "0", "0.5",
         "") "],\"points\":[" O3 "," P3 "],\"joints\":[{\"name\":\"J\",\"type\":\"rolling_sphere\",\"a\":"
             "\"O\",\"b\":\"P\",\"axis\":[0,0,1],\"radius\":0.5}],"
             "\"forces\":[{\"name\":\"F\",\"type\":\"force\",\"b\":\"P\",\"value\":[3,0,0]}]," SENSE(
                 "b.omega.y"),
     1, 3 / (2 + 0.6 / 0.25) / 0.5},
    /* a sled along the slope of 3:4 runs, across it stands */
    {"knife_edge, plane: along",
     HEAD(2) "\"gravity\":[6,0],\"bodies\":[" BODY2(
         "b", "0", "0",
         "") "],\"points\":[" O2 "," P2
             "],\"joints\":[{\"name\":\"J\",\"type\":\"knife_edge\",\"a\":\"O\",\"b\":\"P\"}]," SENSE("b.x"),
     1, 3},
    {"knife_edge, plane: across",
     HEAD(2) "\"gravity\":[0,6],\"bodies\":[" BODY2(
         "b", "0", "0",
         "") "],\"points\":[" O2 "," P2
             "],\"joints\":[{\"name\":\"J\",\"type\":\"knife_edge\",\"a\":\"O\",\"b\":\"P\"}]," SENSE("b.y"),
     1, 0},
    {"knife_edge, space: not along x of b, but along y",
     HEAD(3) "\"gravity\":[6,6,0],\"bodies\":[" BODY3(
         "b", "0", "0", "0",
         "") "],\"points\":[" O3 "," P3
             "],\"joints\":[{\"name\":\"J\",\"type\":\"knife_edge\",\"a\":\"O\",\"b\":\"P\"}]," SENSE(
                 "b.y + 10*b.x"),
     1, 3},
    {"parallel, plane: a torque does not turn it",
     HEAD(2) "\"bodies\":[" BODY2("b", "0", "0",
                                  "") "],\"points\":[" O2 "," P2
                                      "],\"joints\":[{\"name\":\"J\",\"type\":\"parallel\",\"a\":\"O\",\"b\":"
                                      "\"P\"}],\"forces\":[{\"name\":\"F\",\"type\":"
                                      "\"torque\",\"body\":\"b\",\"value\":5},{\"name\":\"H\",\"type\":"
                                      "\"force\",\"b\":\"P\",\"value\":[3,0]}]," SENSE("b.x + b.angle"),
     1, 0.75},
    {"parallel, space: turns about the axis alone",
     HEAD(3) "\"bodies\":[" BODY3("b", "0", "0", "0",
                                  "") "],\"points\":[" O3 "," P3
                                      "],\"joints\":[{\"name\":\"J\",\"type\":\"parallel\",\"a\":\"O\",\"b\":"
                                      "\"P\",\"axis\":[0,0,1]}],\"forces\":[{\"name\":\"F\","
                                      "\"type\":\"torque\",\"body\":\"b\",\"value\":[5,7,3]}]," SENSE(
                                          "b.omega.z + 10*hypot(b.omega.x, b.omega.y)"),
     1, 6},
    {"perpendicular, space: x of b stays normal to z, so it does not turn about y",
     HEAD(3) "\"bodies\":[" BODY3("b", "0", "0", "0",
                                  "") "],\"points\":[" O3 "," P3
                                      "],\"joints\":[{\"name\":\"J\",\"type\":\"perpendicular\",\"a\":\"O\","
                                      "\"b\":\"P\",\"axis\":[0,0,1]}],\"forces\":[{\"name\":"
                                      "\"F\",\"type\":\"torque\",\"body\":\"b\",\"value\":[0,7,3]}]," SENSE(
                                          "b.alpha.z + 10*b.alpha.y"),
     0, 6},
    /* shafts 60 degrees apart, cross at first in their plane: tan(out) = tan(in)/cos(60 deg) */
    {"universal, space",
     HEAD(3) "\"bodies\":[" BODY3("a", "0", "0", "0", "") "," BODY3(
         "b", "0", "0", "0",
         ",\"q\":[0.8660254037844387,0.5,0,0]") "],\"points\":[" O3
                                                ",{\"name\":\"T\",\"body\":\"ground\",\"r\":[0,0,0],\"q\":[0."
                                                "8660254037844387,0.5,0,0]},{\"name\":\"A\",\"body\":\"a\","
                                                "\"r\":[0,0,0]},{\"name\":\"P\",\"body\":\"b\",\"r\":[0,0,0],"
                                                "\"q\":[1,0,0,0]}],\"joints\":[{\"name\":\"J\",\"type\":"
                                                "\"revolute\",\"a\":\"O\",\"b\":\"A\",\"axis\":[0,0,1]},{"
                                                "\"name\":\"K\",\"type\":\"revolute\",\"a\":\"T\",\"b\":"
                                                "\"P\","
                                                "\"axis\":[0,0,1]},{\"name\":\"U\",\"type\":\"universal\","
                                                "\"a\":\"A\",\"b\":\"P\",\"axis\":[0,1,0]}],\"drivers\":[{"
                                                "\"name\":\"D\",\"joint\":\"J\",\"value\":\"t\"}]," SENSE(
                                                    "tan(K.value) - 2*tan(J.value)"),
     0.7, 0},
    /* points: the tip of the rod of the first line, twice as far as the center; a turning body seen from its rim */
    {"point, plane: acceleration",
     HEAD(2) G2 "\"bodies\":[" BODY2(
         "b", "1", "0",
         "") "],\"points\":[" O2
             ",{\"name\":\"P\",\"body\":\"b\",\"r\":[-1,0]},{\"name\":\"E\",\"body\":\"b\",\"r\":[1,0]}],"
             "\"joints\":[{\"name\":\"J\",\"type\":\"revolute\",\"a\":\"O\",\"b\":\"P\"}]," SENSE("E.ay"),
     0, -2 * 20 / 2.5},
    {"point, space: centripetal acceleration of a free body that spins about z",
     HEAD(3) "\"bodies\":[" BODY3(
         "b", "0", "0", "0", ",\"omega\":[0,0,3]") "],\"points\":[{\"name\":\"E\",\"body\":\"b\",\"r\":[0.5,"
                                                   "0,0]}]," SENSE("E.ax + 9*E.x + 100*(E.vy - 3*E.x)"),
     0.4, 0},
    {"point, space: its circle",
     HEAD(3) "\"bodies\":[" BODY3(
         "b", "0", "0", "0",
         ",\"omega\":[0,0,3]") "],\"points\":[{\"name\":\"E\",\"body\":\"b\",\"r\":[0.5,0,0]}]," SENSE("E.x"),
     0.4, 0.5 * 0.362357754476674},
    /* q of 0.6 rad about z */
    {"rotation vector",
     HEAD(3) "\"bodies\":[" BODY3(
         "b", "0", "0", "0",
         ",\"q\":[-0.955336489125606,0,0,-0.295520206661340]") "]," SENSE("b.rotation.z + 10*b.rotation.x"),
     0, 0.6},
    {"Cardan angles: 90 degrees about x, then 0.6 about the new y",
     HEAD(3) "\"bodies\":[" BODY3(
         "b", "0", "0", "0",
         ",\"q\":[0.675524909752,0.675524909752,0.208964341839,0.208964341839]") "]," SENSE("b.cardan.x + "
                                                                                            "10*b.cardan.y + "
                                                                                            "100*b.cardan.z"),
     0, 1.5707963267948966 + 6},
    {"Euler angles: 0.6 about z, then 90 degrees about the new x",
     HEAD(3) "\"bodies\":[" BODY3(
         "b", "0", "0", "0",
         ",\"q\":[0.675524909752,0.675524909752,0.208964341839,0.208964341839]") "]," SENSE("b.euler.theta + "
                                                                                            "10*b.euler.phi "
                                                                                            "+ "
                                                                                            "100*b.euler."
                                                                                            "psi"),
     0, 1.5707963267948966 + 6},
    /* forces: k = 50, m = 2: omega = 5 */
    {"spring, plane",
     HEAD(2) "\"bodies\":[" BODY2("b", "1.5", "0",
                                  "") "],\"points\":[" O2 "," P2
                                      "],\"forces\":[{\"name\":\"F\",\"type\":\"spring\",\"a\":\"O\",\"b\":"
                                      "\"P\",\"k\":50,\"l0\":1}]," SENSE("b.x"),
     0.3, 1 + 0.5 * 0.0707372016677029},
    {"spring with a damper, space: c = 12, omega = 4",
     HEAD(3) "\"bodies\":[" BODY3("b", "1.5", "0", "0",
                                  "") "],\"points\":[" O3 "," P3
                                      "],\"forces\":[{\"name\":\"F\",\"type\":\"spring\",\"a\":\"O\",\"b\":"
                                      "\"P\",\"k\":50,\"c\":12,\"l0\":1}]," SENSE(
                                          "b.x - 1 - 0.5*exp(-3*t)*(cos(4*t) + 0.75*sin(4*t))"),
     0.4, 0},
    {"bushing, plane: angular, k/J = 25, c/J = 6",
     HEAD(2) "\"bodies\":[" BODY2(
         "b", "0", "0", ",\"angle\":0.3") "],\"points\":[" O2 "," P2
                                          "],\"forces\":[{\"name\":\"F\",\"type\":\"bushing\",\"a\":\"O\","
                                          "\"b\":\"P\",\"k\":50,\"k_angular\":12.5,\"c_angular\":3}]," SENSE(
                                              "b.angle - 0.3*exp(-3*t)*(cos(4*t) + 0.75*sin(4*t))"),
     0.4, 0},
    {"bushing, space",
     HEAD(3) "\"bodies\":[" BODY3("b", "0.3", "0", "0",
                                  "") "],\"points\":[" O3 "," P3
                                      "],\"forces\":[{\"name\":\"F\",\"type\":\"bushing\",\"a\":\"O\",\"b\":"
                                      "\"P\",\"k\":50,\"c\":12,\"k_angular\":1}]," SENSE(
                                          "b.x - 0.3*exp(-3*t)*(cos(4*t) + 0.75*sin(4*t))"),
     0.4, 0},
    {"torsion, plane",
     HEAD(2) "\"bodies\":[" BODY2(
         "b", "0", "0",
         ",\"omega\":1") "],\"points\":[" O2 "," P2
                         "],\"joints\":[{\"name\":\"J\",\"type\":\"revolute\",\"a\":\"O\",\"b\":\"P\"}],"
                         "\"forces\":[{\"name\":\"F\",\"type\":\"torsion\","
                         "\"joint\":\"J\",\"k\":12.5,\"c\":3}]," SENSE("b.angle - exp(-3*t)*sin(4*t)/4"),
     0.4, 0},
    {"torsion, space",
     HEAD(3) "\"bodies\":[" BODY3(
         "b", "0", "0", "0",
         ",\"omega\":[0,0,1]") "],\"points\":[" O3 "," P3
                               "],\"joints\":[{\"name\":\"J\",\"type\":\"revolute\",\"a\":\"O\",\"b\":\"P\","
                               "\"axis\":[0,0,1]}],\"forces\":[{\"name\":\"F\","
                               "\"type\":\"torsion\",\"joint\":\"J\",\"k\":12.5,\"c\":3}]," SENSE(
                                   "J.value - exp(-3*t)*sin(4*t)/4"),
     0.4, 0},
    {"torque, space, in axes of the body",
     HEAD(3) "\"bodies\":[" BODY3(
         "b", "0", "0", "0", "") "],\"forces\":[{\"name\":\"F\",\"type\":\"torque\",\"body\":\"b\",\"value\":"
                                 "[0,0,3],\"frame\":\"body\"}]," SENSE("b.omega.z"),
     1, 6},
    /* R = 0: q' = U/K (1 - cos(w t)), w = K/sqrt(L J) = 2 */
    {"motor, plane",
     HEAD(2) "\"bodies\":[" BODY2(
         "b", "0", "0", "") "],\"points\":[" O2 "," P2
                            "],\"joints\":[{\"name\":\"J\",\"type\":\"revolute\",\"a\":\"O\",\"b\":\"P\"}],"
                            "\"forces\":[{\"name\":\"F\",\"type\":\"motor\","
                            "\"joint\":\"J\",\"value\":3,\"inductance\":0.5,\"constant\":1}]," SENSE(
                                "J.speed - 3*(1 - cos(2*t))"),
     0.9, 0},
    /* approach with speed 1, k = 50, c = 12, m = 2 (zeta 0.6): while it pushes x = exp(-3 s) sin(4 s)/4; it leaves where
     * k x + c x' = 0, tan(4 s) = -2 zeta sqrt(1 - zeta^2)/(1 - 2 zeta^2) = -0.96/0.28, s = (pi - atan(24/7))/4, with speed
     * -exp(-3 s): x' = exp(-3 s)(cos - 0.75 sin) and cos = -7/25, sin = 24/25 */
    {"stop, plane: rebound",
     HEAD(2) "\"bodies\":[" BODY2(
         "b", "0", "0",
         ",\"v\":[1,0]") "],\"points\":[" O2 "," P2
                         "],\"joints\":[{\"name\":\"J\",\"type\":\"prismatic\",\"a\":\"O\",\"b\":\"P\","
                         "\"axis\":[1,0]}],\"forces\":[{\"name\":\"F\","
                         "\"type\":\"stop\",\"joint\":\"J\",\"k\":50,\"c\":12,\"max\":0.1}]," SENSE("b.vx"),
     2, -0.2488405803783956},
    {"stop, space: the other end",
     HEAD(3) "\"bodies\":[" BODY3(
         "b", "0", "0", "0",
         ",\"v\":[-1,0,0]") "],\"points\":[" O3 "," P3
                            "],\"joints\":[{\"name\":\"J\",\"type\":\"prismatic\",\"a\":\"O\",\"b\":\"P\","
                            "\"axis\":[1,0,0]}],\"forces\":[{\"name\":\"F\","
                            "\"type\":\"stop\",\"joint\":\"J\",\"k\":50,\"c\":12,\"min\":-0.1}]," SENSE(
                                "b.vx"),
     2, 0.2488405803783956},
    /* pressed by its weight, k s = m g: slides with a = -mu g and turns with mu m g R/J */
    {"contact, plane: friction slows",
     HEAD(2) G2
     "\"bodies\":[" BODY2("b", "0", "0.48",
                          ",\"v\":[3,0]") "],\"points\":[" O2 "," P2
                                          "],\"forces\":[{\"name\":\"F\",\"type\":\"contact\",\"a\":\"O\","
                                          "\"b\":\"P\",\"k\":1000,\"mu\":0.3,\"radius\":0.5}]," SENSE("b.ax"),
     0, -3},
    {"contact, plane: and turns",
     HEAD(2) G2 "\"bodies\":[" BODY2(
         "b", "0", "0.48",
         ",\"v\":[3,0]") "],\"points\":[" O2 "," P2
                         "],\"forces\":[{\"name\":\"F\",\"type\":\"contact\",\"a\":\"O\",\"b\":\"P\",\"k\":"
                         "1000,\"mu\":0.3,\"radius\":0.5}]," SENSE("b.alpha"),
     0, -0.3 * 20 * 0.5 / 0.5},
    {"contact, space: a sphere that spins without moving is driven",
     HEAD(3) G3 "\"bodies\":[" BODY3(
         "b", "0", "0", "0.48",
         ",\"omega\":[0,8,0]") "],\"points\":[" O3 "," P3
                               "],\"forces\":[{\"name\":\"F\",\"type\":\"contact\",\"a\":\"O\",\"b\":\"P\","
                               "\"k\":1000,\"mu\":0.3,\"radius\":0.5}]," SENSE("b.ax"),
     0, 3},
    {"tire, plane: rests where k s = m g",
     HEAD(2) G2 "\"bodies\":[" BODY2("b", "0", "0.58",
                                     "") "],\"points\":[" P2
                                         "],\"forces\":[{\"name\":\"F\",\"type\":\"tire\",\"b\":\"P\",\"k\":"
                                         "1000,\"radius\":0.5,\"value\":\"0.1\"}]," SENSE("b.ay"),
     0, 0},
    {"tire, space: rises with the road, c = 100",
     HEAD(3) G3 "\"bodies\":[" BODY3("b", "0", "0", "0.48",
                                     "") "],\"points\":[" P3
                                         "],\"forces\":[{\"name\":\"F\",\"type\":\"tire\",\"b\":\"P\",\"k\":"
                                         "1000,\"c\":100,\"radius\":0.5,\"value\":\"0.2*t\"}]," SENSE("b.az"),
     0, 100 * 0.2 / 2},
};

static void every_joint_and_force_obeys_its_closed_form(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof facts / sizeof *facts; k++) {
        const fact *f = &facts[k];
        dae_error err = {0};
        mbs_model *m = mbs_model_parse(f->model, strlen(f->model), NULL, 0, &err);
        if (!m) fail_msg("%s: %s", f->what, err.text);
        mbs_mechanism *c = compile(m);
        double y[40] = {0}, s = NAN;
        if (mbs_mechanism_initial(c, y, &err)) fail_msg("%s: %s", f->what, err.text);
        dae_options opt = dae_options_default();
        opt.method = "mexx";
        opt.rtol = opt.atol = 1e-10;
        if (f->t > 0 && dae_solve(mbs_mechanism_system(c), &opt, 0, f->t, y, NULL, &err) < 0)
            fail_msg("%s: %s", f->what, err.text);
        if (mbs_mechanism_sensors(c, f->t, y, NULL, NULL, &s, &err)) fail_msg("%s: %s", f->what, err.text);
        if (!(fabs(s - f->value) <= 1e-7 * (1 + fabs(f->value))))
            fail_msg("%s: %.12g instead of %.12g", f->what, s, f->value);
        mbs_mechanism_destroy(c);
    }
}

/* Two bodies that turn together about a point of the ground, like one: forces with damping and friction are those without. */
static void no_damper_acts_between_bodies_that_turn_as_one(void **state)
{
    (void)state;
    static const struct {
        const char *type;
        mbs_value with[6], without[6];
    } pairs[] = {
        {"spring",
         {{"k", .number = 5}, {"c", .number = 7}, {"l0", .number = 0.4}},
         {{"k", .number = 5}, {"l0", .number = 0.4}}},
        {"bushing",
         {{"k", .number = 5}, {"c", .number = 7}, {"k_angular", .number = 2}, {"c_angular", .number = 3}},
         {{"k", .number = 5}, {"k_angular", .number = 2}}},
        {"contact",
         {{"k", .number = 50}, {"c", .number = 7}, {"mu", .number = 0.4}, {"radius", .number = 2}},
         {{"k", .number = 50}, {"radius", .number = 2}}},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        for (int space = MBS_PLANAR; space <= MBS_SPATIAL; space++) {
            double f[2][12] = {{0}}, size = 0;
            for (int k = 0; k < 2; k++) {
                mbs_model *m = mbs_model_create("pair", space);
                double w[3] = {space == 3 ? 0.7 : 0, space == 3 ? -0.4 : 0, 1.3};
                double r[2][3] = {{0.5, -0.2, space == 3 ? 0.3 : 0}, {1.1, 0.6, space == 3 ? -0.4 : 0}};
                for (int b = 0; b < 2; b++)
                    mbs_model_add_body(
                        m, &(mbs_body){.name = b ? "b" : "a",
                                       .mass = 1,
                                       .inertia = {1, 1, 1},
                                       .center = {r[b][0], r[b][1], r[b][2]},
                                       .v = {w[1] * r[b][2] - w[2] * r[b][1], w[2] * r[b][0] - w[0] * r[b][2],
                                             w[0] * r[b][1] - w[1] * r[b][0]},
                                       .omega = {w[0], w[1], w[2]}});
                mbs_model_add_point(m, &(mbs_point){.name = "A", .body = 1, .r = {0.1, 0.2}});
                mbs_model_add_point(m, &(mbs_point){.name = "B", .body = 2, .r = {-0.3, 0.1}});
                mbs_force force = {.name = "F", .type = pairs[i].type, .point_a = "A", .point_b = "B"};
                memcpy(force.field, k ? pairs[i].without : pairs[i].with, sizeof pairs[i].with);
                mbs_model_add_force(m, &force);
                mbs_mechanism *c = compile(m);
                const dae_mech *s = &mbs_mechanism_system(c)->mech;
                double y[26];
                mbs_mechanism_described(c, y);
                dae_mech_point x = {.p = y, .v = y + s->np};
                assert_int_equal(s->force(&x, f[k], s->user), 0);
                mbs_mechanism_destroy(c);
            }
            for (int j = 0; j < 12; j++) {
                size = fmax(size, fabs(f[1][j]));
                if (fabs(f[0][j] - f[1][j]) > 1e-10) /* rounding of v over v_s = 1e-3 */
                    fail_msg("%s, dimension %d: damping acts, %g instead of %g", pairs[i].type, space,
                             f[0][j], f[1][j]);
            }
            assert_true(size > 0.1); /* the force itself does */
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_joint_and_force_obeys_its_closed_form),
                                       cmocka_unit_test(no_damper_acts_between_bodies_that_turn_as_one)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
