// SPDX-License-Identifier: MIT
// The viewport: the level, never culled; the occlusion preview over it; and the two preview panels, each culled by the C
// core for its own camera.
import {effect} from "@preact/signals";
import CameraControls from "camera-controls";
import * as THREE from "three";
import {TransformControls} from "three/addons/controls/TransformControls.js";
import {Reason, type Visibility} from "espy-web";

import type {Box, SceneNode} from "./api";
import {readMeshes, type Meshes} from "./geometry";
import {Lines} from "./lines";
import * as store from "./store";

CameraControls.install({THREE});

const colors = {
    volume: new THREE.Color(0x00e5ff),
    cell: new THREE.Color(0x2bd94a),
    visible: new THREE.Color(0x2bd94a),
    hidden: new THREE.Color(0xff3b30),
    selected: new THREE.Color(0xffb020),
    bounds: new THREE.Color(0x6b7a90),
    area: new THREE.Color(0x5a9bff),
    camera: new THREE.Color(0xd08bff),
};
/** Layers of meshes: seen by the viewport always, by a panel where its camera sees them. */
const panelLayers = [1, 2];
const overlayLayer = 3;

/** One of the two preview panels. */
interface Panel {
    element: HTMLElement;
    camera: THREE.PerspectiveCamera | THREE.OrthographicCamera;
    node: number;
}

export class SceneView {
    readonly #renderer: THREE.WebGLRenderer;
    readonly #scene = new THREE.Scene();
    readonly #camera = new THREE.PerspectiveCamera(60, 1, 0.05, 2000);
    readonly #controls: CameraControls;
    readonly #handles: TransformControls;
    readonly #level = new THREE.Group();
    readonly #overlay = new Lines();
    readonly #front = new Lines(false);
    readonly #handle = new THREE.Object3D();
    readonly #panels: Panel[] = [];
    readonly #clock = new THREE.Clock();
    #meshes: Meshes | null = null;
    #objects = new Map<number, THREE.Mesh>();
    #cells: THREE.InstancedMesh | null = null;
    #dirty = true;
    #movedGameCamera: THREE.Matrix4 | null = null;
    #dragging = false;

