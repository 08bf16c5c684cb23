// The 3D viewer of mechanisms: shows a scene as `daedalus run --animate scene.json` writes it. It knows nothing of
// the page around it; the page gives it scenes and times and hears about picks and pushes.
import {
  AmbientLight, BoxGeometry, BufferGeometry, CatmullRomCurve3, Color, CylinderGeometry, DirectionalLight, DoubleSide, GridHelper, Group, HemisphereLight,
  Line, LineBasicMaterial, Mesh, MeshStandardMaterial, OrthographicCamera, PerspectiveCamera, Plane, PlaneGeometry, Quaternion, Raycaster, Scene, ShadowMaterial,
  SphereGeometry, TorusGeometry, TubeGeometry, Vector2, Vector3, WebGLRenderer, Float32BufferAttribute,
} from 'three';
import { OrbitControls } from 'three/examples/jsm/controls/OrbitControls.js';
import { poses, poseAt } from './poses.js';

const PALETTE = ['#4c8fd6', '#e08a3c', '#4fae7f', '#c46aa8', '#b5a642', '#8f77d1', '#7f8c8d', '#d35d6e'];

function stretch(mesh, a, b) {
  const way = new Vector3().subVectors(b, a), length = way.length();
  mesh.position.copy(a).addScaledVector(way, 0.5);
  mesh.scale.set(1, Math.max(length, 1e-9), 1);
  if (length > 0) mesh.quaternion.setFromUnitVectors(new Vector3(0, 1, 0), way.divideScalar(length));
}

// A coil of unit length along y.
function coil(radius) {
  const points = [];
  for (let i = 0; i <= 96; i++) {
    const s = i / 96, inside = Math.min(1, Math.max(0, (s - 0.08) / 0.84));
    const turn = 2 * Math.PI * 8 * inside, r = s < 0.08 || s > 0.92 ? 0 : radius;
    points.push(new Vector3(r * Math.cos(turn), s - 0.5, r * Math.sin(turn)));
  }
  return new TubeGeometry(new CatmullRomCurve3(points), 128, radius * 0.16, 6);
}

