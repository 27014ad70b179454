// SPDX-License-Identifier: MIT
// Prints what a file answers in WebAssembly. Usage: node answers.mjs answers.wasm FILE.espy POINTS
import {readFileSync} from "node:fs";

const [program, path, points] = process.argv.slice(2);
const {instance} = await WebAssembly.instantiate(readFileSync(program), {});
const {memory, espyTargetWasm_GetStart, espyTargetWasm_Ask, espyTargetWasm_GetAnswers} = instance.exports;
const bytes = readFileSync(path);
const start = espyTargetWasm_GetStart();
const missing = start + bytes.length - memory.buffer.byteLength;
if (missing > 0) {
    memory.grow(Math.ceil(missing / 65536));
}
new Uint8Array(memory.buffer).set(bytes, start);
const result = espyTargetWasm_Ask(bytes.length, Number(points));
if (result !== 0) {
    console.error(`${path}: result ${result}`);
    process.exit(1);
}
const view = new DataView(memory.buffer, espyTargetWasm_GetAnswers());
const hash = view.getBigUint64(0, true).toString(16).padStart(16, "0");
const [cells, occludees, inside, hidden, boxes] = [8, 12, 16, 20, 24].map(at => view.getUint32(at, true));
console.log(`${hash} ${cells} cells ${occludees} occludees ${inside} inside ${hidden} hidden ${boxes} boxes hidden`);
