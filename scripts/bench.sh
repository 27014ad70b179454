#!/usr/bin/env bash
# Builds and runs the benches; results go to the terminal and to out/bench/NAME.txt.
#   scripts/bench.sh [NAME]...     (default: every bench; NAME as in bench/bench_NAME.c)
set -euo pipefail
cd "$(dirname "$0")/.."
cmake -S . -B build-bench -G Ninja -DCMAKE_BUILD_TYPE=Release -DESPY_BUILD_BENCH=ON -DESPY_BUILD_TESTS=OFF >build-bench.log
grep -h '^-- espy:' build-bench.log || true
cmake --build build-bench -j "$(nproc)"
mkdir -p out/bench
if [ $# -eq 0 ]; then
    for source in bench/bench_*.c; do
        name=$(basename "$source" .c)
        set -- "$@" "${name#bench_}"
    done
fi
for name in "$@"; do
    program=build-bench/bin/bench_$name
    if [ ! -x "$program" ]; then
        echo "== $name: not built here"
        continue
    fi
    echo "== $name ($(date '+%Y-%m-%d %H:%M'), $(nproc) cores)"
    "$program" | tee "out/bench/$name.txt"
done
