// SPDX-License-Identifier: MIT
// The quick start of the documentation, driven in a browser, looked at by the colours that are on the screen.
// Usage: node quickstart.mjs ESPY LEVEL.glb PAGE_FOLDER OUT_FOLDER   (ESPY_CHROMIUM: the browser, default chromium)
import assert from "node:assert/strict";
import {spawn} from "node:child_process";
import {copyFileSync, existsSync, mkdirSync, rmSync} from "node:fs";
import {chromium} from "playwright-core";

const [program, level, pageFolder, out] = process.argv.slice(2);
const browserPath = process.env.ESPY_CHROMIUM ?? "/usr/bin/chromium";
const slow = 240_000;
rmSync(out, {recursive: true, force: true});
mkdirSync(out, {recursive: true});
copyFileSync(level, `${out}/level.glb`);

const server = spawn(program, ["serve", `${out}/level.glb`, "--port", "0", "--page", pageFolder]);
const address = await new Promise((resolve, reject) => {
    let text = "";
    server.stdout.on("data", data => {
        text += data;
        const found = /http:\S+/.exec(text);
        if (found) {
            resolve(found[0]);
        }
    });
    server.stderr.on("data", data => process.stderr.write(data));
    server.on("exit", code => reject(new Error(`the server ended with ${code}`)));
});
const browser = await chromium.launch({executablePath: browserPath,
    args: ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"]});
const page = await browser.newPage({viewport: {width: 1280, height: 720}});
page.setDefaultTimeout(slow);
const faults = [];
page.on("console", entry => {
    if (entry.type() === "error") {
        faults.push(entry.text());
    }
});
page.on("pageerror", error => faults.push(String(error)));
page.on("dialog", dialog => void dialog.accept());
let passed = 0;

const at = name => page.locator(`[data-test="${name}"]`);
const number = async name => Number(await at(name).textContent());
const ask = async path => (await fetch(`${address}api${path}`)).json();

async function step(name, run) {
    await run();
    ++passed;
    console.log(`ok ${name}`);
}

/** Chooses an entry of the menu bar. */
async function choose(menu, entry) {
    await page.locator("header summary", {hasText: menu}).click();
    await page.locator("header details[open] button", {hasText: entry}).click();
}

/** Pixels of the viewport that are close to a colour. */
function countPixels(rgb) {
    return page.evaluate(async ([r, g, b]) => {
        const canvas = document.querySelector("main canvas");
        const flat = new OffscreenCanvas(canvas.width, canvas.height);
        const context = flat.getContext("2d");
        context.drawImage(canvas, 0, 0);
        const {data} = context.getImageData(0, 0, canvas.width, canvas.height);
        let count = 0;
        for (let i = 0; i < data.length; i += 4) {
            count += Math.abs(data[i] - r) + Math.abs(data[i + 1] - g) + Math.abs(data[i + 2] - b) < 60;
        }
        return count;
    }, rgb);
}

async function untilPixels(rgb, test, what) {
    for (let i = 0; i < 100; ++i) {
        if (test(await countPixels(rgb))) {
            return;
        }
        await page.waitForTimeout(200);
    }
    assert.fail(`${what}: ${await countPixels(rgb)} pixels`);
}

const cyan = [0, 229, 255], red = [255, 59, 48], green = [43, 217, 74];

try {
    await page.goto(address);
    await step("the level is shown", async () => {
        await page.locator(".row").first().waitFor();
        await untilPixels([20, 24, 31], n => n < 0.9 * 790 * 690, "nothing but background");
        assert.ok((await ask("/scene")).nodes.length > 100);
    });
    let first, second;
    await step("select and mark", async () => {
        const nodes = (await ask("/scene")).nodes.filter(node => node.kind === "StaticMesh3D");
        first = nodes.find(node => !node.flags.occluder && !node.flags.skybox && node.mesh >= 0);
        await page.locator("nav input").fill(first.name);
        await page.locator(`.row[data-node="${first.id}"]`).click();
        await choose("World", "Mark Selected Occluder + Occludee");
        await page.locator(`.row[data-node="${first.id}"] b[title="Occluder Static"]`).waitFor();
        await at("flag-occludee").waitFor();
        assert.ok(await at("flag-occludee").isChecked());
        await page.keyboard.press("Control+z");
        await page.locator(`.row[data-node="${first.id}"] b[title="Occluder Static"]`).waitFor({state: "detached"});
        await page.locator("nav input").fill("");
    });
    await step("spawn an area, and what a bake would cost", async () => {
        const before = (await ask("/scene")).nodes.filter(node => node.kind === "OcclusionArea").length;
        const cells = (await ask("/occlusion/estimate")).cells;
        await page.keyboard.press("Escape");
        await choose("Spawn Node", "Occlusion Area");
        await page.locator("aside .hint", {hasText: "OcclusionArea"}).waitFor();
        const scene = await ask("/scene");
        assert.equal(scene.nodes.filter(node => node.kind === "OcclusionArea").length, before + 1);
        await page.waitForFunction(old => !document.querySelector('[data-test="cost"]').textContent.startsWith(old),
            `${cells.toLocaleString("en")} cells`);
        await at("occlusionCellSize").fill("0.05");
        await at("occlusionCellSize").press("Enter");
        await page.locator(".cost.refused").waitFor();
        await at("occlusionCellSize").fill("2");
        await at("occlusionCellSize").press("Enter");
        await page.locator(".cost:not(.refused)").waitFor();
        await at("viewport").click({position: {x: 5, y: 400}});
        await page.keyboard.press("Control+z");
        await page.keyboard.press("Control+z");
        await page.keyboard.press("Control+z");
        await page.waitForFunction(text => document.querySelector('[data-test="cost"]').textContent.startsWith(text),
            `${cells.toLocaleString("en")} cells`);
    });
    await step("bake, cancel", async () => {
        await at("bakeQuality").selectOption("high");
        await page.waitForTimeout(300);
        await at("bake").click();
        await at("bake-modal").waitFor();
        await page.waitForTimeout(300);
        await page.screenshot({path: `${out}/bake.png`});
        await at("cancel").click();
        await at("bake-modal").waitFor({state: "detached"});
        assert.equal((await ask("/occlusion/status")).baked, false);
        assert.equal((await ask("/occlusion/status")).bake.state, "cancelled");
    });
    await step("bake", async () => {
        await at("bakeQuality").selectOption("low");
        await page.waitForTimeout(300);
        await choose("World", "Bake Occlusion Culling");
        await at("bake-modal").waitFor();
        await at("bake-modal").waitFor({state: "detached"});
        const status = await ask("/occlusion/status");
        assert.equal(status.baked, true);
        await page.waitForFunction(() =>
            Number(document.querySelector('[data-test="occlusion-culled"]').textContent) > 0);
        await at("warnings").waitFor();
    });
    await step("preview: volume, cell, boxes", async () => {
        assert.equal(await countPixels(red), 0);
        await choose("View", "Occlusion Preview");
        for (const [color, name] of [[cyan, "volume"], [red, "hidden boxes"], [green, "visible boxes"]]) {
            await untilPixels(color, n => n > 50, name);
        }
        await page.screenshot({path: `${out}/preview.png`});
        await choose("View", "Bounds");
        await untilPixels(red, n => n === 0, "boxes without bounds");
        await choose("View", "Bounds");
    });
    await step("a warning selects its node", async () => {
        await at("warnings").locator("button").first().click();
        const text = await at("warnings").locator("button").first().textContent();
        await page.waitForFunction(name => name.includes(document.querySelector("aside h2").textContent), text);
        await page.keyboard.press("Escape");
    });
    await step("another camera, other counts", async () => {
        const counts = async () => [await number("drawn"), await number("frustum-culled"),
            await number("occlusion-culled")].join();
        const before = await counts();
        const select = at("game-preview").locator("select");
        const values = await select.locator("option").evaluateAll(list => list.map(option => option.value));
        assert.ok(values.length >= 2);
        const seen = new Set([before]);
        for (const value of values) {
            await select.selectOption(value);
            await page.waitForTimeout(400);
            seen.add(await counts());
        }
        assert.ok(seen.size >= 2, `always ${before}`);
        await page.keyboard.press("Escape");
        await page.locator("body").click({position: {x: 640, y: 10}});
        await page.keyboard.press("g");
        await page.waitForTimeout(400);
        assert.equal(await select.inputValue(), "-1");
    });
    await step("cells by visible count", async () => {
        await choose("View", "Cells by Visible Count");
        await page.waitForTimeout(500);
        await page.screenshot({path: `${out}/cells.png`});
        await choose("View", "Cells by Visible Count");
    });
    await step("save, reload, all is kept", async () => {
        await page.keyboard.press("Control+s");
        await page.locator('[data-test="message"]', {hasText: "saved"}).waitFor();
        assert.ok(existsSync(`${out}/level.espy`));
        await page.reload();
        await page.waitForFunction(() =>
            Number(document.querySelector('[data-test="occlusion-culled"]')?.textContent) > 0);
        assert.equal(await at("bakeQuality").inputValue(), "low");
        assert.equal((await ask("/status")).dirty, false);
    });
    await step("an edit of an occluder makes the data stale", async () => {
        second = (await ask("/scene")).nodes.find(node => node.kind === "StaticMesh3D" && node.flags.occluder);
        await page.locator("nav input").fill(second.name);
        await page.locator(`.row[data-node="${second.id}"]`).click();
        await at("flag-occluder").click();
        await at("stale").waitFor();
        await page.waitForFunction(() => document.querySelector('[data-test="occlusion-culled"]').textContent === "0");
        await page.screenshot({path: `${out}/stale.png`});
        await page.keyboard.press("Control+z");
        await at("stale").waitFor({state: "detached"});
    });
    await step("light, and nothing failed", async () => {
        await choose("View", "Dark or Light");
        await page.waitForTimeout(300);
        await page.screenshot({path: `${out}/light.png`});
        // The browser itself reports each connection that ends with the page.
        assert.deepEqual(faults.filter(text => !text.includes("ERR_INCOMPLETE_CHUNKED_ENCODING")), []);
    });
    console.log(`${passed} passed, 0 failed`);
} catch (error) {
    await page.screenshot({path: `${out}/failed.png`}).catch(() => {});
    console.error(error);
    console.error("console:", faults);
    console.log(`${passed} passed, 1 failed (a picture of it: ${out}/failed.png)`);
    process.exitCode = 1;
} finally {
    await browser.close();
    server.kill("SIGINT");
}
