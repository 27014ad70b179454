// SPDX-License-Identifier: MIT
import {fileURLToPath} from "node:url";
import {defineConfig} from "vite";

// The package that scripts/web.sh builds: the page runs the C core and no copy of it. scripts/editor.sh builds from a
// folder beside out/.
const espyWeb = fileURLToPath(new URL("../out/web/espy-web/espy.js", import.meta.url));

export default defineConfig({
    resolve: {alias: {"espy-web": espyWeb}},
    esbuild: {jsx: "automatic", jsxImportSource: "preact"},
    build: {target: "es2022", assetsInlineLimit: 0, chunkSizeWarningLimit: 2000},
    server: {proxy: {"/api": "http://127.0.0.1:7878"}, fs: {allow: [".."]}},
});
