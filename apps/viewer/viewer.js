// The 3D view of a mechanism: shows a scene as `daedalus run --animate scene.json` writes it (docs/viewer.md). It knows
// nothing of the page around it; the page gives it scenes and times and hears about picks and pushes.
import {
  AmbientLight, BackSide, BatchedMesh, BoxGeometry, BufferGeometry, Color, CylinderGeometry, DirectionalLight, DoubleSide, Float32BufferAttribute, GridHelper, Group, HemisphereLight,
  Line, LineBasicMaterial, Mesh, MeshStandardMaterial, Object3D, OrthographicCamera, PCFShadowMap, PerspectiveCamera, Plane, PlaneGeometry, Quaternion, Raycaster, Scene, ShadowMaterial,
  SphereGeometry, TorusGeometry, Vector2, Vector3, WebGLRenderer,
} from 'three';
import { OrbitControls } from 'three/examples/jsm/controls/OrbitControls.js';
import { Gizmo } from './gizmo.js';
import { blank, locate, poseAt, poseOf } from './poses.js';
import { coil, head, merge, plate, road, rod, shaft, solid, stretch } from './solids.js';

const PALETTE = ['#4c8fd6', '#e08a3c', '#4fae7f', '#c46aa8', '#b5a642', '#8f77d1', '#7f8c8d', '#d35d6e'];
const ARROW = { reaction: '#b0413e', force: '#2f7d4f' };
const Y = new Vector3(0, 1, 0), MEASURED = 256;
const FEWER = 0.66; // of the pixels across
const SLOW = 50, PATIENCE = 8; // ms that a picture may take, and how many slow ones are taken before it becomes simpler

export class Viewer {
  // callbacks: onPick(body or -1), onPush({ body, point: [x,y,z], target: [x,y,z] } or null); without onPush a drag
  // that begins on a body turns the camera like any other.
  constructor(host, callbacks = {}) {
    this.host = host;
    this.callbacks = callbacks;
    this.renderer = new WebGLRenderer({ antialias: true, preserveDrawingBuffer: true });
    this.renderer.debug.checkShaderErrors = false; // asking waits
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = PCFShadowMap;
    this.renderer.setPixelRatio(Math.min(2, devicePixelRatio));
    this.canvas = this.renderer.domElement;
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute('role', 'img');
    this.tip = document.createElement('div');
    this.tip.className = 'viewer-tip';
    this.tip.hidden = true;
    host.append(this.canvas, this.tip);
    this.world = new Scene();
    this.perspective = new PerspectiveCamera(40, 1, 0.01, 1000);
    this.orthographic = new OrthographicCamera(-1, 1, 1, -1, -1000, 1000);
    this.camera = this.perspective;
    this.gizmo = new Gizmo();
    this.content = new Group();
    this.hidden = new Set();
    this.shown = { force: false, reaction: false };
    this.traces = [];
    this.materials = {};
    this.time = 0;
    this.milliseconds = []; // of script per frame, the last MEASURED
    this.world.add(this.content);
    this.lights();
    this.setControls();
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(host);
    this.resize();
    this.listen();
  }

  lights() {
    this.sun = new DirectionalLight('#ffffff', 2.2);
    this.sun.castShadow = true;
    this.sun.shadow.mapSize.set(2048, 2048);
    this.sun.shadow.bias = -0.0008;
    this.world.add(new AmbientLight('#ffffff', 0.35), new HemisphereLight('#ffffff', '#8892a0', 0.9), this.sun, this.sun.target);
  }

  setTheme(dark) {
    this.world.background = new Color(dark ? '#14181d' : '#f3f5f8');
    this.dark = dark;
    this.paintGrid();
    this.draw();
  }

  paintGrid() {
    this.grid?.material.color.set(this.dark ? '#303943' : '#cdd4dc');
  }

  setControls() {
    this.controls?.dispose();
    this.controls = new OrbitControls(this.camera, this.canvas);
    this.controls.addEventListener('change', () => this.draw());
  }

