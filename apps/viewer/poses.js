// Positions p of a mechanism as poses of its bodies. Planar: x, y, angle per body; spatial: x, y, z and the quaternion
// w, x, y, z.
import { Quaternion, Vector3 } from 'three';

export function poses(scene) {
  const planar = scene.dimension === 2, per = planar ? 3 : 7;
  return scene.frames.map((p) => scene.bodies.map((_, i) => {
    const o = per * i;
    if (planar) {
      return { r: new Vector3(p[o], p[o + 1], 0), q: new Quaternion(0, 0, Math.sin(p[o + 2] / 2), Math.cos(p[o + 2] / 2)) };
    }
    return { r: new Vector3(p[o], p[o + 1], p[o + 2]), q: new Quaternion(p[o + 4], p[o + 5], p[o + 6], p[o + 3]).normalize() };
  }));
}

export function poseAt(t, list, time) {
  let low = 0, high = t.length - 1;
  if (high <= 0 || time <= t[0]) return list[0];
  if (time >= t[high]) return list[high];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (t[middle] <= time) low = middle;
    else high = middle;
  }
  const s = (time - t[low]) / (t[high] - t[low]);
  return list[low].map((a, i) => {
    const b = list[high][i];
    return { r: new Vector3().lerpVectors(a.r, b.r, s), q: new Quaternion().slerpQuaternions(a.q, b.q, s) };
  });
}
