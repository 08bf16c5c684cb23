// The axes in the corner of the view: which way x, y and z are.
import { CanvasTexture, SRGBColorSpace, CylinderGeometry, Mesh, MeshBasicMaterial, OrthographicCamera, Scene, Sprite, SpriteMaterial, Vector3 } from 'three';

const AXES = [['x', '#d6453d', [1, 0, 0]], ['y', '#3c9a4b', [0, 1, 0]], ['z', '#3d74d6', [0, 0, 1]]];

function label(text, color) {
  const canvas = document.createElement('canvas'), size = 64;
  canvas.width = canvas.height = size;
  const pen = canvas.getContext('2d');
  pen.font = 'bold 44px sans-serif';
  pen.textAlign = 'center';
  pen.textBaseline = 'middle';
  pen.fillStyle = color;
  pen.fillText(text, size / 2, size / 2);
  const map = new CanvasTexture(canvas);
  map.colorSpace = SRGBColorSpace;
  return new Sprite(new SpriteMaterial({ map, depthTest: false }));
}

export class Gizmo {
  constructor() {
    this.scene = new Scene();
    this.camera = new OrthographicCamera(-1.4, 1.4, 1.4, -1.4, 0.1, 10);
    for (const [name, color, axis] of AXES) {
      const bar = new Mesh(new CylinderGeometry(0.05, 0.05, 1, 8), new MeshBasicMaterial({ color })), to = new Vector3(...axis);
      bar.quaternion.setFromUnitVectors(new Vector3(0, 1, 0), to);
      bar.position.copy(to).multiplyScalar(0.5);
      const text = label(name, color);
      text.position.copy(to).multiplyScalar(1.18);
      text.scale.setScalar(0.55);
      this.scene.add(bar, text);
    }
  }

  // Over the picture that is there, in the lower left corner.
  draw(renderer, camera, width) {
    const size = Math.min(96, width / 4);
    this.camera.up.copy(camera.up);
    camera.getWorldDirection(this.camera.position).multiplyScalar(-4);
    this.camera.lookAt(0, 0, 0);
    renderer.setScissorTest(true);
    renderer.setScissor(8, 8, size, size);
    renderer.setViewport(8, 8, size, size);
    renderer.autoClear = false;
    renderer.clearDepth();
    renderer.render(this.scene, this.camera);
    renderer.autoClear = true;
    renderer.setScissorTest(false);
  }

  destroy() {
    this.scene.traverse((o) => {
      o.geometry?.dispose();
      o.material?.map?.dispose();
      o.material?.dispose();
    });
  }
}