  // Takes a scene; `keep`: the camera stays. What goes on with the same parts (a run that is continued) keeps its geometry.
  load(scene, keep = false) {
    const traced = this.traced, parts = JSON.stringify([scene.dimension, scene.bodies, scene.points, scene.shapes, scene.wheels, scene.elements, scene.springs, scene.joints, scene.ground, scene.frame_only, (scene.arrows ?? []).map((a) => [a.name, a.kind])]);
    if (keep && parts === this.parts) {
      this.scene = scene;
      this.arrows.forEach((a, i) => { a.value = scene.arrows[i].value ?? this.columns(scene.arrows[i].columns); });
      this.show(this.time);
      if (traced >= 0) this.trace(traced);
      return;
    }
    this.parts = parts;
    this.clear();
    this.scene = scene;
    this.planar = scene.dimension === 2;
    this.now = blank(scene);
    this.next = blank(scene);
    this.up = this.planar ? new Vector3(0, 1, 0) : new Vector3(0, 0, 1);
    this.size = this.measure();
    this.buildBodies();
    this.buildLinks();
    this.buildGround();
    this.buildArrows();
    this.canvas.setAttribute('aria-label', `3D view of ${scene.name}: ${scene.bodies.length} bodies`);
    poseAt(scene, keep ? this.time : scene.t[0], this.now, this.next);
    if (!keep) this.home();
    this.show(keep ? this.time : scene.t[0]);
    if (keep && traced >= 0) this.trace(traced);
  }

  // Materials stay, since a new one is a new program for the graphics processor, which takes it tens of milliseconds.
  material(name, make) {
    return this.materials[name] ??= make();
  }

  clear() {
    this.content.traverse((o) => o.geometry?.dispose());
    for (const o of [...this.traces, this.pull, this.grid]) o?.material.dispose();
    this.pull = null;
    this.batch?.dispose();
    this.content.clear();
    this.traces = [];
    this.grid = null;
  }

  // The box that everything stays in, and the largest that it fills at one time: where the way is much longer than the mechanism
  // itself the camera goes with it.
  measure() {
    const low = new Vector3(Infinity, Infinity, Infinity), high = low.clone().negate(), point = new Vector3(), reach = new Vector3();
    const a = new Vector3(), b = new Vector3(), every = Math.max(1, Math.floor(this.scene.frames.length / 60)), pose = blank(this.scene);
    let own = 0;
    const take = (p) => { a.min(p); b.max(p); };
    for (let f = 0; f < this.scene.frames.length; f += every) {
      a.setScalar(Infinity);
      b.setScalar(-Infinity);
      poseOf(this.scene, f, pose);
      for (const p of this.scene.points) if (p.body > 0) take(this.pointAt(p, pose, point));
      for (const { r } of pose) take(r);
      for (const s of this.scene.shapes ?? []) {
        if (!s.body) continue; // the world's are as large as they like
        point.set(...s.r).applyQuaternion(pose[s.body - 1].q).add(pose[s.body - 1].r);
        reach.setScalar(0.5 * (s.reach ?? Math.hypot(...(s.size ?? [0]))));
        take(point.sub(reach));
        take(point.addScaledVector(reach, 2));
      }
      own = Math.max(own, b.distanceTo(a));
      low.min(a);
      high.max(b);
    }
    const fixed = this.scene.points.filter((p) => p.body === 0), all = high.distanceTo(low);
    this.travels = own > 0 && all > 2.2 * own && this.scene.bodies.length > 1;
    if (!this.travels) for (const p of fixed) point.set(p.r[0], p.r[1], p.r[2] ?? 0), low.min(point), high.max(point);
    if (!(high.x >= low.x)) low.setScalar(-1), high.setScalar(1);
    this.center = low.clone().add(high).multiplyScalar(0.5);
    this.low = low;
    this.high = high;
    this.span = Math.max(high.distanceTo(low), 1e-3);
    if (this.travels) poseOf(this.scene, 0, pose), this.middle(pose, this.center), this.followed = this.center.clone();
    this.follow = this.travels;
    return this.travels ? Math.max(own * 1.25, 1e-3) : this.span;
  }

  middle(pose, out) {
    out.set(0, 0, 0);
    for (const { r } of pose) out.add(r);
    return out.divideScalar(pose.length || 1);
  }

  setFollow(on) {
    this.follow = on;
    this.followed = this.middle(this.now, new Vector3());
    this.show(this.time);
  }

