// Positions p of a mechanism as poses of its bodies. Planar: x, y, angle per body; spatial: x, y, z and the quaternion
// w, x, y, z. Between two frames positions are on the line, orientations by slerp.
import { Quaternion, Vector3 } from 'three';

export const blank = (scene) => scene.bodies.map(() => ({ r: new Vector3(), q: new Quaternion() }));

// The poses of frame f, written into out.
export function poseOf(scene, f, out) {
  const planar = scene.dimension === 2, per = planar ? 3 : 7, p = scene.frames[f];
  for (let i = 0; i < out.length; i++) {
    const o = per * i, { r, q } = out[i];
    if (planar) {
      r.set(p[o], p[o + 1], 0);
      q.set(0, 0, Math.sin(p[o + 2] / 2), Math.cos(p[o + 2] / 2));
    } else {
      r.set(p[o], p[o + 1], p[o + 2]);
      q.set(p[o + 4], p[o + 5], p[o + 6], p[o + 3]).normalize();
    }
  }
  return out;
}

// The last k with t[k] <= time, and how far time is on the way to k + 1.
export function locate(t, time) {
  let low = 0, high = t.length - 1;
  if (high <= 0 || !(time > t[0])) return [0, 0];
  if (time >= t[high]) return [high, 0];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (t[middle] <= time) low = middle;
    else high = middle;
  }
  return [low, (time - t[low]) / (t[high] - t[low])];
}

// The poses at a time, into out; next is work space.
export function poseAt(scene, time, out, next) {
  const [k, s] = locate(scene.t, time);
  poseOf(scene, k, out);
  if (s > 0) {
    poseOf(scene, k + 1, next);
    for (let i = 0; i < out.length; i++) {
      out[i].r.lerp(next[i].r, s);
      out[i].q.slerp(next[i].q, s);
    }
  }
  return out;
}
