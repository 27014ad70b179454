// SPDX-License-Identifier: MIT
// The package against the program: the same file, the same points, the same answers; and views by plain double maths.
// Usage: node test.mjs PACKAGE_FOLDER ESPY FILE.espy
import assert from "node:assert/strict";
import {execFileSync} from "node:child_process";
import {readFileSync} from "node:fs";
import {pathToFileURL} from "node:url";

const [folder, program, file] = process.argv.slice(2);
const {compile, load, Reason} = await import(pathToFileURL(`${folder}/espy.js`));
const {Culler} = await import(pathToFileURL(`${folder}/three.js`));
await compile(readFileSync(`${folder}/espy.wasm`));
const bytes = readFileSync(file);
const visibility = await load(bytes);
let passed = 0;

let state = 12345;
function random() {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
}

function test(name, run) {
    run();
    ++passed;
    console.log(`ok ${name}`);
}

const low = [0, 1, 2].map(k => Math.min(...visibility.boxes.filter((_, i) => i % 6 === k)));
const high = [0, 1, 2].map(k => Math.max(...visibility.boxes.filter((_, i) => i % 6 === 3 + k)));
// Half of them anywhere, half in a cell.
const points = Array.from({length: 300}, (_, i) => {
    const box = i % 2 ? visibility.getCellBox(Math.floor(random() * visibility.cellCount)) : [...low, ...high];
    return [0, 1, 2].map(k => Math.fround(box[k] + random() * (box[3 + k] - box[k])));
});

test("the same cells and sets as `espy visible`", () => {
    const lines = execFileSync(program, ["visible", file, "--points", "-", "--json"],
        {input: points.map(p => p.join(" ")).join("\n"), maxBuffer: 1 << 28}).toString().trim().split("\n");
    let inside = 0;
    lines.forEach((line, i) => {
        const answer = JSON.parse(line);
        const cell = visibility.findCell(...points[i]);
        assert.equal(cell, answer.cell);
        visibility.cullCell(cell);
        const nodes = new Set();
        for (let slot = 0; slot < visibility.count; ++slot) {
            if (visibility.isVisible(slot)) {
                nodes.add(visibility.nodes[slot]);
            }
        }
        assert.deepEqual([...nodes].sort((a, b) => a - b), answer.visible);
        if (cell >= 0) {
            ++inside;
            assert.deepEqual(visibility.getCellBox(cell).map(Math.fround),
                [...answer.cellMin, ...answer.cellMax].map(Math.fround));
        }
    });
    assert.ok(inside >= 140, `only ${inside} points in cells`);
});

/** A camera at p that looks along a heading, as three has it. */
function makeCamera(p, heading, pitch, near = 0.1, far = 500) {
    const [ch, sh, cp, sp] = [Math.cos(heading), Math.sin(heading), Math.cos(pitch), Math.sin(pitch)];
    const right = [ch, 0, -sh], back = [sh * cp, -sp, ch * cp];
    const up = [back[1] * right[2] - back[2] * right[1], back[2] * right[0] - back[0] * right[2],
        back[0] * right[1] - back[1] * right[0]];
    const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    const view = [right[0], up[0], back[0], 0, right[1], up[1], back[1], 0, right[2], up[2], back[2], 0,
        -dot(right, p), -dot(up, p), -dot(back, p), 1];
    const f = 1 / Math.tan(0.5), aspect = 16 / 9;
    const projection = [f / aspect, 0, 0, 0, 0, f, 0, 0, 0, 0, (far + near) / (near - far), -1, 0, 0,
        2 * far * near / (near - far), 0];
    return {view, projection, matrixWorldInverse: {elements: view}, projectionMatrix: {elements: projection},
        updateMatrixWorld() {}};
}

/** Clip coordinates of a point in doubles. */
function project(camera, p) {
    const v = [0, 1, 2, 3].map(r => camera.view[r] * p[0] + camera.view[4 + r] * p[1] + camera.view[8 + r] * p[2] +
        camera.view[12 + r]);
    return [0, 1, 2, 3].map(r => [0, 1, 2, 3].reduce((sum, c) => sum + camera.projection[4 * c + r] * v[c], 0));
}

function corners(slot) {
    const b = visibility.boxes.subarray(6 * slot, 6 * slot + 6);
    return Array.from({length: 8}, (_, i) => [b[i & 1 ? 3 : 0], b[i & 2 ? 4 : 1], b[i & 4 ? 5 : 2]]);
}