  // The camera, its aim and the light go as far as the middle of the bodies went.
  goAlong() {
    const to = this.middle(this.now, this.along ??= new Vector3());
    this.followed ??= to.clone();
    const way = to.clone().sub(this.followed);
    if (!(way.lengthSq() > 0)) return;
    this.followed.copy(to);
    for (const o of [this.camera.position, this.controls.target, this.sun.position, this.sun.target.position]) o.add(way);
    for (const o of [this.grid, this.shade]) { // by whole cells: its lines stand still
      o.position.x += Math.round((to.x - o.position.x) / this.cell) * this.cell;
      o.position.y += Math.round((to.y - o.position.y) / this.cell) * this.cell;
    }
    this.controls.update();
  }

  pointAt(p, pose, out) {
    out.set(p.r[0], p.r[1], p.r[2] ?? 0);
    if (p.body > 0) out.applyQuaternion(pose[p.body - 1].q).add(pose[p.body - 1].r);
    return out;
  }

  // Bodies by their shapes; without one planar bodies are plates around their points, spatial ones rods from the centre to the
  // points, bodies without points boxes. All are drawn by one call, each with its own matrix and colour: what a frame costs the
  // script does not grow with their number. this.bodies holds where they are and what they are called.
  buildBodies() {
    const thick = this.size * 0.012;
    const solids = this.scene.bodies.map((name, i) => {
      const parts = [];
      const add = (geometry, at, q) => {
        const mesh = new Object3D();
        if (at) mesh.position.copy(at);
        if (q) mesh.quaternion.copy(q);
        parts.push({ geometry, mesh });
        return mesh;
      };
      const shapes = (this.scene.shapes ?? []).filter((s) => s.body === i + 1);
      for (const s of shapes) this.addShape(s, add);
      if (!shapes.length) this.buildPlain(i, thick, add);
      for (const [point, radius] of this.scene.wheels ?? []) {
        const p = this.scene.points[point];
        if (p?.body !== i + 1) continue;
        const wheel = add(new TorusGeometry(radius * 0.86, radius * 0.14, 14, 56), new Vector3(p.r[0], p.r[1], p.r[2] ?? 0));
        if (!this.planar) wheel.rotation.x = Math.PI / 2;
      }
      return merge(parts);
    });
    this.bodies = this.scene.bodies.map((name, i) => Object.assign(new Object3D(), { userData: { body: i, name } }));
    this.batch = this.buildBatch(solids);
    this.content.add(this.batch);
    for (const s of (this.scene.shapes ?? []).filter((x) => !x.body)) {
      const put = (geometry, at, q, material, solid) => {
        const mesh = new Mesh(geometry, material);
        mesh.castShadow = solid;
        mesh.receiveShadow = true;
        mesh.position.copy(at);
        mesh.quaternion.copy(q);
        mesh.userData.name = 'ground';
        this.content.add(mesh);
      };
      const look = { color: '#8a939e', roughness: 0.8 };
      this.addShape(s, (geometry, at, q) => {
        if (!s.plane) {
          put(geometry, at, q, this.material('world', () => new MeshStandardMaterial({ ...look, side: DoubleSide })), true);
          return;
        }
        // The border of a half space: from behind, where it would hide all that it bounds, it is glass.
        geometry.dispose();
        const face = () => new PlaneGeometry(s.size[0], s.size[1]).translate(0, 0, s.size[2] / 2);
        put(face(), at, q, this.material('wall', () => new MeshStandardMaterial(look)), false);
        put(face(), at, q, this.material('glass', () => new MeshStandardMaterial({ ...look, side: BackSide, transparent: true, opacity: 0.15, depthWrite: false })), false);
      });
    }
  }

  // The instance of body i is i.
  buildBatch(solids) {
    const total = (count) => solids.reduce((sum, g) => sum + count(g), 0), color = new Color();
    const material = this.material('bodies', () => new MeshStandardMaterial({ roughness: 0.5, metalness: 0.15, side: DoubleSide }));
    const batch = new BatchedMesh(Math.max(1, solids.length), Math.max(3, total((g) => g.attributes.position.count)), Math.max(3, total((g) => g.index.count)), material);
    batch.castShadow = batch.receiveShadow = true;
    batch.frustumCulled = batch.perObjectFrustumCulled = batch.sortObjects = false;
    solids.forEach((geometry, i) => batch.setColorAt(batch.addInstance(batch.addGeometry(geometry)), color.set(PALETTE[i % PALETTE.length])));
    for (const geometry of solids) geometry.dispose();
    return batch;
  }