export class Viewer {
  // callbacks: onPick(body or -1), onPush({ body, point: [x,y,z], target: [x,y,z] } or null)
  constructor(host, callbacks = {}) {
    this.host = host;
    this.callbacks = callbacks;
    this.renderer = new WebGLRenderer({ antialias: true, preserveDrawingBuffer: true });
    this.renderer.shadowMap.enabled = true;
    this.renderer.setPixelRatio(Math.min(2, devicePixelRatio));
    this.canvas = this.renderer.domElement;
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute('role', 'img');
    host.append(this.canvas);
    this.world = new Scene();
    this.perspective = new PerspectiveCamera(40, 1, 0.01, 1000);
    this.orthographic = new OrthographicCamera(-1, 1, 1, -1, -1000, 1000);
    this.camera = this.perspective;
    this.content = new Group();
    this.hidden = new Set();
    this.traces = [];
    this.time = 0;
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
    this.sun.shadow.mapSize.set(1024, 1024);
    this.sun.shadow.bias = -0.002;
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

  // Takes a scene; `keep`: the camera stays.
  load(scene, keep = false) {
    this.clear();
    this.scene = scene;
    this.planar = scene.dimension === 2;
    this.poses = poses(scene);
    this.up = this.planar ? new Vector3(0, 1, 0) : new Vector3(0, 0, 1);
    this.size = this.measure();
    this.buildBodies();
    this.buildLinks();
    this.buildGround();
    this.canvas.setAttribute('aria-label', `3D view of ${scene.name}: ${scene.bodies.length} bodies`);
    if (!keep) this.home();
    this.show(scene.t[0]);
  }

  clear() {
    this.content.traverse((o) => {
      o.geometry?.dispose();
      o.material?.dispose();
    });
    this.content.clear();
    this.grid = null;
  }

  measure() {
    const low = new Vector3(Infinity, Infinity, Infinity), high = low.clone().negate(), point = new Vector3();
    const every = Math.max(1, Math.floor(this.scene.frames.length / 60));
    for (let f = 0; f < this.scene.frames.length; f += every) {
      for (const p of this.scene.points) {
        this.pointAt(p, this.poses[f], point);
        low.min(point);
        high.max(point);
      }
      for (const pose of this.poses[f]) low.min(pose.r), high.max(pose.r);
    }
    this.center = low.clone().add(high).multiplyScalar(0.5);
    this.low = low;
    return Math.max(high.distanceTo(low), 1e-3);
  }

  pointAt(p, pose, out) {
    out.set(p.r[0], p.r[1], p.r[2] ?? 0);
    if (p.body > 0) out.applyQuaternion(pose[p.body - 1].q).add(pose[p.body - 1].r);
    return out;
  }

  material(i) {
    return new MeshStandardMaterial({ color: PALETTE[i % PALETTE.length], roughness: 0.55, metalness: 0.1, side: DoubleSide });
  }

  // A body without a shape is drawn as rods from its centre to its points; lone bodies as a ball.
  buildBodies() {
    const thick = this.size * 0.012;
    this.bodies = this.scene.bodies.map((name, i) => {
      const group = new Group(), material = this.material(i);
      group.userData = { body: i, name };
      const points = this.scene.points.filter((p) => p.body === i + 1);
      const add = (mesh) => {
        mesh.castShadow = true;
        mesh.receiveShadow = true;
        mesh.userData.body = i;
        group.add(mesh);
      };
      for (const p of points) {
        const at = new Vector3(p.r[0], p.r[1], p.r[2] ?? 0);
        if (at.length() > thick * 0.5) {
          const rod = new Mesh(new CylinderGeometry(thick, thick, 1, 12), material);
          stretch(rod, new Vector3(), at);
          add(rod);
        }
        const pin = new Mesh(new SphereGeometry(thick * 1.5, 16, 12), material);
        pin.position.copy(at);
        add(pin);
      }
      if (!this.scene.frame_only?.includes(i + 1)) {
        add(points.length > 1 ? new Mesh(new SphereGeometry(thick * 1.9, 20, 14), material) : new Mesh(new BoxGeometry(5 * thick, 5 * thick, 5 * thick), material));
      }
      for (const [point, radius] of this.scene.wheels ?? []) {
        const p = this.scene.points[point];
        if (p?.body !== i + 1) continue;
        const wheel = new Mesh(new TorusGeometry(radius * 0.92, radius * 0.08, 12, 48), material);
        wheel.position.set(p.r[0], p.r[1], p.r[2] ?? 0);
        if (!this.planar) wheel.rotation.x = Math.PI / 2;
        add(wheel);
      }
      this.content.add(group);
      return group;
    });
  }

  // Springs and rods of distance joints: between two points that move.
  buildLinks() {
    const thick = this.size * 0.008;
    this.links = [];
    const metal = new MeshStandardMaterial({ color: '#9aa4ae', roughness: 0.4, metalness: 0.6 });
    const add = (a, b, geometry) => {
      const mesh = new Mesh(geometry, metal);
      mesh.castShadow = true;
      this.links.push({ a: this.scene.points[a], b: this.scene.points[b], mesh });
      this.content.add(mesh);
    };
    for (const [a, b] of this.scene.springs ?? []) if (a >= 0 && b >= 0) add(a, b, coil(thick * 2.4));
    for (const j of this.scene.joints ?? []) if (j.type === 'distance') add(j.a, j.b, new CylinderGeometry(thick, thick, 1, 10));
  }

  buildGround() {
    const cells = 20, span = this.size * 2.4, floor = this.planar ? this.low.z - this.size * 0.06 : this.low.z - this.size * 0.02;
    this.grid = new GridHelper(span, cells);
    this.grid.material.vertexColors = false;
    this.paintGrid();
    const shade = new Mesh(new PlaneGeometry(span, span), new ShadowMaterial({ opacity: 0.22 }));
    shade.receiveShadow = true;
    this.grid.rotation.x = Math.PI / 2; // the plane x, y
    for (const o of [this.grid, shade]) o.position.set(this.center.x, this.center.y, floor);
    this.content.add(this.grid, shade);
    for (const p of this.scene.points.filter((q) => q.body === 0)) {
      const pin = new Mesh(new CylinderGeometry(this.size * 0.02, this.size * 0.026, this.size * 0.03, 16), new MeshStandardMaterial({ color: '#707a86' }));
      pin.rotation.x = Math.PI / 2;
      pin.position.set(p.r[0], p.r[1], p.r[2] ?? 0);
      this.content.add(pin);
    }
  }

  home() {
    const far = this.size * 1.35 / Math.min(1, this.perspective.aspect);
    this.camera.up.copy(this.up);
    this.perspective.near = this.size / 200;
    this.perspective.far = this.size * 60;
    const eye = this.planar ? new Vector3(0.12, 0.1, 1) : new Vector3(0.7, -1, 0.5);
    this.camera.position.copy(this.center).addScaledVector(eye.normalize(), far);
    this.setControls();
    this.controls.target.copy(this.center);
    this.controls.update();
    this.sun.position.copy(this.center).add(new Vector3(0.4, this.planar ? 0.7 : -0.6, 1.4).multiplyScalar(this.size));
    this.sun.target.position.copy(this.center);
    const box = this.sun.shadow.camera;
    Object.assign(box, { left: -this.size, right: this.size, top: this.size, bottom: -this.size, near: 0.01 * this.size, far: 6 * this.size });
    box.updateProjectionMatrix();
    this.sun.shadow.normalBias = 0.01 * this.size;
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
    this.renderer.setSize(width, height, false);
    this.perspective.aspect = width / height;
    this.perspective.updateProjectionMatrix();
    const half = (this.size ?? 1) * 0.62;
    Object.assign(this.orthographic, { left: -half * width / height, right: half * width / height, top: half, bottom: -half });
    this.orthographic.updateProjectionMatrix();
    this.draw();
  }

  // Shows time t: positions between two frames on the line, orientations by slerp.
  show(t) {
    if (!this.scene) return;
    this.time = t;
    const pose = poseAt(this.scene.t, this.poses, t);
    this.now = pose;
    this.bodies.forEach((group, i) => {
      group.position.copy(pose[i].r);
      group.quaternion.copy(pose[i].q);
      group.visible = !this.hidden.has(i);
    });
    const a = new Vector3(), b = new Vector3();
    for (const link of this.links) stretch(link.mesh, this.pointAt(link.a, pose, a), this.pointAt(link.b, pose, b));
    this.draw();
  }

  setHidden(body, hidden) {
    if (hidden) this.hidden.add(body);
    else this.hidden.delete(body);
    this.show(this.time);
  }

  // The path of a body's centre; NaN removes it.
  trace(body) {
    for (const line of this.traces) {
      this.content.remove(line);
      line.geometry.dispose();
      line.material.dispose();
    }
    this.traces = [];
    if (!(body >= 0)) return this.draw();
    const far = this.scene.points.filter((p) => p.body === body + 1).sort((p, q) => Math.hypot(...q.r) - Math.hypot(...p.r))[0] ?? { body: body + 1, r: [0, 0, 0] };
    const numbers = [], point = new Vector3();
    for (const pose of this.poses) {
      this.pointAt(far, pose, point);
      numbers.push(point.x, point.y, point.z);
    }
    const geometry = new BufferGeometry();
    geometry.setAttribute('position', new Float32BufferAttribute(numbers, 3));
    const line = new Line(geometry, new LineBasicMaterial({ color: PALETTE[body % PALETTE.length] }));
    this.traces.push(line);
    this.content.add(line);
    return this.draw();
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

  // Dragging a body pushes it; dragging elsewhere turns the camera.
  listen() {
    let push = null;
    this.canvas.addEventListener('pointerdown', (event) => {
      if (!this.scene || event.button !== 0 || event.shiftKey) return;
      const hit = this.ray(event).intersectObjects(this.bodies.filter((b) => b.visible), true)[0];
      if (!hit) return;
      const body = hit.object.userData.body, pose = this.now[body];
      const inside = hit.point.clone().sub(pose.r).applyQuaternion(pose.q.clone().invert());
      const normal = this.planar ? new Vector3(0, 0, 1) : this.camera.getWorldDirection(new Vector3());
      push = { body, inside, plane: new Plane().setFromNormalAndCoplanarPoint(normal, hit.point) };
      this.controls.enabled = false;
      this.canvas.setPointerCapture(event.pointerId);
      this.callbacks.onPick?.(body);
    });
    this.canvas.addEventListener('pointermove', (event) => {
      if (!push) return;
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
  }

  // Draws at most once per frame, and only when something changed.
  draw() {
    if (this.waiting) return;
    this.waiting = requestAnimationFrame(() => {
      this.waiting = 0;
      this.drawNow();
    });
  }

  drawNow() {
    const began = performance.now();
    this.renderer.render(this.world, this.camera);
    this.lastMilliseconds = performance.now() - began;
  }

  picture() {
    this.drawNow();
    return new Promise((resolve) => this.canvas.toBlob(resolve, 'image/png'));
  }

  stream(rate = 30) {
    return this.canvas.captureStream(rate);
  }

  destroy() {
    cancelAnimationFrame(this.waiting);
    this.observer.disconnect();
    this.controls.dispose();
    this.clear();
    this.renderer.dispose();
    this.canvas.remove();
  }
}

export { Quaternion, Vector3 };
