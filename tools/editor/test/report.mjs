// SPDX-License-Identifier: MIT
// The page of espy report, opened in a browser without a network and looked at by what is on the screen.
// Usage: node report.mjs ESPY LEVEL.glb OUT_FOLDER   (ESPY_CHROMIUM: the browser, default chromium)
import assert from "node:assert/strict";
import {execFileSync} from "node:child_process";
import {mkdirSync} from "node:fs";
import {resolve} from "node:path";
import {pathToFileURL} from "node:url";
import {chromium} from "playwright-core";

const [program, level, out] = process.argv.slice(2);
mkdirSync(out, {recursive: true});
const data = `${out}/report.espy`;
const report = `${out}/report.html`;
execFileSync(program, ["bake", level, "-o", data, "--full", "--progress", "none"]);
execFileSync(program, ["report", data, level, "-o", report]);
const info = JSON.parse(execFileSync(program, ["info", data, "--json"]));

const browser = await chromium.launch({executablePath: process.env.ESPY_CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox"]});
try {
    const page = await browser.newPage({viewport: {width: 1280, height: 720}});
    const requests = [];
    const faults = [];
    page.on("request", request => requests.push(request.url()));
    page.on("console", entry => faults.push(entry.text()));
    page.on("pageerror", error => faults.push(String(error)));
    const address = pathToFileURL(resolve(report)).href;
    await page.goto(address);
    assert.deepEqual(requests, [address], "the page loads nothing else");

    // Both maps can be seen, and every block lies inside of its map.
    for (const name of ["plan", "section"]) {
        const map = await page.locator(`#${name}`).boundingBox();
        assert.ok(map.width > 100 && map.height > 10, `${name}: ${map.width} x ${map.height}`);
        const outside = await page.locator(`#${name}`).evaluate(svg => {
            const [, , width, height] = svg.getAttribute("viewBox").split(" ").map(Number);
            return [...svg.querySelectorAll("rect:not(.o)")].filter(rect => {
                const box = rect.getBBox();
                return box.x < -0.2 || box.y < -0.2 || box.x + box.width > width + 0.2 ||
                    box.y + box.height > height + 0.2;
            }).length;
        });
        assert.equal(outside, 0, `${name}: blocks outside of the map`);
    }

    // Every open cell is in exactly one block of each map, and every view is a dot.
    for (const name of ["plan", "section"]) {
        const cells = await page.locator(`#${name} rect:not(.o) title`).evaluateAll(titles => titles
            .map(title => /open cells: (\d+)/.exec(title.textContent))
            .reduce((sum, found) => sum + (found ? Number(found[1]) : 0), 0));
        assert.equal(cells, info.cells - info.solidCells, `${name}: open cells`);
        assert.equal(await page.locator(`#${name} circle`).count(), 200, `${name}: views`);
    }

    // The dearest block of the plan is painted in the colour of the legend.
    const orange = await page.locator("#plan rect[fill='#e87828']").count();
    assert.ok(orange > 0, "no block has the largest share");
    const text = await page.locator("body").innerText();
    for (const words of ["Plan:", "Section:", "Worst views", "Audit", "Warnings", "Bytes"]) {
        assert.ok(text.includes(words), words);
    }
    assert.equal(await page.locator("#views tr").count(), 13, "a head and twelve views");
    assert.ok(!await page.evaluate(() => document.documentElement.scrollWidth > innerWidth), "wider than the window");
    assert.deepEqual(faults, []);
    await page.screenshot({path: `${out}/report.png`, fullPage: true});
    console.log("ok report");
} finally {
    await browser.close();
}