  addShape(s, add) {
    const geometry = solid(s);
    if (geometry) add(geometry, new Vector3(...s.r), s.q ? new Quaternion(s.q[1], s.q[2], s.q[3], s.q[0]) : new Quaternion());
  }

  buildPlain(i, thick, add) {
    const points = this.scene.points.filter((p) => p.body === i + 1).map((p) => new Vector3(p.r[0], p.r[1], p.r[2] ?? 0));
    const apart = points.filter((p, k) => !points.slice(0, k).some((q) => q.distanceTo(p) < 1e-6 * this.size));
    const massless = this.scene.frame_only?.includes(i + 1), center = new Vector3();
    if (this.planar && apart.length > 1) {
      const mesh = add(plate(apart, 1.7 * thick, 1.2 * thick));
      mesh.position.z = (i % 8) * 1.4 * thick; // neighbours beside each other, not inside
      return;
    }
    for (const p of apart) {
      if (p.length() > thick * 0.5) stretch(add(rod(thick)), center, p);
      add(new SphereGeometry(thick * 1.5, 18, 12), p);
    }
    if (massless) return;
    if (apart.length > 1) add(new SphereGeometry(thick * 1.9, 22, 14));
    else if (this.planar) add(new CylinderGeometry(3.2 * thick, 3.2 * thick, 3 * thick, 36).rotateX(Math.PI / 2));
    else add(new BoxGeometry(5 * thick, 5 * thick, 5 * thick));
  }

  // What lies between two points that move: rods, springs as coils, dampers as a cylinder with its piston.
  buildLinks() {
    const thick = this.size * 0.008;
    this.links = [];
    this.metal = this.material('metal', () => new MeshStandardMaterial({ color: '#9aa4ae', roughness: 0.35, metalness: 0.6 }));
    this.dull = this.material('dull', () => new MeshStandardMaterial({ color: '#5d6a78', roughness: 0.6, metalness: 0.3 }));
    const add = (a, b, name, geometry, material = this.metal, share = 1) => {
      if (!this.scene.points[a] || !this.scene.points[b]) return;
      const mesh = new Mesh(geometry, material);
      mesh.castShadow = true;
      mesh.userData.name = name;
      this.links.push({ a: this.scene.points[a], b: this.scene.points[b], mesh, share });
      this.content.add(mesh);
    };
    const damper = (a, b, name) => {
      add(a, b, name, rod(thick * 1.5), this.dull, 0.55);
      add(a, b, name, rod(thick * 0.6), this.metal, -0.7);
    };
    for (const e of this.scene.elements ?? []) {
      if (e.spring) add(e.a, e.b, e.name, coil(thick * 2.4));
      if (e.damper) damper(e.a, e.b, e.name);
      if (!e.spring && !e.damper) add(e.a, e.b, e.name, rod(thick));
    }
    if (!this.scene.elements) for (const [a, b] of this.scene.springs ?? []) add(a, b, 'spring', coil(thick * 2.4));
    for (const j of this.scene.joints ?? []) if (j.type === 'distance') add(j.a, j.b, j.name, rod(thick));
  }

  buildGround() {
    const cells = 20, span = 2.4 * this.size, lowest = (this.scene.ground ?? []).reduce((z, g) => (this.planar ? z : Math.min(z, ...(g.line ? g.line.map((p) => p[1]) : g.normal[2] > 0.5 ? [g.r[2]] : []))), this.low.z);
    const floor = lowest - this.size * (this.planar ? 0.06 : 0.02);
    this.grid = new GridHelper(span, cells);
    this.grid.material.vertexColors = false;
    this.grid.visible = this.gridHidden !== true;
    this.paintGrid();
    const shade = new Mesh(new PlaneGeometry(span, span), this.material('shade', () => new ShadowMaterial({ opacity: 0.22 })));
    shade.receiveShadow = true;
    this.grid.rotation.x = Math.PI / 2; // the plane x, y
    for (const o of [this.grid, shade]) o.position.set(this.center.x, this.center.y, floor);
    this.shade = shade;
    this.cell = span / cells;
    this.content.add(this.grid, shade);
    const stone = this.material('stone', () => new MeshStandardMaterial({ color: '#707a86', roughness: 0.7 }));
    for (const p of this.scene.points.filter((q) => q.body === 0)) {
      const pin = new Mesh(new CylinderGeometry(this.size * 0.014, this.size * 0.02, this.size * 0.03, 18), stone);
      pin.rotation.x = Math.PI / 2;
      pin.position.set(p.r[0], p.r[1], p.r[2] ?? 0);
      this.content.add(pin);
    }
    const floors = this.material('floors', () => new MeshStandardMaterial({ color: '#8d98a5', roughness: 0.9, transparent: true, opacity: 0.6, side: DoubleSide, depthWrite: false }));
    for (const g of this.scene.ground ?? []) {
      const mesh = new Mesh(g.line ? road(g.line, this.planar, (this.planar ? 0.1 : 0.6) * this.size) : new PlaneGeometry(1.2 * this.span, (this.planar ? 0.3 * this.size : 1.2 * this.span)), floors);
      mesh.receiveShadow = true;
      mesh.userData.name = g.name;
      if (!g.line) {
        const normal = new Vector3(...g.normal), middle = this.center.clone().sub(new Vector3(...g.r));
        middle.addScaledVector(normal, -middle.dot(normal));
        mesh.quaternion.setFromUnitVectors(new Vector3(0, 0, 1), normal);
        mesh.position.set(...g.r).add(middle);
      }
      this.content.add(mesh);
    }
  }

