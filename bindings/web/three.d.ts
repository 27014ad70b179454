// SPDX-License-Identifier: MIT
import type {Counts, CullOptions, Visibility} from "./espy.js";

/** What of three's camera is used. */
export interface CameraLike {
    updateMatrixWorld(): void;
    matrixWorldInverse: {elements: ArrayLike<number>};
    projectionMatrix: {elements: ArrayLike<number>};
}

export declare class Culler {
    constructor(visibility: Visibility, gltf: {scene: object; parser: {associations: Map<object, object>}});
    readonly counts: Counts;
    update(camera: CameraLike, options?: CullOptions): Counts;
    reset(): void;
}
