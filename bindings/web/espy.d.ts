// SPDX-License-Identifier: MIT
/** Why a slot is drawn or not. */
export declare const Reason: Readonly<{Unknown: 0; Visible: 1; Outside: 2; Occluded: 3}>;

export interface Counts {
    drawn: number;
    frustumCulled: number;
    occlusionCulled: number;
    /** Cells that the camera looked from; 0: everything counts as visible. */
    cells: number;
}

export interface CullOptions {
    /** Depth range of the projection: "-1..1" (WebGL, the default) or "0..1" (WebGPU). */
    clipDepth?: "-1..1" | "0..1";
    /** Depth 1 on the near plane. Default false. */
    reversedZ?: boolean;
    /** Use the baked data. Default true. */
    occlusion?: boolean;
    /** Test the frustum. Default true. */
    frustum?: boolean;
}

export declare class Visibility {
    private constructor();
    /** Occludees of the file. */
    readonly count: number;
    readonly cellCount: number;
    /** Metres. */
    readonly cellSize: number;
    /** Minimum corner of the lattice of cells, metres, and its cells along x, y and z. */
    readonly origin: number[];
    readonly dims: number[];
    /** A Reason for each slot, by the last cull. */
    readonly reasons: Uint8Array;
    /** World bounds of each slot: min x, y, z, max x, y, z. */
    readonly boxes: Float32Array;
    /** Node of each slot (its index in the glTF file); null where the file was cooked without. */
    readonly nodes: Int32Array | null;
    /** -1: the whole node; 0 and on: an unroll cell of an instanced one. */
    readonly parts: Int32Array | null;
    findCell(x: number, y: number, z: number): number;
    getCellBox(cell: number): number[];
    cullCell(cell: number): Counts;
    cullView(view: ArrayLike<number>, projection: ArrayLike<number>, options?: CullOptions): Counts;
    isVisible(slot: number): boolean;
    isBoxVisible(min: ArrayLike<number>, max: ArrayLike<number>): boolean;
}

export declare function compile(source?: URL | string | ArrayBuffer | ArrayBufferView): Promise<WebAssembly.Module>;
export declare function load(bytes: ArrayBuffer | ArrayBufferView): Promise<Visibility>;