  // Arrows of forces and reactions: nine of ten of a kind are shorter than a sixth of the scene, none is longer than a third.
  buildArrows() {
    const radius = this.size * 0.006, list = this.scene.arrows ?? [], sizes = { force: [], reaction: [] };
    const shaftGeometry = shaft(radius), headGeometry = head(radius), material = {};
    for (const kind of Object.keys(ARROW)) material[kind] = this.material(kind, () => new MeshStandardMaterial({ color: ARROW[kind], roughness: 0.5, depthTest: !this.planar }));
    for (const a of list) a.value ??= this.columns(a.columns);
    for (const a of list) for (const v of a.value) if (v && Math.hypot(...v) > 0) sizes[a.kind].push(Math.hypot(...v));
    for (const kind of Object.keys(sizes)) sizes[kind] = sizes[kind].sort((a, b) => a - b)[Math.floor(0.9 * (sizes[kind].length - 1))] ?? 0;
    this.arrows = list.map((a) => {
      const group = new Group(), bar = new Mesh(shaftGeometry, material[a.kind]), tip = new Mesh(headGeometry, material[a.kind]);
      group.add(bar, tip);
      group.userData.name = bar.userData.name = tip.userData.name = a.name;
      if (this.planar) bar.renderOrder = tip.renderOrder = 1; // over the plates, where the pin is
      group.visible = false;
      this.content.add(group);
      return { ...a, group, bar, tip, scale: sizes[a.kind] > 0 ? 0.16 * this.size / sizes[a.kind] : 0, radius };
    });
  }

  // Vectors made of two or three signals, null where there is none.
  columns(list) {
    const parts = list.map((k) => this.scene.signals[k].value);
    return parts[0].map((_, i) => (parts.some((p) => p[i] === null) ? null : [parts[0][i], parts[1][i], parts[2]?.[i] ?? 0]));
  }

  showArrows() {
    const [k, s] = locate(this.scene.t_signal ?? this.scene.t, this.time), v = new Vector3(), w = new Vector3(), at = new Vector3();
    for (const a of this.arrows) {
      const value = a.value[k], next = a.value[k + 1] ?? value;
      a.group.visible = this.shown[a.kind] && !!value;
      if (!a.group.visible) continue;
      v.set(...value).lerp(w.set(...(next ?? value)), s);
      const length = Math.min(v.length() * a.scale, this.size / 3);
      a.group.visible = length > a.radius;
      if (!a.group.visible) continue;
      this.pointAt(a, this.now, at);
      a.group.position.copy(at);
      a.group.quaternion.setFromUnitVectors(Y, v.normalize());
      a.tip.scale.setScalar(Math.min(1, length / (14 * a.radius)));
      a.bar.scale.y = Math.max(length - 7 * a.radius * a.tip.scale.y, 1e-9);
      a.tip.position.y = a.bar.scale.y;
    }
  }

  // kind: force or reaction.
  setArrows(kind, on) {
    this.shown[kind] = on;
    if (this.scene) this.show(this.time);
  }

  setGrid(on) {
    this.gridHidden = !on;
    if (this.grid) this.grid.visible = on;
    this.draw();
  }

