// Geometry of what a scene shows: shapes of bodies, links without a shape, coils, dampers, arrows, roads.
import {
  BoxGeometry, BufferGeometry, CapsuleGeometry, CatmullRomCurve3, ConeGeometry, CylinderGeometry, ExtrudeGeometry, Float32BufferAttribute, Path, Shape,
  SphereGeometry, TubeGeometry, Vector2, Vector3,
} from 'three';

const Y = new Vector3(0, 1, 0), way = new Vector3();

// A mesh of unit length along y, between a and b; share: only this part of the way, from a (or from b if negative).
export function stretch(mesh, a, b, share = 1) {
  way.subVectors(b, a);
  const length = way.length(), from = share < 0 ? b : a;
  mesh.position.copy(from).addScaledVector(way, share / 2);
  mesh.scale.y = Math.max(Math.abs(share) * length, 1e-9);
  if (length > 0) mesh.quaternion.setFromUnitVectors(Y, way.divideScalar(length));
}

export const rod = (radius, sides = 14) => new CylinderGeometry(radius, radius, 1, sides);

// A coil of unit length along y.
export function coil(radius) {
  const points = [];
  for (let i = 0; i <= 120; i++) {
    const s = i / 120, inside = Math.min(1, Math.max(0, (s - 0.08) / 0.84));
    const turn = 2 * Math.PI * 8 * inside, r = s < 0.08 || s > 0.92 ? 0 : radius;
    points.push(new Vector3(r * Math.cos(turn), s - 0.5, r * Math.sin(turn)));
  }
  return new TubeGeometry(new CatmullRomCurve3(points), 160, radius * 0.16, 6);
}

// Shaft and head of an arrow: the shaft has unit length along y, the head begins at 0.
export const shaft = (radius) => new CylinderGeometry(radius, radius, 1, 10).translate(0, 0.5, 0);
export const head = (radius) => new ConeGeometry(2.6 * radius, 7 * radius, 14).translate(0, 3.5 * radius, 0);

// The convex hull of points in the plane, counterclockwise (Andrew's monotone chain, 1979).
function hull(points) {
  const sorted = [...points].sort((p, q) => p.x - q.x || p.y - q.y);
  const half = (list) => {
    const out = [];
    for (const p of list) {
      while (out.length > 1) {
        const a = out[out.length - 2], b = out[out.length - 1];
        if ((b.x - a.x) * (p.y - a.y) - (b.y - a.y) * (p.x - a.x) > 0) break;
        out.pop();
      }
      out.push(p);
    }
    out.pop();
    return out;
  };
  return [...half(sorted), ...half(sorted.reverse())];
}

// A plate around points of the plane, with round corners and holes at the points.
export function plate(points, radius, thick) {
  const around = hull(points), outline = new Shape();
  if (around.length < 2) outline.absarc(points[0].x, points[0].y, radius, 0, 2 * Math.PI);
  for (let i = 0; around.length > 1 && i < around.length; i++) {
    const before = around[(i + around.length - 1) % around.length], at = around[i], next = around[(i + 1) % around.length];
    const from = Math.atan2(at.x - before.x, before.y - at.y) + Math.PI, to = Math.atan2(next.x - at.x, at.y - next.y) + Math.PI;
    outline.absarc(at.x, at.y, radius, from, to < from ? to + 2 * Math.PI : to);
  }
  for (const p of points) outline.holes.push(new Path().absarc(p.x, p.y, 0.38 * radius, 0, 2 * Math.PI, true));
  return new ExtrudeGeometry(outline, { depth: thick, bevelEnabled: true, bevelSize: 0.08 * radius, bevelThickness: 0.1 * thick, bevelSegments: 2, curveSegments: 12 }).translate(0, 0, -thick / 2);
}

// A shape of a body as the model gives it; cylinders and capsules lie along z.
export function solid(shape) {
  const s = shape.size;
  switch (shape.kind) {
    case 'box': return new BoxGeometry(s[0], s[1], s[2]);
    case 'sphere': return new SphereGeometry(s[0], 32, 20);
    case 'cylinder': return new CylinderGeometry(s[0], s[0], s[1], 40).rotateX(Math.PI / 2);
    case 'capsule': return new CapsuleGeometry(s[0], s[1], 12, 28).rotateX(Math.PI / 2);
    case 'mesh': {
      const corner = [];
      for (const k of shape.triangles) corner.push(shape.vertices[3 * k], shape.vertices[3 * k + 1], shape.vertices[3 * k + 2]);
      const geometry = new BufferGeometry();
      geometry.setAttribute('position', new Float32BufferAttribute(corner, 3));
      geometry.computeVertexNormals();
      return geometry;
    }
    default: return null;
  }
}

// Parts { geometry, mesh: where they are } as one geometry of positions, normals and triangles.
export function merge(parts) {
  const position = [], normal = [], index = [];
  for (const { geometry, mesh } of parts) {
    mesh.updateMatrix();
    geometry.applyMatrix4(mesh.matrix);
    const first = position.length / 3, corners = geometry.attributes.position.count;
    for (const x of geometry.attributes.position.array) position.push(x);
    for (const x of geometry.attributes.normal.array) normal.push(x);
    for (let k = 0; k < (geometry.index?.count ?? corners); k++) index.push(first + (geometry.index ? geometry.index.getX(k) : k));
    geometry.dispose();
  }
  const all = new BufferGeometry();
  all.setAttribute('position', new Float32BufferAttribute(position.length ? position : [0, 0, 0], 3));
  all.setAttribute('normal', new Float32BufferAttribute(normal.length ? normal : [0, 0, 1], 3));
  all.setIndex(index.length ? index : [0, 0, 0]);
  return all;
}

// A ribbon along (x, height); across: half of its width.
export function road(line, planar, across) {
  const corner = [];
  for (let i = 0; i + 1 < line.length; i++) {
    const [a, b] = [line[i], line[i + 1]];
    const put = (p, side) => (planar ? corner.push(p[0], p[1], side * across) : corner.push(p[0], side * across, p[1]));
    put(a, -1), put(b, -1), put(b, 1), put(a, -1), put(b, 1), put(a, 1);
  }
  const geometry = new BufferGeometry();
  geometry.setAttribute('position', new Float32BufferAttribute(corner, 3));
  geometry.computeVertexNormals();
  return geometry;
}

export { Vector2 };
