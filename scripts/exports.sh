#!/usr/bin/env bash
# Compares the exported names of the shared libraries with scripts/exports.txt. UPDATE=1 rewrites the list.
#   scripts/exports.sh BUILD_FOLDER
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1
libraries=(espy espy-bake)
# Where Vulkan is missing there is no espy-gpu, and its names are not compared.
listed=$(cat scripts/exports.txt)
if [ -e "$build/lib/libespy-gpu.so" ]; then
    libraries+=(espy-gpu)
else
    listed=$(grep -v '^espy-gpu ' scripts/exports.txt)
fi
found=$(for library in "${libraries[@]}"; do
    nm -D --defined-only "$build/lib/lib$library.so" | awk -v l="$library" '$2 ~ /[TDBR]/ {print l, $3}'
done | grep ' espy' | LC_ALL=C sort)
if [ "${UPDATE:-0}" = 1 ]; then
    printf '%s\n' "$found" >scripts/exports.txt
fi
other=$(for library in "${libraries[@]}"; do
    nm -D --defined-only "$build/lib/lib$library.so" | awk '$2 == "T" && $3 !~ /^(espy|_init|_fini)/ {print $3}'
done)
[ -z "$other" ] || { echo "exports: names that are not ours: $other" >&2; exit 1; }
diff -u <(printf '%s\n' "$listed") <(printf '%s\n' "$found") ||
    { echo "exports: the list changed: if it was meant, run UPDATE=1 scripts/exports.sh $build" >&2; exit 1; }
echo "exports: $(printf '%s\n' "$found" | wc -l) names, as listed"
