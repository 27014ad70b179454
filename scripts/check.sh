#!/usr/bin/env bash
# The machine's checks beyond `make test`: tree, format, clang, analyser, sanitizers, fuzzers, other machines.
#   scripts/check.sh [tree|format|clang|shared|tidy|asan|tsan|fuzz|targets|web]...     (default: all, in this order)
# FUZZ_SECONDS (default 30) is the time of each fuzzer.
set -euo pipefail
cd "$(dirname "$0")/.."
jobs=$(nproc)
seconds=${FUZZ_SECONDS:-30}

say() { printf '\n== %s (%s)\n' "$1" "$(date +%H:%M:%S)"; }
fail() { echo "check: $*" >&2; exit 1; }
sources() { git ls-files '*.c' '*.h' '*.inl' '*.cpp' '*.hpp' ':!dist'; }

check_tree() {
    say "tree: licence lines, stray files"
    local bad
    bad=$(sources | xargs grep -L 'SPDX-License-Identifier: MIT' || true)
    [ -z "$bad" ] || fail "no SPDX line in: $bad"
    bad=$(git ls-files | grep -E '\.(o|a|so|orig|rej|save|bak)$|~$' || true)
    [ -z "$bad" ] || fail "files that do not belong: $bad"
    bad=$(sources | xargs grep -nE '#include "(\.\./)?(world|bake|editor|tester|query|import|audit)/' -- | grep -E '^src/(core|math|raster|pvs|device)/' || true)
    [ -z "$bad" ] || fail "an arrow that runs the wrong way: $bad"
    bad=$(git ls-files 'tools/*.c' 'tools/*.h' 'examples/*.c' | xargs -r grep -nE '#include "(core|math|geometry|pvs|world|bake|audit|editor|import)/' || true)
    [ -z "$bad" ] || fail "tools and examples see public headers only: $bad"
    scripts/snippets.sh || fail "documentation that is not the code (above)"
    scripts/shaders.sh --check || fail "compiled shaders that are old (above)"
    scripts/api.sh --check || fail "the description of the interface is old (above)"
    scripts/amalgamate.sh --check
}

check_format() {
    say "format: clang-format"
    sources | xargs clang-format --dry-run -Werror
}

check_clang() {
    say "clang: warnings are errors, whole suite"
    cmake --preset clang -G Ninja -DESPY_BUILD_BENCH=ON >build-clang.log
    cmake --build build-clang -j "$jobs"
    ctest --test-dir build-clang --output-on-failure -j "$jobs"
}

check_shared() {
    say "shared: exports of the shared libraries, consumer"
    cmake -S . -B build-shared -G Ninja -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=ON -DESPY_BUILD_TESTS=OFF \
        -DESPY_BUILD_TOOLS=OFF >build-shared.log
    cmake --build build-shared -j "$jobs"
    tests/install/run.sh build-shared
    scripts/exports.sh build-shared
}

check_tidy() {
    say "analyser: clang-tidy"
    cmake --preset clang -G Ninja -DESPY_BUILD_BENCH=ON -DCMAKE_EXPORT_COMPILE_COMMANDS=ON >build-clang.log
    # One file a run: with several the analyser takes each va_list after the first file's for one never started.
    git ls-files 'src/*.c' 'src/*.cpp' 'tools/*.c' 'scenes/*.c' 'reference/*.c' 'bindings/lua/*.c' |
        xargs -P "$jobs" -n 1 clang-tidy --quiet -p build-clang 2>build-clang-tidy.log ||
        fail "clang-tidy found something (above)"
}

check_asan() {
    say "asan + ubsan: whole suite"
    cmake --preset asan -G Ninja >build-asan.log
    cmake --build build-asan -j "$jobs"
    ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1 \
        ctest --test-dir build-asan --output-on-failure -j "$jobs"
}

check_tsan() {
    say "tsan: what is threaded"
    cmake --preset tsan -G Ninja >build-tsan.log
    cmake --build build-tsan -j "$jobs" --target test_threads test_tasks test_pvs test_checkpoint test_culling test_renderer test_streaming
    local suite
    for suite in threads tasks pvs checkpoint culling renderer streaming; do
        "build-tsan/bin/test_$suite"
    done
}

check_fuzz() {
    say "fuzz: $seconds s each"
    cmake --preset fuzz -G Ninja >build-fuzz.log
    local target name
    # The fuzzers alone: the suites are built with other sanitizers elsewhere.
    cmake --build build-fuzz -j "$jobs" --target $(basename -s .c fuzz/fuzz_*.c)
    for target in fuzz/fuzz_*.c; do
        name=$(basename "$target" .c)
        mkdir -p "build-fuzz/found/$name"
        echo "-- $name"
        # The first folder takes what is found; the committed corpus is only read.
        "build-fuzz/bin/$name" -max_total_time="$seconds" -rss_limit_mb=2048 -timeout=10 -print_final_stats=0 \
            -artifact_prefix="build-fuzz/found/$name-" "build-fuzz/found/$name" "fuzz/corpus/$name" \
            >"build-fuzz/$name.log" 2>&1 || { tail -n 40 "build-fuzz/$name.log"; fail "$name found a fault"; }
        grep -E '^Done ' "build-fuzz/$name.log" || tail -n 1 "build-fuzz/$name.log"
    done
}

check_targets() {
    say "targets: the same answers on other machines"
    scripts/targets.sh
}

check_web() {
    say "web: the package for browsers, the editor's page"
    # No generator named: the build of `make test` may be of either kind.
    cmake -S . -B build --preset release >build.log
    cmake --build build -j "$jobs" --target espy-cli espy-serve
    scripts/web.sh build
    if npm view preact version >/dev/null 2>&1; then
        scripts/editor.sh build build test
    else
        echo "web: the npm registry cannot be reached: the editor's page was NOT CHECKED"
    fi
}

[ $# -gt 0 ] || set -- tree format clang shared tidy asan tsan fuzz targets web
for step in "$@"; do
    "check_$step"
done
say "checked: $*"