  // Half the height of what is seen at distance 1.
  tangent() {
    return Math.tan(this.perspective.fov * Math.PI / 360);
  }

  // From which the box that everything stays in is seen whole, in the direction of the eye; with room for bodies around their points.
  distance(eye) {
    const across = new Vector3().crossVectors(this.up, eye).normalize(), upright = new Vector3().crossVectors(eye, across), { aspect } = this.perspective;
    if (this.travels) return this.size * 1.35 / Math.min(1, aspect);
    const half = this.high.clone().sub(this.low).multiplyScalar(0.5).addScalar(0.04 * this.size), p = new Vector3();
    let far = 0;
    for (const x of [-1, 1]) {
      for (const y of [-1, 1]) {
        for (const z of [-1, 1]) {
          p.set(x, y, z).multiply(half);
          far = Math.max(far, p.dot(eye) + Math.max(Math.abs(p.dot(across)) / aspect, Math.abs(p.dot(upright))) / this.tangent());
        }
      }
    }
    return 1.06 * far;
  }

  home(view) {
    this.camera.up.copy(this.up);
    this.perspective.near = this.size / 200;
    this.perspective.far = this.size * 60;
    this.perspective.updateProjectionMatrix();
    const eyes = { front: this.planar ? [0, 0, 1] : [0, -1, 0], side: [1, 0, 0], top: this.planar ? [0, 1, 1e-4] : [0, -1e-4, 1] };
    if (this.travels) this.middle(this.now, this.center), this.followed = this.center.clone();
    const eye = new Vector3(...(eyes[view] ?? (this.planar ? [0.12, 0.1, 1] : [0.7, -1, 0.5]))).normalize(), far = this.distance(eye);
    this.extent = far * this.tangent();
    this.camera.position.copy(this.center).addScaledVector(eye, far);
    this.setControls();
    this.controls.target.copy(this.center);
    this.controls.update();
    this.sun.position.copy(this.center).add(new Vector3(0.4, this.planar ? 0.7 : -0.6, 1.4).multiplyScalar(this.size));
    this.sun.target.position.copy(this.center);
    const box = this.sun.shadow.camera;
    Object.assign(box, { left: -this.size, right: this.size, top: this.size, bottom: -this.size, near: 0.01 * this.size, far: 6 * this.size });
    box.updateProjectionMatrix();
    this.sun.shadow.normalBias = 0.004 * this.size;
    this.resize();
  }

  setProjection(orthographic) {
    const from = this.camera;
    this.camera = orthographic ? this.orthographic : this.perspective;
    this.camera.position.copy(from.position);
    this.camera.up.copy(this.up);
    const target = this.controls.target.clone();
    this.setControls();
    this.controls.target.copy(target);
    this.controls.update();
    this.resize();
  }

  resize() {
    const width = this.host.clientWidth, height = this.host.clientHeight;
    if (!width || !height) return;
    this.width = width;
    this.height = height;
    this.renderer.setSize(width, height, false);
    this.perspective.aspect = width / height;
    this.perspective.updateProjectionMatrix();
    const half = this.extent ?? 0.5;
    Object.assign(this.orthographic, { left: -half * width / height, right: half * width / height, top: half, bottom: -half });
    this.orthographic.updateProjectionMatrix();
    this.draw();
  }

  // Shows time t.
  show(t) {
    if (!this.scene) return;
    const began = performance.now();
    this.time = t;
    const pose = poseAt(this.scene, t, this.now, this.next);
    for (let i = 0; i < this.bodies.length; i++) {
      const body = this.bodies[i];
      body.position.copy(pose[i].r);
      body.quaternion.copy(pose[i].q);
      body.updateMatrix();
      this.batch.setMatrixAt(i, body.matrix);
      body.visible = !this.hidden.has(i);
      if (body.visible !== this.batch.getVisibleAt(i)) this.batch.setVisibleAt(i, body.visible);
    }
    const a = this.a ??= new Vector3(), b = this.b ??= new Vector3();
    for (const link of this.links) stretch(link.mesh, this.pointAt(link.a, pose, a), this.pointAt(link.b, pose, b), link.share);
    this.showArrows();
    if (this.follow) this.goAlong();
    for (const line of this.traces) if (line.userData.past) line.geometry.setDrawRange(0, locate(this.scene.t, t)[0] + 1);
    this.updateMilliseconds = performance.now() - began;
    this.draw();
  }

