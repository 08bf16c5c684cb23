// usage: node robots_reference.mjs FOLDER_WITH_@mujoco/mujoco ROBOT.urdf... > tests/multibody/robots_reference.h
// Accelerations of the joints of robots in random states by MuJoCo (npm @mujoco/mujoco), for tests/multibody/test_import.c: without drawings,
// collisions, dry friction and limits; positions within the middle 80 % of the limits.
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const [npm, ...files] = process.argv.slice(2);
const mujoco = await (await import(pathToFileURL(path.resolve(npm, 'node_modules/@mujoco/mujoco/mujoco.js')))).default();
const CASES = 4;
let state = 20261117;
const random = () => { state = (state * 1103515245 + 12345) % 2147483648; return state / 2147483648; };
const cut = (text) => text.replace(/<!--[\s\S]*?-->/g, '').replace(/<(visual|collision|transmission|gazebo)\b[^>]*>[\s\S]*?<\/\1>/g, '').replace(/<gazebo[^>]*\/>/g, '')
  .replace(/<robot([^>]*)>/, '<robot$1><mujoco><compiler balanceinertia="false" fusestatic="true" boundinertia="0" boundmass="0"/></mujoco>');

console.log('/* Accelerations of joints in random states by MuJoCo 3 (npm @mujoco/mujoco); written by tools/robots_reference.mjs. */');
const tables = [];
for (const file of files) {
  mujoco.FS.writeFile('/robot.xml', cut(fs.readFileSync(file, 'utf8')));
  const m = mujoco.MjModel.from_xml_path('/robot.xml'), d = new mujoco.MjData(m), name = path.basename(file, '.urdf');
  const joints = Array.from({ length: m.njnt }, (_, j) => mujoco.mj_id2name(m, 3, j)), rows = [];
  for (let i = 0; i < m.nv; i++) m.dof_frictionloss[i] = 0;
  for (let c = 0; c < CASES; c++) {
    for (let j = 0; j < m.njnt; j++) {
      const [a, b] = [m.jnt_range[2 * j], m.jnt_range[2 * j + 1]], limited = a < b && b - a < 12;
      const q = limited ? a + (b - a) * (0.1 + 0.8 * random()) : 2 * random() - 1;
      d.qpos[m.jnt_qposadr[j]] = q;
      d.qvel[m.jnt_dofadr[j]] = 2 * random() - 1;
    }
    mujoco.mj_forward(m, d);
    for (let j = 0; j < m.njnt; j++) rows.push(`    {${c}, "${joints[j]}", ${d.qpos[m.jnt_qposadr[j]]}, ${d.qvel[m.jnt_dofadr[j]]}, ${d.qacc[m.jnt_dofadr[j]]}},`);
  }
  console.log(`static const robot_state ${name}_states[] = {\n${rows.join('\n')}\n};`);
  tables.push(`    {"${name}", ${name}_states, ${rows.length}, ${m.njnt}},`);
}
console.log(`static const robot_case robot_cases[] = {\n${tables.join('\n')}\n};`);
