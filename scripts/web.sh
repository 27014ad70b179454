#!/usr/bin/env bash
# Builds the npm package of bindings/web into out/web/espy-web (clang and wasm-ld), and tests it with node against the
# program in BUILD/bin.
#   scripts/web.sh [BUILD]     (default: build)
#   scripts/web.sh package     without the test
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build}
package=out/web/espy-web
work=out/web/objects
flags="--target=wasm32 -msimd128 -mbulk-memory -O3 -std=c17 -nostdlib -ffp-contract=off -fno-math-errno
    -fvisibility=hidden -DNDEBUG -Iinclude -Isrc -isystem tests/targets/freestanding -Wall -Wextra -Wconversion -Werror"
rm -rf "$package" "$work"
mkdir -p "$package" "$work"
sources=(bindings/web/espy_web.c src/core/base.c src/core/isa.c src/math/math.c src/pvs/*.c
    src/world/view*.c src/world/culling.c src/world/moving*.c src/world/frustum_*.c)
for file in "${sources[@]}"; do
    # shellcheck disable=SC2086
    case $file in
    *view_tracker.c) ;;
    *) clang $flags -c "$file" -o "$work/$(basename "$file" .c).o" ;;
    esac
done
# shellcheck disable=SC2086
clang --target=wasm32 -nostdlib -Wl,--no-entry -Wl,--export-dynamic -Wl,--strip-all -Wl,--gc-sections \
    "$work"/*.o -o "$package/espy.wasm"
cp bindings/web/{espy.js,espy.d.ts,three.js,three.d.ts,package.json,README.md} "$package"
echo "web: $package, module $(stat -c %s "$package/espy.wasm") bytes, $(gzip -9c "$package/espy.wasm" | wc -c) compressed"
[ "$build" != package ] || exit 0
"$build/bin/espy" bake samples/sample_level.glb -o out/web/sample.espy --quality low --progress none >/dev/null 2>&1
node bindings/web/test/test.mjs "$package" "$build/bin/espy" out/web/sample.espy
"$build/bin/espy" cook out/web/sample.espy --target web --pack -o out/web/packed.espy >/dev/null
node bindings/web/test/test.mjs "$package" "$build/bin/espy" out/web/packed.espy