  setHidden(body, hidden) {
    if (hidden) this.hidden.add(body);
    else this.hidden.delete(body);
    this.show(this.time);
  }

  // The path of the point of a body that is farthest from its centre, faint in all and strong up to now; NaN removes it.
  trace(body) {
    for (const line of this.traces) {
      this.content.remove(line);
      line.geometry.dispose();
      line.material.dispose();
    }
    this.traces = [];
    this.traced = body;
    if (!(body >= 0)) return this.draw();
    const far = this.scene.points.filter((p) => p.body === body + 1).sort((p, q) => Math.hypot(...q.r) - Math.hypot(...p.r))[0] ?? { body: body + 1, r: [0, 0, 0] };
    const numbers = [], point = new Vector3(), pose = blank(this.scene);
    for (let f = 0; f < this.scene.frames.length; f++) {
      this.pointAt(far, poseOf(this.scene, f, pose), point);
      numbers.push(point.x, point.y, this.planar ? 0.13 * this.size : point.z);
    }
    for (const past of [false, true]) {
      const geometry = new BufferGeometry();
      geometry.setAttribute('position', new Float32BufferAttribute(numbers, 3));
      const line = new Line(geometry, new LineBasicMaterial({ color: PALETTE[body % PALETTE.length], transparent: true, opacity: past ? 1 : 0.25 }));
      line.userData.past = past;
      this.traces.push(line);
      this.content.add(line);
    }
    return this.show(this.time);
  }

  // The arrow of a push, from the body to the pointer; null hides it.
  arrow(from, to) {
    if (this.pull) {
      this.content.remove(this.pull);
      this.pull.geometry.dispose();
      this.pull.material.dispose();
      this.pull = null;
    }
    if (from) {
      const geometry = new BufferGeometry().setFromPoints([from, to]);
      this.pull = new Line(geometry, new LineBasicMaterial({ color: '#e5484d' }));
      this.content.add(this.pull);
    }
    this.draw();
  }

  ray(event) {
    const box = this.canvas.getBoundingClientRect();
    const at = new Vector2(2 * (event.clientX - box.left) / box.width - 1, 1 - 2 * (event.clientY - box.top) / box.height);
    const caster = new Raycaster();
    caster.setFromCamera(at, this.camera);
    return caster;
  }

  // What lies under the pointer and has a name: { name, body (not of links and arrows), point }.
  under(event, others = true) {
    const arrows = this.arrows.map((a) => a.group).filter((o) => o.visible);
    const hit = this.ray(event).intersectObjects(others ? [this.batch, ...arrows, ...this.links.map((l) => l.mesh)] : [this.batch], true)[0];
    return hit && { ...(hit.object === this.batch ? this.bodies[hit.batchId] : hit.object).userData, point: hit.point };
  }

  hover(event) {
    const hit = event.pointerType === 'touch' ? null : this.under(event), name = hit?.name;
    this.tip.hidden = !name;
    this.canvas.style.cursor = name && hit.body >= 0 && this.callbacks.onPush ? 'grab' : '';
    if (!name) return;
    const box = this.host.getBoundingClientRect();
    this.tip.textContent = name;
    this.tip.style.left = `${Math.min(event.clientX - box.left + 14, box.width - 140)}px`;
    this.tip.style.top = `${event.clientY - box.top + 14}px`;
  }

  // Dragging a body pushes it; dragging elsewhere turns the camera.
  listen() {
    let push = null;
    this.canvas.addEventListener('pointerdown', (event) => {
      if (!this.scene || event.button !== 0 || event.shiftKey) return;
      const hit = this.under(event, false);
      if (!hit) return;
      const { body } = hit, pose = this.now[body];
      this.callbacks.onPick?.(body);
      if (!this.callbacks.onPush) return;
      const inside = hit.point.clone().sub(pose.r).applyQuaternion(pose.q.clone().invert());
      const normal = this.planar ? new Vector3(0, 0, 1) : this.camera.getWorldDirection(new Vector3());
      push = { body, inside, plane: new Plane().setFromNormalAndCoplanarPoint(normal, hit.point) };
      this.controls.enabled = false;
      this.canvas.setPointerCapture(event.pointerId);
    });
    this.canvas.addEventListener('pointermove', (event) => {
      if (!push) {
        if (this.scene && !event.buttons) this.hover(event);
        return;
      }
      const target = this.ray(event).ray.intersectPlane(push.plane, new Vector3());
      if (!target) return;
      const pose = this.now[push.body], from = push.inside.clone().applyQuaternion(pose.q).add(pose.r);
      this.arrow(from, target);
      this.callbacks.onPush?.({ body: push.body, inside: push.inside.toArray(), from: from.toArray(), target: target.toArray() });
    });
    const end = () => {
      if (!push) return;
      push = null;
      this.controls.enabled = true;
      this.arrow(null);
      this.callbacks.onPush?.(null);
    };
    this.canvas.addEventListener('pointerup', end);
    this.canvas.addEventListener('pointercancel', end);
    this.canvas.addEventListener('pointerleave', () => { this.tip.hidden = true; });
  }

