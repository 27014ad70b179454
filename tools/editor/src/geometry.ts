// SPDX-License-Identifier: MIT
// The bytes of /api/scene/geometry as three's geometries and instance matrices.
import * as THREE from "three";

export interface Meshes {
    geometries: THREE.BufferGeometry[];
    /** Materials of each mesh, one a group of its geometry. */
    materials: THREE.Material[][];
    /** Matrices of instanced nodes by node id, 16 floats an instance. */
    instances: Map<number, Float32Array>;
}

const magic = 0x31475345;
const opaque = 0, masked = 1;

const cache = new Map<string, THREE.Material>();

function getMaterial(kind: number, color: number): THREE.Material {
    const key = `${kind} ${color}`;
    let material = cache.get(key);
    if (!material) {
        material = new THREE.MeshLambertMaterial({
            color,
            flatShading: true,
            side: THREE.DoubleSide,
            transparent: kind > masked,
            opacity: kind > masked ? 0.4 : 1,
            depthWrite: kind <= masked,
        });
        material.name = kind === opaque ? "opaque" : "not opaque";
        cache.set(key, material);
    }
    return material;
}

/** Reads the bytes; layout: openapi.json. */
export function readMeshes(bytes: ArrayBuffer): Meshes {
    const words = new Uint32Array(bytes, 0, bytes.byteLength >> 2);
    if (words[0] !== magic) {
        throw new Error("the scene's geometry is not what this page reads: is the server of another version?");
    }
    const meshes: Meshes = {geometries: [], materials: [], instances: new Map()};
    let at = 3;
    for (let mesh = 0; mesh < words[1]; ++mesh) {
        const [vertexCount, indexCount, partCount] = words.subarray(at, at + 3);
        at += 3;
        const geometry = new THREE.BufferGeometry();
        const materials: THREE.Material[] = [];
        for (let part = 0; part < partCount; ++part, at += 4) {
            geometry.addGroup(words[at], words[at + 1], part);
            materials.push(getMaterial(words[at + 2], words[at + 3]));
        }
        geometry.setAttribute("position", new THREE.BufferAttribute(new Float32Array(bytes, 4 * at, 3 * vertexCount), 3));
        at += 3 * vertexCount;
        geometry.setIndex(new THREE.BufferAttribute(new Uint32Array(bytes, 4 * at, indexCount), 1));
        at += indexCount;
        meshes.geometries.push(geometry);
        meshes.materials.push(materials);
    }
    for (let node = 0; node < words[2]; ++node) {
        const count = words[at + 1];
        meshes.instances.set(words[at] | 0, new Float32Array(bytes, 4 * (at + 2), 16 * count));
        at += 2 + 16 * count;
    }
    return meshes;
}
