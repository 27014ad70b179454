// SPDX-License-Identifier: MIT
// Many boxes and segments as one object of coloured lines.
import * as THREE from "three";

const edges = [[0, 1], [1, 3], [3, 2], [2, 0], [4, 5], [5, 7], [7, 6], [6, 4], [0, 4], [1, 5], [2, 6], [3, 7]];

export class Lines {
    readonly object: THREE.LineSegments;
    #positions: number[] = [];
    #colors: number[] = [];

    constructor(depthTest = true) {
        this.object = new THREE.LineSegments(new THREE.BufferGeometry(),
            new THREE.LineBasicMaterial({vertexColors: true, depthTest, transparent: !depthTest}));
        this.object.frustumCulled = false;
        this.object.renderOrder = depthTest ? 1 : 2;
    }

    clear(): void {
        this.#positions = [];
        this.#colors = [];
    }

    segment(from: ArrayLike<number>, to: ArrayLike<number>, color: THREE.Color): void {
        this.#positions.push(from[0], from[1], from[2], to[0], to[1], to[2]);
        this.#colors.push(color.r, color.g, color.b, color.r, color.g, color.b);
    }

    /** min x, y, z, max x, y, z. */
    box(box: ArrayLike<number>, color: THREE.Color): void {
        const corner = (i: number) => [box[i & 1 ? 3 : 0], box[i & 2 ? 4 : 1], box[i & 4 ? 5 : 2]];
        for (const [a, b] of edges) {
            this.segment(corner(a), corner(b), color);
        }
    }

    /** The cube -0.5..0.5 under a transform. */
    cube(transform: THREE.Matrix4, color: THREE.Color): void {
        const corner = (i: number) =>
            new THREE.Vector3(i & 1 ? 0.5 : -0.5, i & 2 ? 0.5 : -0.5, i & 4 ? 0.5 : -0.5).applyMatrix4(transform)
                .toArray();
        for (const [a, b] of edges) {
            this.segment(corner(a), corner(b), color);
        }
    }

    commit(): void {
        this.object.geometry.dispose();
        const geometry = new THREE.BufferGeometry();
        geometry.setAttribute("position", new THREE.Float32BufferAttribute(this.#positions, 3));
        geometry.setAttribute("color", new THREE.Float32BufferAttribute(this.#colors, 3));
        this.object.geometry = geometry;
    }
}