  // Draws at most once per frame, only when something changed, and not before the picture before is done: calls to a graphics
  // processor that is behind (or to the software that stands for one) would wait for it.
  draw() {
    if (this.waiting) return;
    this.waiting = requestAnimationFrame(() => {
      this.waiting = 0;
      if (this.isBehind()) this.draw();
      else this.drawNow();
    });
  }

  isBehind() {
    const gl = this.renderer.getContext();
    if (!this.fence || gl.isContextLost()) return false;
    if (gl.getSyncParameter(this.fence, gl.SYNC_STATUS) !== gl.SIGNALED) return true;
    gl.deleteSync(this.fence);
    this.fence = null;
    this.adapt(performance.now() - this.fenced);
    return false;
  }

  // Pictures that take long are made with less: smaller shadows, shadows of every fourth picture, fewer pixels (nothing that
  // needs another program). It does not go back.
  adapt(taken) {
    this.slow = taken > SLOW ? (this.slow ?? 0) + 1 : 0;
    if (this.slow < PATIENCE || this.quality >= 3 || globalThis.daedalusFullQuality) return; // the last: for pictures of the page
    this.slow = 0;
    this.quality = (this.quality ?? 0) + 1;
    if (this.quality === 1) {
      this.sun.shadow.mapSize.set(768, 768);
      this.sun.shadow.map?.dispose();
      this.sun.shadow.map = null;
    } else if (this.quality === 2) this.renderer.shadowMap.autoUpdate = false; // see drawNow
    else this.setPixels(FEWER);
  }

  drawNow() {
    const began = performance.now(), gl = this.renderer.getContext();
    if (this.fence) gl.deleteSync(this.fence);
    this.pictures = (this.pictures ?? 0) + 1;
    if (this.quality >= 2 && this.pictures % 4 === 0) this.renderer.shadowMap.needsUpdate = true;
    this.renderer.setViewport(0, 0, this.width ?? 1, this.height ?? 1);
    this.renderer.render(this.world, this.camera);
    this.gizmo.draw(this.renderer, this.camera, this.width ?? 1);
    this.fence = gl.fenceSync?.(gl.SYNC_GPU_COMMANDS_COMPLETE, 0) ?? null;
    gl.flush();
    this.fenced = began;
    this.lastMilliseconds = performance.now() - began;
    this.milliseconds.push(this.lastMilliseconds + (this.updateMilliseconds ?? 0));
    this.updateMilliseconds = 0;
    if (this.milliseconds.length > MEASURED) this.milliseconds.shift();
  }

  // With all pixels and shadows, however quick it is.
  async picture() {
    this.setPixels(1);
    this.renderer.shadowMap.needsUpdate = true;
    this.drawNow();
    const image = await new Promise((resolve) => this.canvas.toBlob(resolve, 'image/png'));
    if (this.quality >= 3) this.setPixels(FEWER);
    return image;
  }

  setPixels(share) {
    const ratio = share * Math.min(share < 1 ? 1 : 2, devicePixelRatio);
    if (ratio === this.renderer.getPixelRatio()) return;
    this.renderer.setPixelRatio(ratio);
    this.resize();
  }

  stream(rate = 30) {
    return this.canvas.captureStream(rate);
  }

  destroy() {
    cancelAnimationFrame(this.waiting);
    this.observer.disconnect();
    this.controls.dispose();
    this.clear();
    for (const material of Object.values(this.materials)) material.dispose();
    this.gizmo.destroy();
    this.renderer.dispose();
    this.canvas.remove();
    this.tip.remove();
  }
}

export { Quaternion, Vector3 };
