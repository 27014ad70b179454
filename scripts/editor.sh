#!/usr/bin/env bash
# Builds the editor's page into BUILD/share/espy/editor, where espy serve finds it; with "test" drives the quick start in a
# browser and looks at the page of espy report. Needs node 18, npm and clang with wasm-ld.
#   scripts/editor.sh BUILD [build|test]...     (default: build)
#   scripts/editor.sh BUILD if-possible         builds where the tools are there, else says what is missing
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(realpath -m "${1:-build}")
shift || true
page=$build/share/espy/editor
modules=build-editor

missing() {
    local tool list=""
    for tool in node npm clang wasm-ld; do
        command -v "$tool" >/dev/null || [ -x "/usr/lib/llvm-14/bin/$tool" ] || list="$list $tool"
    done
    echo "$list"
}

build_page() {
    scripts/web.sh package
    # Installed modules stay outside of the source; the rest of the copy is made anew each time.
    mkdir -p "$modules"
    find "$modules" -mindepth 1 -maxdepth 1 ! -name node_modules -exec rm -rf {} +
    cp -r tools/editor/. "$modules/"
    (cd "$modules" && npm ci --no-audit --no-fund --ignore-scripts --loglevel=error >/dev/null &&
        npx tsc --noEmit && npx vite build --outDir "$page" --emptyOutDir --logLevel warn)
    echo "editor: $page, $(du -sk "$page" | cut -f1) KB"
}

test_page() {
    local browser=${ESPY_CHROMIUM:-$(command -v chromium || true)}
    [ -n "$browser" ] || { echo "editor: no chromium: scripts/setup.sh web" >&2; exit 4; }
    (cd "$modules" && ESPY_CHROMIUM=$browser node test/quickstart.mjs "$build/bin/espy" ../samples/sample_level.glb "$page" \
        "$build/editor-test" &&
        ESPY_CHROMIUM=$browser node test/report.mjs "$build/bin/espy" ../samples/sample_level.glb "$build/report-test")
}

[ $# -gt 0 ] || set -- build
for step in "$@"; do
    case $step in
    build) build_page ;;
    test) test_page ;;
    if-possible)
        lacks=$(missing)
        if [ -n "$lacks" ]; then
            echo "-- espy: no page for espy serve here: it needs$lacks (scripts/setup.sh web)"
        elif [ ! -e "$page/index.html" ] || [ -n "$(find tools/editor bindings/web -newer "$page/index.html" -type f | head -1)" ]; then
            build_page
        fi
        ;;
    *) echo "editor: unknown step '$step': build, test or if-possible" >&2; exit 2 ;;
    esac
done
