#!/usr/bin/env bash
# What takes hours: the search for truth with 1e9 lines a scene, long fuzzing, big audits. Reports go to out/soak/.
#   scripts/soak.sh [truth|fuzz|audit]...     (default: all)
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p out/soak

soak_truth() {
    scripts/bench.sh none >/dev/null
    local scene
    for scene in rooms slits city; do
        build-bench/bin/bench_embree_quality "$scene" --rays 1000000000 --truth "out/soak/$scene.truth" |
            tee "out/soak/truth-$scene.txt"
    done
}

soak_fuzz() {
    FUZZ_SECONDS=3600 scripts/check.sh fuzz | tee out/soak/fuzz.txt
}

soak_audit() {
    make build
    build/bin/espy bake samples/sample_level.glb -o out/soak/sample_level.espy --full
    build/bin/espy audit out/soak/sample_level.espy samples/sample_level.glb --views 2000 --size 1024 |
        tee out/soak/audit-sample.txt
}

[ $# -gt 0 ] || set -- truth fuzz audit
for step in "$@"; do
    "soak_$step"
done
