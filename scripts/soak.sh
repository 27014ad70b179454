#!/usr/bin/env bash
# What takes hours: the search for truth with 1e9 lines a scene, long fuzzing, big audits. Reports go to out/soak/.
#   scripts/soak.sh [truth|proven|fuzz|audit|server]...     (default: all)
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

# 1e9 lines against what proven bakes hide; ends at the first scene with a violation. With ESPY_LEVELS (a folder that
# bench/fetch_levels.sh filled) two levels too.
soak_proven() {
    scripts/bench.sh none >/dev/null
    local scene level
    for scene in rooms slits city; do
        build-bench/bin/bench_proven "$scene" 0 0 1000 "$(nproc)" | tee "out/soak/proven-$scene.txt"
    done
    for level in ${ESPY_LEVELS:+oa_dm1:2 oa_dm2:4}; do
        scene=${level%:*}
        build-bench/bin/bench_proven "$ESPY_LEVELS/openarena/pak1-maps.pk3:maps/$scene.bsp" 0 "${level#*:}" 1000 \
            "$(nproc)" | tee "out/soak/proven-$scene.txt"
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

# The editor's server under 10,000 requests while it bakes: every answer a success, memory as before.
soak_server() {
    make build
    cp samples/sample_level.glb out/soak/served.glb
    build/bin/espy serve out/soak/served.glb --port 7979 >out/soak/server.txt 2>&1 &
    local pid=$! before after url=http://127.0.0.1:7979/api
    trap 'kill $pid 2>/dev/null || true' EXIT
    until curl -sf $url/status >/dev/null; do sleep 0.2; done
    curl -sf -X PUT -H 'Content-Type: application/json' -d '{"bakeQuality":"high"}' $url/scene/settings >/dev/null
    curl -sf $url/scene >/dev/null
    before=$(awk '/VmRSS/ {print $2}' /proc/$pid/status)
    curl -sf -X POST $url/occlusion/bake >/dev/null
    wrk -t 1 -c 16 -d 20s --latency $url/occlusion/status | tee -a out/soak/server.txt
    curl -sf -X POST $url/occlusion/cancel >/dev/null || true
    until curl -sf $url/occlusion/status | grep -q '"state":"cancelled"\|"state":"done"'; do sleep 0.2; done
    after=$(awk '/VmRSS/ {print $2}' /proc/$pid/status)
    echo "resident memory: $before KB before, $after KB after" | tee -a out/soak/server.txt
    # Not INT: a script's shell starts what runs beside it with that ignored, and espy leaves it so.
    kill -TERM $pid
    wait $pid
    trap - EXIT
    ! grep -E 'Non-2xx|Socket errors' out/soak/server.txt
}

[ $# -gt 0 ] || set -- truth proven fuzz audit server
for step in "$@"; do
    "soak_$step"
done
