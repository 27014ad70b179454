// SPDX-License-Identifier: MIT
// Prints what the kernels make of images in WebAssembly. Usage: node image_answers.mjs IMAGES.wasm
import {readFileSync} from "node:fs";

const {instance} = await WebAssembly.instantiate(readFileSync(process.argv[2]), {});
const {memory, espyTargetWasm_Draw, espyTargetWasm_GetImages, espyTargetWasm_GetSet} = instance.exports;
const text = at => {
    const bytes = new Uint8Array(memory.buffer, at);
    return new TextDecoder().decode(bytes.subarray(0, bytes.indexOf(0)));
};
const scalar = 1, auto = 0;
const lines = [scalar, auto].map(cap => {
    const drawn = espyTargetWasm_Draw(cap);
    const view = new DataView(memory.buffer, espyTargetWasm_GetImages());
    const hash = view.getBigUint64(0, true).toString(16).padStart(16, "0");
    return drawn ? `${hash} ${view.getUint32(8, true)} dark pixels` : "failed";
});
if (lines[0] === "failed" || lines[1] !== lines[0]) {
    console.error(`images: plain C gives ${lines[0]}, ${text(espyTargetWasm_GetSet())} ${lines[1]}`);
    process.exit(1);
}
console.error(text(espyTargetWasm_GetSet()));
console.log(lines[1]);
