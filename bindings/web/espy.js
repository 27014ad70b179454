// SPDX-License-Identifier: MIT
// What can be seen from a camera, from a file that `espy bake` wrote. Works in browsers and in Node 18; needs the
// module espy.wasm beside it. Types: espy.d.ts.

const results = ["Ok", "InvalidArgument", "InvalidId", "OutOfMemory", "LimitExceeded", "BadData", "UnsupportedVersion",
    "WrongByteOrder", "Misaligned"];

let compiled = null;

/** Compiles the module once. In Node and with bundlers pass the bytes, or the address that they have. */
export function compile(source = new URL("./espy.wasm", import.meta.url)) {
    compiled ??= (async () => {
        if (source instanceof ArrayBuffer || ArrayBuffer.isView(source)) {
            return WebAssembly.compile(source);
        }
        const answer = await fetch(source);
        if (!answer.ok) {
            throw new Error(`espy: ${source}: ${answer.status} ${answer.statusText}`);
        }
        return WebAssembly.compile(await answer.arrayBuffer());
    })().catch(error => {
        compiled = null;
        throw error;
    });
    return compiled;
}

/** Loads the bytes of a .espy file of little-endian order. Throws an Error that says what is wrong, and where. */
export async function load(bytes) {
    const data = bytes instanceof ArrayBuffer ? new Uint8Array(bytes)
        : new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const instance = await WebAssembly.instantiate(await compile(), {});
    return new Visibility(instance.exports, data);
}

/** One loaded file. Slots are its occludees, 0 to count - 1. */
export class Visibility {
    #core;
    #input;

    constructor(core, data) {
        this.#core = core;
        const start = core.espyWeb_GetStart();
        const missing = start + data.length - core.memory.buffer.byteLength;
        if (missing > 0) {
            core.memory.grow(Math.ceil(missing / 65536));
        }
        new Uint8Array(core.memory.buffer).set(data, start);
        const result = core.espyWeb_Load(data.length);
        const words = new Uint32Array(core.memory.buffer, core.espyWeb_GetInfo(), 16);
        if (result !== 0) {
            const where = result === 5 ? ` at byte ${words[7]}, field '${this.#readText(words[8])}'` : "";
            throw new Error(`espy: the data cannot be used (${results[result] ?? result}${where}): bake it again`);
        }
        const memory = core.memory.buffer;
        const count = words[1];
        this.#input = new Float32Array(memory, core.espyWeb_GetInput(), 32);
        this.count = count;
        this.cellCount = words[0];
        const floats = new Float32Array(memory, core.espyWeb_GetInfo(), 16);
        this.cellSize = floats[12];
        this.origin = Array.from(floats.subarray(9, 12));
        this.dims = Array.from(words.subarray(13, 16));
        this.reasons = new Uint8Array(memory, words[3], count);
        this.boxes = new Float32Array(memory, words[4], 6 * count);
        this.nodes = words[5] ? new Int32Array(memory, words[5], count) : null;
        this.parts = words[6] ? new Int32Array(memory, words[6], count) : null;
    }

    #readText(address) {
        const bytes = new Uint8Array(this.#core.memory.buffer);
        let text = "";
        for (let at = address; at !== 0 && at < bytes.length && bytes[at] !== 0; ++at) {
            text += String.fromCharCode(bytes[at]);
        }
        return text;
    }

    #counts() {
        const [drawn, frustumCulled, occlusionCulled, cells] =
            new Uint32Array(this.#core.memory.buffer, this.#core.espyWeb_GetCounts(), 4);
        return {drawn, frustumCulled, occlusionCulled, cells};
    }

    /** The cell of a point, -1 outside of all: everything is visible from there. */
    findCell(x, y, z) {
        return this.#core.espyWeb_FindCell(x, y, z);
    }

    /** [min x, y, z, max x, y, z] of a cell. */
    getCellBox(cell) {
        this.#core.espyWeb_GetCellBox(cell);
        return Array.from(this.#input.subarray(0, 6));
    }

    /** Fills `reasons` with what can be seen from anywhere in a cell. */
    cullCell(cell) {
        this.#core.espyWeb_CullCell(cell);
        return this.#counts();
    }

    /**
     * Culls for a camera: `view` (world to eye) and `projection`, 16 numbers each, column-major. Fills `reasons` and
     * returns the counts.
     */
    cullView(view, projection, options = {}) {
        const {clipDepth = "-1..1", reversedZ = false, occlusion = true, frustum = true} = options;
        this.#input.set(view, 0);
        this.#input.set(projection, 16);
        if (clipDepth === "-1..1") {
            // z of WebGL is -w..w, that of espy 0..w.
            for (let column = 0; column < 4; ++column) {
                const at = 16 + 4 * column;
                this.#input[at + 2] = 0.5 * (projection[4 * column + 2] + projection[4 * column + 3]);
            }
        }
        this.#core.espyWeb_CullView(reversedZ ? 1 : 0, occlusion ? 1 : 0, frustum ? 1 : 0);
        return this.#counts();
    }

    /** Is a slot to be drawn, by the last cull? */
    isVisible(slot) {
        return this.reasons[slot] < Reason.Outside;
    }

    /** May something that moves be seen by the camera of the last cull? min and max: 3 numbers each, metres. */
    isBoxVisible(min, max) {
        this.#input.set(min, 0);
        this.#input.set(max, 3);
        return this.#core.espyWeb_TestBox() < Reason.Outside;
    }
}

/** Values of Visibility.reasons. */
export const Reason = Object.freeze({Unknown: 0, Visible: 1, Outside: 2, Occluded: 3});