test("a box is outside only where all its corners are beyond one plane", () => {
    let outside = 0, drawn = 0;
    for (const p of points.slice(0, 100)) {
        const camera = makeCamera(p, random() * 6.28, random() - 0.5);
        const counts = visibility.cullView(camera.view, camera.projection);
        assert.equal(counts.drawn + counts.frustumCulled + counts.occlusionCulled, visibility.count);
        drawn += counts.drawn;
        for (let slot = 0; slot < visibility.count; ++slot) {
            const clip = corners(slot).map(c => project(camera, c));
            const beyond = [0, 1, 2].some(k => clip.every(c => c[k] > c[3]) || clip.every(c => c[k] < -c[3]));
            if (visibility.reasons[slot] === Reason.Outside) {
                ++outside;
                assert.ok(beyond);
            } else if (visibility.reasons[slot] === Reason.Visible && beyond) {
                // Conservative by rounding alone: the box must touch the plane almost.
                const most = Math.max(...[0, 1, 2].map(k => Math.max(
                    Math.min(...clip.map(c => c[k] - c[3])), Math.min(...clip.map(c => -c[k] - c[3])))));
                assert.ok(most < 1e-2, `a box ${most} outside is drawn`);
            }
        }
    }
    assert.ok(outside > 1000 && drawn > 100);
});

test("what a cell hides is hidden in every view from it", () => {
    let hidden = 0;
    for (const p of points) {
        const cell = visibility.findCell(...p);
        if (cell < 0) {
            continue;
        }
        const camera = makeCamera(p, random() * 6.28, 0, 0.001);
        const counts = visibility.cullView(camera.view, camera.projection, {frustum: false});
        if (counts.cells !== 1) {
            continue;
        }
        const reasons = Array.from(visibility.reasons);
        visibility.cullCell(cell);
        assert.deepEqual(reasons, Array.from(visibility.reasons));
        hidden += counts.occlusionCulled;
    }
    assert.ok(hidden > 100);
});

test("switches", () => {
    const camera = makeCamera(points.find(p => visibility.findCell(...p) >= 0), 1, 0);
    const all = visibility.cullView(camera.view, camera.projection, {occlusion: false, frustum: false});
    assert.deepEqual(all, {drawn: visibility.count, frustumCulled: 0, occlusionCulled: 0, cells: 0});
    // Outside of every cell nothing is occluded.
    const far = makeCamera([1e6, 1e6, 1e6], 0, 0);
    assert.equal(visibility.cullView(far.view, far.projection).occlusionCulled, 0);
    // A broken matrix sees everything.
    assert.equal(visibility.cullView(new Array(16).fill(NaN), camera.projection).drawn, visibility.count);
});

test("boxes that move", () => {
    let hidden = 0;
    for (const p of points) {
        const camera = makeCamera(p, random() * 6.28, 0);
        visibility.cullView(camera.view, camera.projection);
        // A box around the eye is seen; one behind the eye is not.
        assert.ok(visibility.isBoxVisible(p.map(x => x - 1), p.map(x => x + 1)));
        const back = [camera.view[2], camera.view[6], camera.view[10]];
        const behind = p.map((x, k) => x + 50 * back[k]);
        assert.equal(visibility.isBoxVisible(behind.map(x => x - 1), behind.map(x => x + 1)), false);
        const q = points[Math.floor(random() * points.length)];
        hidden += visibility.isBoxVisible(q.map(x => x - 0.1), q.map(x => x + 0.1)) ? 0 : 1;
    }
    assert.ok(hidden > 10);
});

test("the culler leaves out meshes, not their children", () => {
    const associations = new Map();
    const objects = [];
    const scene = {traverse(visit) { objects.forEach(visit); }};
    for (let slot = 0; slot < visibility.count; ++slot) {
        const node = {isMesh: false, parent: null};
        const mesh = {isMesh: true, parent: node, layers: {mask: 5}, frustumCulled: true};
        associations.set(node, {nodes: visibility.nodes[slot]});
        objects.push(node, mesh);
    }
    const culler = new Culler(visibility, {scene, parser: {associations}});
    const camera = makeCamera(points.find(p => visibility.findCell(...p) >= 0), 2, 0);
    const counts = culler.update(camera);
    const shown = objects.filter(o => o.isMesh && o.layers.mask === 5).length;
    assert.ok(shown > 0 && shown < visibility.count);
    assert.deepEqual(culler.counts, counts);
    culler.reset();
    assert.ok(objects.every(o => !o.isMesh || o.layers.mask === 5));
});

async function refuses(name, data, pattern) {
    await assert.rejects(load(data), pattern);
    ++passed;
    console.log(`ok refuses ${name}`);
}

await refuses("nothing", new Uint8Array(0), /BadData/);
await refuses("half a file", bytes.subarray(0, bytes.length >> 1), /BadData at byte \d+, field '/);
const damaged = Uint8Array.from(bytes);
damaged[damaged.length >> 1] ^= 0x40;
await refuses("a flipped bit", damaged, /BadData/);
console.log(`${passed} passed, 0 failed`);