    constructor(private readonly canvas: HTMLCanvasElement) {
        this.#renderer = new THREE.WebGLRenderer({canvas, antialias: true, preserveDrawingBuffer: true});
        this.#renderer.setScissorTest(true);
        this.#controls = new CameraControls(this.#camera, canvas);
        this.#controls.dollyToCursor = true;
        this.#handles = new TransformControls(this.#camera, canvas);
        this.#camera.layers.enable(overlayLayer);
        const sun = new THREE.DirectionalLight(0xffffff, 2.2);
        sun.position.set(0.4, 1, 0.25);
        const lights = [sun, new THREE.HemisphereLight(0xdfe9ff, 0x70664f, 1.6)];
        for (const light of lights) {
            light.layers.enableAll();
        }
        this.#scene.add(...lights, this.#level, this.#overlay.object, this.#front.object, this.#handle,
            this.#handles.getHelper());
        for (const object of [this.#overlay.object, this.#front.object, this.#handles.getHelper()]) {
            object.traverse(part => part.layers.set(overlayLayer));
        }
        this.#handles.getRaycaster().layers.set(overlayLayer);
        this.#watchHandles();
        this.#watchPointer();
        this.#watchStore();
        this.#renderer.setAnimationLoop(() => this.#frame());
    }

    /** Adds a preview panel over an element; the first is the game camera's. */
    addPanel(element: HTMLElement): void {
        this.#panels.push({element, camera: new THREE.PerspectiveCamera(60, 1.6, 0.1, 1000), node: -1});
        this.#dirty = true;
    }

    /** Point in front of the viewport's camera, for things that are spawned. */
    getFocus(): THREE.Vector3 {
        return this.#controls.getTarget(new THREE.Vector3());
    }

    focus(boxes: Box[]): void {
        const all = new THREE.Box3();
        for (const box of boxes) {
            all.union(new THREE.Box3(new THREE.Vector3(...box.slice(0, 3)), new THREE.Vector3(...box.slice(3))));
        }
        if (!all.isEmpty()) {
            void this.#controls.fitToSphere(all.getBoundingSphere(new THREE.Sphere()), true);
        }
    }

    /** Puts the game camera where the viewport looks from. */
    moveGameCamera(): void {
        this.#movedGameCamera = this.#camera.matrixWorld.clone();
        store.gameCamera.value = -1;
        this.#dirty = true;
    }

    // --- what is watched

    #watchHandles(): void {
        this.#handles.addEventListener("dragging-changed", event => {
            this.#dragging = event.value === true;
            this.#controls.enabled = !this.#dragging;
            const area = this.#selectedArea();
            if (!this.#dragging && area) {
                this.#handle.updateMatrix();
                void store.moveArea(area.id, this.#handle.matrix.toArray());
            }
        });
        this.#handles.addEventListener("objectChange", () => {
            this.#dirty = true;
        });
    }

    #watchPointer(): void {
        let x = 0, y = 0;
        this.canvas.addEventListener("pointerdown", event => {
            x = event.clientX;
            y = event.clientY;
        });
        this.canvas.addEventListener("click", event => {
            if (Math.hypot(event.clientX - x, event.clientY - y) < 4 && !this.#handles.axis) {
                this.#pick(event);
            }
        });
    }

    #watchStore(): void {
        effect(() => {
            if (store.geometry.value && !this.#meshes) {
                this.#meshes = readMeshes(store.geometry.value);
            }
            this.#build(store.nodes.value);
        });
        effect(() => {
            // Whatever these show is drawn again.
            void [store.selection.value, store.preview.value, store.bounds.value, store.visibility.value,
                store.gameCamera.value, store.secondCamera.value, store.panels.value, store.occlusion.value,
                store.settings.value];
            this.#attachHandles();
            this.#dirty = true;
        });
        effect(() => this.#buildCells(store.heatMap.value ? store.visibility.value : null));
    }

    #selectedArea(): SceneNode | undefined {
        const nodes = store.selected.value;
        return nodes.length === 1 && nodes[0].kind === "OcclusionArea" ? nodes[0] : undefined;
    }

    #attachHandles(): void {
        const area = this.#selectedArea();
        if (!area) {
            this.#handles.detach();
            return;
        }
        if (!this.#dragging) {
            new THREE.Matrix4().fromArray(area.transform)
                .decompose(this.#handle.position, this.#handle.quaternion, this.#handle.scale);
            this.#handles.attach(this.#handle);
        }
    }

    setHandleMode(mode: "translate" | "rotate" | "scale"): void {
        this.#handles.setMode(mode);
    }

    #pick(event: MouseEvent): void {
        const frame = this.canvas.getBoundingClientRect();
        const point = new THREE.Vector2(2 * (event.clientX - frame.left) / frame.width - 1,
            1 - 2 * (event.clientY - frame.top) / frame.height);
        const ray = new THREE.Raycaster();
        ray.setFromCamera(point, this.#camera);
        const hit = ray.intersectObjects(this.#level.children, false)[0];
        const id = hit?.object.userData.id as number | undefined;
        if (id === undefined) {
            store.select([]);
        } else if (event.ctrlKey || event.shiftKey) {
            store.toggle(id);
        } else {
            store.select([id]);
        }
    }

    // --- the level

    #build(nodes: SceneNode[]): void {
        const meshes = this.#meshes;
        if (!meshes) {
            return;
        }
        const first = this.#objects.size === 0;
        const ids = new Set(nodes.map(node => node.id));
        for (const [id, object] of this.#objects) {
            if (!ids.has(id)) {
                this.#level.remove(object);
                this.#objects.delete(id);
            }
        }
        for (const node of nodes) {
            if (node.mesh < 0 || node.kind === "OcclusionArea") {
                continue;
            }
            let object = this.#objects.get(node.id);
            if (!object) {
                object = this.#makeObject(node, meshes);
                this.#objects.set(node.id, object);
                this.#level.add(object);
            }
            object.matrix.fromArray(node.transform);
            object.matrixWorldNeedsUpdate = true;
            object.visible = !node.flags.hidden && !node.flags.blocker;
        }
        if (first && nodes.length > 0) {
            this.#lookAtAll();
        }
        this.#attachHandles();
        this.#dirty = true;
    }

    #makeObject(node: SceneNode, meshes: Meshes): THREE.Mesh {
        const geometry = meshes.geometries[node.mesh], materials = meshes.materials[node.mesh];
        const matrices = meshes.instances.get(node.id);
        let object: THREE.Mesh;
        if (matrices) {
            const instanced = new THREE.InstancedMesh(geometry, materials, matrices.length / 16);
            instanced.instanceMatrix.array.set(matrices);
            object = instanced;
        } else {
            object = new THREE.Mesh(geometry, materials);
        }
        object.matrixAutoUpdate = false;
        object.userData.id = node.id;
        return object;
    }

    #lookAtAll(): void {
        const camera = store.cameras.value[0];
        if (camera) {
            const matrix = new THREE.Matrix4().fromArray(camera.transform);
            const eye = new THREE.Vector3().setFromMatrixPosition(matrix);
            const to = new THREE.Vector3(0, 0, -8).applyMatrix4(matrix);
            void this.#controls.setLookAt(eye.x, eye.y, eye.z, to.x, to.y, to.z);
            return;
        }
        this.focus(store.nodes.value.map(node => node.bounds).filter(box => box !== null));
    }

    // --- cells by how many occludees they see

    #buildCells(visibility: Visibility | null): void {
        if (this.#cells) {
            this.#scene.remove(this.#cells);
            this.#cells.dispose();
            this.#cells = null;
        }
        if (visibility) {
            const size = 0.3 * visibility.cellSize;
            const cells = new THREE.InstancedMesh(new THREE.BoxGeometry(size, size, size),
                new THREE.MeshBasicMaterial(), visibility.cellCount);
            const seen = Array.from({length: visibility.cellCount}, (_, cell) => visibility.cullCell(cell).drawn);
            const most = seen.reduce((a, b) => Math.max(a, b), 1);
            const matrix = new THREE.Matrix4(), color = new THREE.Color();
            seen.forEach((count, cell) => {
                const box = visibility.getCellBox(cell);
                matrix.makeTranslation(0.5 * (box[0] + box[3]), 0.5 * (box[1] + box[4]), 0.5 * (box[2] + box[5]));
                cells.setMatrixAt(cell, matrix);
                cells.setColorAt(cell, color.setHSL(0.62 * (1 - count / most), 0.85, 0.55));
            });
            cells.layers.set(overlayLayer);
            this.#cells = cells;
            this.#scene.add(cells);
        }
        this.#dirty = true;
    }

    // --- the overlay

    #drawOverlay(): void {
        this.#overlay.clear();
        this.#front.clear();
        const visibility = store.visibility.value, selected = store.selection.value;
        for (const area of store.areas.value) {
            const picked = selected.has(area.id);
            const matrix = picked && this.#handles.object ? this.#handle.matrixWorld
                : new THREE.Matrix4().fromArray(area.transform);
            this.#overlay.cube(matrix, picked ? colors.selected : colors.area);
        }
        if (store.preview.value && store.bounds.value && visibility) {
            this.#drawPreview(visibility, selected);
        } else if (store.bounds.value) {
            for (const node of store.nodes.value) {
                if (node.bounds && (node.flags.occluder || node.flags.occludee)) {
                    this.#overlay.box(node.bounds, colors.bounds);
                }
            }
        }
        for (const node of store.selected.value) {
            if (node.bounds && node.kind !== "OcclusionArea") {
                this.#front.box(node.bounds, colors.selected);
            }
        }
        for (const panel of this.#panels) {
            this.#drawCamera(panel.camera);
        }
        this.#overlay.commit();
        this.#front.commit();
    }

    /** The bake volume, the game camera's cell, every occludee, and lines to the selected ones. */
    #drawPreview(visibility: Visibility, selected: ReadonlySet<number>): void {
        const low = visibility.origin, size = visibility.cellSize;
        this.#front.box([...low, ...low.map((x, k) => x + size * visibility.dims[k])], colors.volume);
        const eye = this.#eyeOf(0);
        const cell = visibility.findCell(eye.x, eye.y, eye.z);
        store.gameCell.value = cell;
        visibility.cullCell(cell);
        if (cell >= 0) {
            this.#front.box(visibility.getCellBox(cell), colors.cell);
        }
        const from = cell >= 0 ? center(visibility.getCellBox(cell)) : eye.toArray();
        for (let slot = 0; slot < visibility.count; ++slot) {
            const box = visibility.boxes.subarray(6 * slot, 6 * slot + 6);
            const hidden = visibility.reasons[slot] === Reason.Occluded;
            const color = hidden ? colors.hidden : colors.visible;
            // What is hidden stands behind something: its box would not be seen either.
            (hidden ? this.#front : this.#overlay).box(box, color);
            if (visibility.nodes && selected.has(visibility.nodes[slot])) {
                this.#front.segment(from, center(box), color);
            }
        }
    }

    #drawCamera(camera: THREE.Camera): void {
        const eye = new THREE.Vector3().setFromMatrixPosition(camera.matrixWorld).toArray();
        const inverse = camera.matrixWorld.clone().multiply(camera.projectionMatrixInverse);
        const far = [[-1, -1], [1, -1], [1, 1], [-1, 1]].map(([x, y]) => {
            const p = new THREE.Vector3(x, y, 0.5).applyMatrix4(inverse);
            return p.sub(new THREE.Vector3(...eye)).setLength(1.5).add(new THREE.Vector3(...eye)).toArray();
        });
        far.forEach((corner, i) => {
            this.#overlay.segment(eye, corner, colors.camera);
            this.#overlay.segment(corner, far[(i + 1) % 4], colors.camera);
        });
    }

    // --- cameras and panels

    #placePanel(panel: Panel, index: number): void {
        const id = index === 0 ? store.gameCamera.value : store.secondCamera.value;
        const node = store.byId.value.get(id);
        const aspect = panel.element.clientWidth / Math.max(1, panel.element.clientHeight);
        const def = node?.camera;
        const near = def?.near ?? 0.1, far = def && def.far > 0 ? def.far : 2000;
        if (def?.orthographic) {
            const h = def.halfHeight;
            panel.camera = new THREE.OrthographicCamera(-h * aspect, h * aspect, h, -h, near, far);
        } else {
            panel.camera = new THREE.PerspectiveCamera((def?.verticalFov ?? 1.05) * 180 / Math.PI, aspect, near, far);
        }
        const matrix = node?.camera ? new THREE.Matrix4().fromArray(node.transform)
            : this.#movedGameCamera ?? this.#camera.matrixWorld;
        matrix.decompose(panel.camera.position, panel.camera.quaternion, panel.camera.scale);
        panel.camera.scale.set(1, 1, 1);
        panel.camera.layers.set(panelLayers[index]);
        panel.camera.updateMatrixWorld();
    }

    #eyeOf(index: number): THREE.Vector3 {
        const panel = this.#panels[index];
        return new THREE.Vector3().setFromMatrixPosition(panel?.camera.matrixWorld ?? this.#camera.matrixWorld);
    }

    /** Culls the level for a panel's camera by the baked data and the frustum. */
    #cullPanel(panel: Panel, index: number): store.ViewCounts {
        const visibility = store.visibility.value;
        const layer = panelLayers[index];
        for (const object of this.#objects.values()) {
            object.layers.enable(layer);
            object.frustumCulled = true;
        }
        if (!visibility?.nodes) {
            return {drawn: this.#objects.size, frustumCulled: 0, occlusionCulled: 0};
        }
        const counts: store.ViewCounts = {drawn: this.#objects.size, frustumCulled: 0, occlusionCulled: 0};
        const occlusion = !store.occlusion.value?.stale && (store.settings.value?.occlusionCulling ?? true);
        visibility.cullView(panel.camera.matrixWorldInverse.elements, panel.camera.projectionMatrix.elements, {occlusion});
        for (let slot = 0; slot < visibility.count; ++slot) {
            const object = visibility.parts && visibility.parts[slot] >= 0 ? undefined
                : this.#objects.get(visibility.nodes[slot]);
            if (!object?.visible || visibility.isVisible(slot)) {
                continue;
            }
            object.layers.disable(layer);
            --counts.drawn;
            if (visibility.reasons[slot] === Reason.Outside) {
                ++counts.frustumCulled;
            } else {
                ++counts.occlusionCulled;
            }
        }
        return counts;
    }

    // --- drawing

    #resize(): boolean {
        const {clientWidth: width, clientHeight: height} = this.canvas;
        const size = this.#renderer.getSize(new THREE.Vector2());
        if (width === 0 || height === 0 || (size.x === width && size.y === height)) {
            return false;
        }
        this.#renderer.setPixelRatio(Math.min(2, devicePixelRatio));
        this.#renderer.setSize(width, height, false);
        this.#camera.aspect = width / height;
        this.#camera.updateProjectionMatrix();
        return true;
    }

    #frame(): void {
        const moved = this.#controls.update(this.#clock.getDelta());
        const resized = this.#resize();
        if (!moved && !resized && !this.#dirty) {
            return;
        }
        const structural = this.#dirty || resized;
        this.#dirty = false;
        if (structural) {
            this.#panels.forEach((panel, i) => this.#placePanel(panel, i));
            this.#handle.updateMatrixWorld();
            store.counts.value = store.panels.value ? this.#panels.map((panel, i) => this.#cullPanel(panel, i)) : [];
            this.#drawOverlay();
        }
        this.#draw();
    }

    #draw(): void {
        const dark = document.documentElement.dataset.theme !== "light";
        const frame = this.canvas.getBoundingClientRect();
        this.#scene.background = new THREE.Color(dark ? 0x14181f : 0xc9d6e6);
        this.#renderer.setViewport(0, 0, frame.width, frame.height);
        this.#renderer.setScissor(0, 0, frame.width, frame.height);
        this.#renderer.render(this.#scene, this.#camera);
        if (!store.panels.value) {
            return;
        }
        for (const panel of this.#panels) {
            const box = panel.element.getBoundingClientRect();
            const x = box.left - frame.left, y = frame.bottom - box.bottom;
            this.#renderer.setViewport(x, y, box.width, box.height);
            this.#renderer.setScissor(x, y, box.width, box.height);
            this.#renderer.render(this.#scene, panel.camera);
        }
    }
}

function center(box: ArrayLike<number>): number[] {
    return [0, 1, 2].map(k => 0.5 * (box[k] + box[3 + k]));
}
