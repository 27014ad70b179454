// SPDX-License-Identifier: MIT
// Culls the meshes of a glTF scene in three.js:
//
//     const gltf = await new GLTFLoader().loadAsync("level.glb");
//     const culler = new Culler(await load(await (await fetch("level.espy")).arrayBuffer()), gltf);
//     culler.update(camera);                 each frame, before renderer.render
//
// Nothing of three is imported: objects are used as they are. A mesh is left out through its layers, which children do
// not inherit, so that a hidden parent hides nothing else.

export class Culler {
    #visibility;
    #meshes = [];

    /** `gltf` is what GLTFLoader gives: its parser knows which object came from which node. */
    constructor(visibility, gltf) {
        if (!visibility.nodes) {
            throw new Error("espy: the file holds no node ids (it was cooked for a console): cook it for web");
        }
        this.#visibility = visibility;
        this.counts = {drawn: 0, frustumCulled: 0, occlusionCulled: 0, cells: 0};
        const slots = new Map();
        for (let slot = 0; slot < visibility.count; ++slot) {
            // The whole node decides: three draws instances as one.
            if (!visibility.parts || visibility.parts[slot] < 0) {
                slots.set(visibility.nodes[slot], slot);
            }
        }
        const associations = gltf.parser.associations;
        gltf.scene.traverse(object => {
            for (let owner = object; object.isMesh && owner; owner = owner.parent) {
                const node = associations.get(owner)?.nodes;
                if (node !== undefined) {
                    if (slots.has(node)) {
                        this.#meshes.push({object, slot: slots.get(node), mask: object.layers.mask});
                        // three would test its own sphere for what has passed a tighter box already.
                        object.frustumCulled = false;
                    }
                    break;
                }
            }
        });
    }

    /** Culls for a camera. Options as in Visibility.cullView. Returns the counts. */
    update(camera, options) {
        camera.updateMatrixWorld();
        this.counts = this.#visibility.cullView(camera.matrixWorldInverse.elements, camera.projectionMatrix.elements,
            options);
        for (const mesh of this.#meshes) {
            mesh.object.layers.mask = this.#visibility.isVisible(mesh.slot) ? mesh.mask : 0;
        }
        return this.counts;
    }

    /** Shows everything again. */
    reset() {
        for (const mesh of this.#meshes) {
            mesh.object.layers.mask = mesh.mask;
        }
    }
}
