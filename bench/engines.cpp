// One acceleration evaluation of a chain on revolute joints, and one of inverse dynamics: Daedalus beside Simbody, MuJoCo and DART,
// where their packages are installed (Debian: libsimbody-dev, libmujoco-dev, libdart-dev). Rods of mass 1 and length 1; spatial: axes y and z in turn. Every call
// sees another state, so that nothing is kept; all have to find the same accelerations. Best of many; ratios are times
// divided by that of Daedalus.
#include <daedalus/daedalus.h>

#ifdef HAVE_SIMBODY
#include <Simbody.h>
#endif
#ifdef HAVE_MUJOCO
#include <mujoco/mujoco.h>
#endif
#ifdef HAVE_DART
#include <dart/dynamics/BodyNode.hpp> // dart.hpp wants headers that Debian leaves out
#include <dart/dynamics/RevoluteJoint.hpp>
#include <dart/dynamics/Skeleton.hpp>
#endif

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace {

double now()
{
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Microseconds of one call.
double best_of(int n, const std::function<void()> &call)
{
    int calls = 1 + 500 / n;
    double best = INFINITY;
    for (int run = 0; run < 30; run++) {
        double start = now();
        for (int k = 0; k < calls; k++) call();
        best = std::fmin(best, (now() - start) / calls);
    }
    return best;
}

void fail(const char *text)
{
    std::printf("%s\n", text);
    std::exit(1);
}

double angle_of(int k)
{
    return 0.3 * std::sin(0.7 * k);
}

// s' that inverse dynamics is asked for
double wanted(int k)
{
    return std::cos(1.3 * k);
}

double daedalus(int n, bool spatial, std::vector<double> &a, double *inverse = nullptr, std::vector<double> *tau = nullptr)
{
    dae_error err = {};
    mbs_model *m = mbs_model_create("chain", spatial ? MBS_SPATIAL : MBS_PLANAR);
    mbs_model_set_gravity(m, 0, -9.81, 0);
    for (int k = 0; k < n; k++) {
        std::string body = "b" + std::to_string(k + 1), joint = "j" + std::to_string(k + 1);
        mbs_body b = {};
        b.name = body.c_str();
        b.mass = 1;
        b.inertia[0] = 0.01;
        b.inertia[1] = b.inertia[2] = 1 / 12.0;
        b.center[0] = k + 0.5;
        mbs_model_add_body(m, &b);
        mbs_joint j = {};
        j.name = joint.c_str();
        j.type = "revolute";
        j.a = k;
        j.b = k + 1;
        j.at[0] = k;
        j.axis[spatial && k % 2 ? 1 : 2] = spatial;
        mbs_model_add_joint(m, &j);
    }
    mbs_mechanism *c = mbs_mechanism_create(m, &err);
    mbs_model_destroy(m);
    if (!c) fail(err.text);
    const dae_mech *s = &mbs_mechanism_system(c)->mech;
    const dae_joint_form *form = s->joint;
    std::vector<double> y((size_t)dae_system_size(mbs_mechanism_system(c))), z((size_t)(2 * n)), rate(z);
    std::vector<char> work(form->work_size);
    if (mbs_mechanism_initial(c, y.data(), &err) < 0) fail(err.text);
    form->from_absolute(0, y.data(), y.data() + s->np, z.data(), z.data() + n, work.data(), form->user);
    for (int k = 0; k < n; k++) {
        z[(size_t)k] += angle_of(k);
        z[(size_t)(n + k)] = 0.1 * std::sin(k);
    }
    double time = best_of(n, [&] {
        z[0] += 1e-12;
        if (form->rates(0, z.data(), rate.data(), work.data(), form->user)) fail("Daedalus cannot evaluate");
    });
    a.assign(rate.begin() + n, rate.end());
    if (inverse) {
        std::vector<double> sdot((size_t)n);
        tau->resize((size_t)n);
        for (int k = 0; k < n; k++) sdot[(size_t)k] = wanted(k);
        *inverse = best_of(n, [&] {
            z[0] += 1e-12;
            if (form->torques(0, z.data(), sdot.data(), tau->data(), work.data(), form->user)) fail("Daedalus cannot evaluate");
        });
    }
    mbs_mechanism_destroy(c);
    return time;
}

#ifdef HAVE_DART
// Accelerations and inverse dynamics of DART.
double dart_chain(int n, bool spatial, std::vector<double> &a, double *inverse, std::vector<double> &tau)
{
    using namespace dart::dynamics;
    SkeletonPtr chain = Skeleton::create("chain");
    BodyNode *last = nullptr;
    for (int k = 0; k < n; k++) {
        RevoluteJoint::Properties joint;
        joint.mName = "j" + std::to_string(k);
        joint.mAxis = spatial && k % 2 ? Eigen::Vector3d::UnitY() : Eigen::Vector3d::UnitZ();
        joint.mT_ParentBodyToJoint.translation() = Eigen::Vector3d(k ? 1 : 0, 0, 0);
        BodyNode::Properties body;
        body.mName = "b" + std::to_string(k);
        body.mInertia = Inertia(1, Eigen::Vector3d(0.5, 0, 0), Eigen::Vector3d(0.01, 1 / 12.0, 1 / 12.0).asDiagonal());
        last = chain->createJointAndBodyNodePair<RevoluteJoint>(last, joint, body).second;
    }
    chain->setGravity(Eigen::Vector3d(0, -9.81, 0));
    Eigen::VectorXd q(n), s(n), sdot(n);
    for (int k = 0; k < n; k++) q[k] = angle_of(k), s[k] = 0.1 * std::sin(k), sdot[k] = wanted(k);
    chain->setPositions(q);
    chain->setVelocities(s);
    double time = best_of(n, [&] {
        q[0] += 1e-12;
        chain->setPosition(0, q[0]);
        chain->computeForwardDynamics();
    });
    Eigen::VectorXd found = chain->getAccelerations();
    a.assign(found.data(), found.data() + n);
    *inverse = best_of(n, [&] {
        q[0] += 1e-12;
        chain->setPosition(0, q[0]);
        chain->setAccelerations(sdot);
        chain->computeInverseDynamics();
    });
    Eigen::VectorXd forces = chain->getForces();
    tau.assign(forces.data(), forces.data() + n);
    return time;
}
#endif

#ifdef HAVE_SIMBODY
double simbody(int n, bool spatial, std::vector<double> &a)
{
    using namespace SimTK;
    MultibodySystem system;
    SimbodyMatterSubsystem matter(system);
    GeneralForceSubsystem forces(system);
    Force::UniformGravity gravity(forces, matter, Vec3(0, -9.81, 0));
    Body::Rigid rod(MassProperties(1, Vec3(0.5, 0, 0), UnitInertia(0.01, 1 / 12.0 + 0.25, 1 / 12.0 + 0.25)));
    MobilizedBody last = matter.Ground();
    for (int k = 0; k < n; k++) {
        Rotation axis; // pins turn about z
        if (spatial && k % 2) axis = Rotation(-Pi / 2, XAxis);
        last = MobilizedBody::Pin(last, Transform(axis, Vec3(k ? 1 : 0, 0, 0)), rod, Transform(axis, Vec3(0)));
    }
    State state = system.realizeTopology();
    system.realizeModel(state);
    for (int k = 0; k < n; k++) {
        state.updQ()[k] = angle_of(k);
        state.updU()[k] = 0.1 * std::sin(k);
    }
    double time = best_of(n, [&] {
        state.updQ()[0] += 1e-12;
        system.realize(state, Stage::Acceleration);
    });
    a.assign(&state.getUDot()[0], &state.getUDot()[0] + n);
    return time;
}
#endif

#ifdef HAVE_MUJOCO
double mujoco(int n, bool spatial, std::vector<double> &a)
{
    std::string xml = "<mujoco><option gravity=\"0 -9.81 0\"><flag contact=\"disable\" constraint=\"disable\"/></option><worldbody>";
    for (int k = 0; k < n; k++) {
        xml += std::string("<body pos=\"") + (k ? "1" : "0") + " 0 0\"><joint type=\"hinge\" axis=\"" +
               (spatial && k % 2 ? "0 1 0" : "0 0 1") +
               "\"/><inertial pos=\"0.5 0 0\" mass=\"1\" diaginertia=\"0.01 0.08333333333 0.08333333333\"/>";
    }
    for (int k = 0; k < n; k++) xml += "</body>";
    xml += "</worldbody></mujoco>";
    char text[1000] = "";
    auto files = std::make_unique<mjVFS>();
    mj_defaultVFS(files.get());
    if (mj_makeEmptyFileVFS(files.get(), "chain.xml", (int)xml.size())) fail("MuJoCo takes no text");
    std::memcpy(files->filedata[mj_findFileVFS(files.get(), "chain.xml")], xml.data(), xml.size());
    mjModel *m = mj_loadXML("chain.xml", files.get(), text, sizeof text);
    mj_deleteVFS(files.get());
    if (!m) return NAN;
    mjData *d = mj_makeData(m);
    for (int k = 0; k < n; k++) {
        d->qpos[k] = angle_of(k);
        d->qvel[k] = 0.1 * std::sin(k);
    }
    double time = best_of(n, [&] {
        d->qpos[0] += 1e-12;
        mj_forward(m, d);
    });
    a.assign(d->qacc, d->qacc + n);
    mj_deleteData(d);
    mj_deleteModel(m);
    return time;
}
#endif

// Time and ratio; "-": the engine does not take the model, "differs": it finds other accelerations.
void print(double time, double own, const std::vector<double> &a, const std::vector<double> &expected)
{
    double off = 0, size = 1;
    for (size_t k = 0; k < a.size() && k < expected.size(); k++) {
        off = std::fmax(off, std::fabs(a[k] - expected[k]));
        size = std::fmax(size, std::fabs(expected[k]));
    }
    if (std::isnan(time)) std::printf(" %12s %8s", "-", "");
    else std::printf(" %12.2f %8.1f%s", time, time / own, off > 1e-6 * size ? " differs" : "");
}

void table(bool spatial)
{
    std::printf("\n%s chains, us per evaluation\n%6s %12s", spatial ? "spatial" : "planar", "N", "Daedalus");
#ifdef HAVE_SIMBODY
    std::printf(" %12s %8s", "Simbody", "ratio");
#endif
#ifdef HAVE_MUJOCO
    std::printf(" %12s %8s", "MuJoCo", "ratio");
#endif
#ifdef HAVE_DART
    std::printf(" %12s %8s   %12s %12s %8s", "DART", "ratio", "inverse", "DART", "ratio");
#endif
    std::printf("\n");
    for (int n = 2; n <= 256; n *= 2) {
        std::vector<double> a, expected;
        std::vector<double> tau, tau_expected;
        double inverse, own = daedalus(n, spatial, expected, &inverse, &tau_expected);
        std::printf("%6d %12.2f", n, own);
#ifdef HAVE_SIMBODY
        double s = simbody(n, spatial, a);
        print(s, own, a, expected);
#endif
#ifdef HAVE_MUJOCO
        double m = mujoco(n, spatial, a);
        print(m, own, a, expected);
#endif
#ifdef HAVE_DART
        double other, d = dart_chain(n, spatial, a, &other, tau);
        print(d, own, a, expected);
        std::printf("   %12.2f", inverse);
        print(other, inverse, tau, tau_expected);
#endif
        std::printf("\n");
    }
}

} // namespace

int main(int argc, char **)
{
#if !defined(HAVE_SIMBODY) || !defined(HAVE_MUJOCO) || !defined(HAVE_DART)
    if (argc > 1) fail("Simbody, MuJoCo or DART is missing: tools/setup.sh --peers");
#else
    (void)argc;
#endif
    table(false);
    table(true);
    return 0;
}
