#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds the run-time library for other machines, reads the symbols that it asks for, cooks levels for both byte orders
# and compares every answer that emulated machines give with what this one gives.
#   scripts/targets.sh [NAME]...     (default: every target below)
# What is not installed is named in one line and left out (scripts/setup.sh targets).
set -euo pipefail
cd "$(dirname "$0")/.."
work=build-targets
points=4000
failed=0
ran=0
mkdir -p "$work/levels"

# Name, byte order, compiler and flags, how it is run ("" where the target itself runs on this machine).
# 750CL is the processor of the Wii; its caches and paired singles apart it is the GameCube's.
targets=(
    "x86_64|little|gcc -m64|"
    "powerpc|big|powerpc-linux-gnu-gcc -mcpu=750 -static|qemu-ppc -cpu 750cl"
    "mips|big|mips-linux-gnu-gcc -static|qemu-mips"
    "mipsel|little|mipsel-linux-gnu-gcc -static|qemu-mipsel"
    "armhf|little|arm-linux-gnueabihf-gcc -static|qemu-arm"
    "aarch64|little|aarch64-linux-gnu-gcc -static|qemu-aarch64"
    "i686|little|i686-linux-gnu-gcc -msse2 -mfpmath=sse -static|qemu-i386"
    "x86_64_baseline|little|gcc -m64 -DESPY_NO_KERNELS|"
    "mingw|little|x86_64-w64-mingw32-gcc -static|wine"
    "wasm32|little|clang --target=wasm32 -nostdlib -mbulk-memory -isystem tests/targets/freestanding|node tests/targets/answers.mjs"
    "wasm128|little|clang --target=wasm32 -msimd128 -nostdlib -mbulk-memory -isystem tests/targets/freestanding|node tests/targets/answers.mjs"
)

runtime=()
for folder in core math pvs raster device tester query proxy world; do
    for file in src/$folder/*.c; do
        case $file in
        *'*'* | src/core/tasks.c | src/core/hooks_hosted.c) ;;
        *) runtime+=("$file") ;;
        esac
    done
done
wasm_link="-Wl,--no-entry -Wl,--export-dynamic -Wl,--strip-all"
reader=(src/core/base.c src/core/isa.c src/math/math.c src/pvs/*.c)
warnings="-Wall -Wextra -Wconversion -Wshadow -Werror"

# Debian's wine64 has no wrapper in PATH of its own. The registry that it writes at its first start is not for us to read.
export WINEDEBUG=-all WINEPREFIX=$PWD/$work/wine WINEDLLOVERRIDES="mscoree,mshtml="
wine_program=$(command -v wine64 || command -v /usr/lib/wine/wine64 || true)
wine() {
    [ -d "$WINEPREFIX" ] || "$wine_program" wineboot --init >/dev/null 2>&1
    "$wine_program" "$@"
}

have() {
    if [ "$1" = wine ]; then
        [ -n "$wine_program" ]
    else
        command -v "$1" >/dev/null
    fi
}

# The flags of a kernel file where the target is of its kind. At -Os gcc takes values that it lost sight of for unset.
extra_flags() { # COMPILER-LINE FILE
    case "$1" in
    clang*) ;;
    *) echo -Wno-maybe-uninitialized ;;
    esac
    case "$1" in
    *ESPY_NO_KERNELS*) return ;;
    gcc* | i686* | x86_64*) ;;
    *) return ;;
    esac
    case $2 in
    *_sse41.c) echo -msse4.1 ;;
    *_avx2.c) echo -mavx2 -mno-fma ;;
    *_avx512.c) echo -mavx512f -mavx512vl -mavx512dq -mavx512bw ;;
    esac
}

compile() { # OUT-FOLDER COMPILER-LINE FILE...
    local out=$1 line=$2 file
    shift 2
    mkdir -p "$out"
    for file in "$@"; do
        # shellcheck disable=SC2046,SC2086
        ${line%%|*} -std=c17 -ffp-contract=off -Os -D_POSIX_C_SOURCE=200809L -Iinclude -Isrc -Itests/targets $warnings $(extra_flags "$line" "$file") \
            -c "$file" -o "$out/$(basename "$file" .c).o"
    done
}

# Only its own names, the copies of memory that compilers write themselves, and their helpers for arithmetic.
check_symbols() { # NAME NM
    "$2" "$work/$1"/runtime/*.o | awk 'NF == 3 && $2 ~ /[TDRBVW]/ { print $3 }' | LC_ALL=C sort -u >"$work/defined"
    local bad
    bad=$("$2" -u "$work/$1"/runtime/*.o | awk '$1 == "U" { print $2 }' | LC_ALL=C sort -u |
        LC_ALL=C comm -23 - "$work/defined" |
        grep -Ev '^_?_?(espyiHooks_Resolve|memcpy|memmove|memset|memcmp|sqrtf|_GLOBAL_OFFSET_TABLE_|GLOBAL_OFFSET_TABLE_)$' |
        grep -Ev '^_+(gp_disp|gnu_local_gp|cpu_model|cpu_indicator_init|udivdi3|umoddi3|divdi3|moddi3|ashldi3|lshrdi3|muldi3|ctzdi2|udivmoddi4|aarch64_[a-z0-9_]+|clzdi2|ashrdi3|fix(uns)?[sd]fdi|float(un)?di[sd]f|aeabi_.*|(rest|save)[fg]pr_.*|chkstk_ms|stack_pointer|linear_memory|indirect_function_table)$' || true)
    if [ -n "$bad" ]; then
        echo "$1: the run-time library asks for" $bad
        failed=1
    fi
}

nm_of() { # COMPILER
    case $1 in
    clang) command -v llvm-nm || command -v llvm-nm-14 || echo nm ;;
    gcc) echo nm ;;
    *) echo "${1%-gcc}-nm" ;;
    esac
}

build_native() {
    if [ ! -x build/bin/espy ]; then
        cmake -S . -B build --preset release -DESPY_BUILD_TESTS=OFF >build.log
        cmake --build build -j "$(nproc)"
    fi
    espy=build/bin/espy
}

# One level as baked, one with its sets merged, one with its cells joined, one packed; each for both byte orders.
cook_levels() {
    [ "$work/levels/level.espy" -nt "$espy" ] ||
        "$espy" bake samples/sample_level.glb -o "$work/levels/level.espy" --quality low --full --progress none >"$work/bake.log" 2>&1
    local kb
    for kb in 512 20 10; do
        "$espy" cook "$work/levels/level.espy" --target wii -o "$work/levels/$kb.big" --budget-kb $kb >"$work/cook-$kb.log"
        "$espy" cook "$work/levels/level.espy" --target psp -o "$work/levels/$kb.little" --budget-kb $kb >"$work/cook-$kb.log"
    done
    "$espy" cook "$work/levels/level.espy" --target wii -o "$work/levels/packed.big" --pack >"$work/cook-packed.log"
    "$espy" cook "$work/levels/level.espy" --target psp -o "$work/levels/packed.little" --pack >"$work/cook-packed.log"
}

link() { # NAME COMPILER-LINE
    local name=$1 line=$2
    if [[ $name = wasm* ]]; then
        compile "$work/$name/program" "$line" tests/targets/answers.c tests/targets/answers_wasm.c
        # shellcheck disable=SC2086
        $line $wasm_link "$work/$name"/program/*.o "$work/$name"/reader/*.o -o "$work/$name/answers"
    else
        compile "$work/$name/program" "$line" tests/targets/answers.c tests/targets/answers_main.c
        # shellcheck disable=SC2086
        $line "$work/$name"/program/*.o "$work/$name"/reader/*.o -o "$work/$name/answers"
        [ ! -f "$work/$name/answers.exe" ] || mv "$work/$name/answers.exe" "$work/$name/answers"
    fi
}

# The two files of dist/ instead of the library, in the oldest and the newest C that they promise.
check_dist() { # NAME ORDER COMPILER-LINE RUNNER
    local standard
    for standard in c99 c17; do
        # shellcheck disable=SC2086
        $3 -std=$standard -pedantic-errors -Os $warnings -c dist/espy_pvs.c -o "$work/$1/espy_pvs-$standard.o"
        # shellcheck disable=SC2086
        $3 "$work/$1"/program/*.o "$work/$1/espy_pvs-$standard.o" -o "$work/$1/dist-$standard"
        compare "$1" "$2" "$4" "dist-$standard"
    done
    # gcc's own C fuses multiplications with additions unless it is told not to, which is the file's to see to.
    # shellcheck disable=SC2086
    $3 -std=gnu17 -O2 $warnings -c dist/espy_pvs.c -o "$work/$1/espy_pvs-gnu17.o"
    # shellcheck disable=SC2086
    $3 "$work/$1"/program/*.o "$work/$1/espy_pvs-gnu17.o" -o "$work/$1/dist-gnu17"
    compare "$1" "$2" "$4" dist-gnu17
    # shellcheck disable=SC2086
    $3 -std=c17 -Os $warnings -Idist examples/one_file.c "$work/$1/espy_pvs-c17.o" -o "$work/$1/one_file"
    $4 "$work/$1/one_file" "$work/levels/512.$2" 0 1.7 0 >/dev/null || failed=1
}

compare() { # NAME ORDER RUNNER PROGRAM
    local kb
    for kb in 512 20 10 packed; do
        if ! $3 "$work/$1/$4" "$work/levels/$kb.$2" "$points" | tr -d '\r' >"$work/$1/$kb.txt"; then
            echo "$1: cannot answer for $kb.$2"
            failed=1
        elif [ -f "$work/expected-$kb.txt" ] && ! diff "$work/expected-$kb.txt" "$work/$1/$kb.txt"; then
            echo "$1: other answers than this machine for $kb.$2"
            failed=1
        fi
    done
}

# The kernels of proxy occlusion and of the rasteriser: plain C and the target's own set give the same images there and
# here.
link_images() { # NAME COMPILER-LINE proxy|raster|device RUNTIME-FILE...
    local name=$1 line=$2 kind=$3 own
    shift 3
    if [[ $name = wasm* ]]; then
        own="tests/targets/image_answers_wasm.c"
    else
        own="tests/targets/image_answers_main.c src/core/hooks_hosted.c"
    fi
    # shellcheck disable=SC2086
    compile "$work/$name/$kind" "$line" tests/targets/${kind}_answers.c $own
    set -- "$work/$name/$kind"/*.o "$@"
    if [[ $name = wasm* ]]; then
        # shellcheck disable=SC2086
        $line $wasm_link "$@" -o "$work/$name/$kind-images"
    else
        # Processors without an instruction for square roots take the C library's.
        # shellcheck disable=SC2086
        $line "$@" -lm -o "$work/$name/$kind-images"
        [ ! -f "$work/$name/$kind-images.exe" ] || mv "$work/$name/$kind-images.exe" "$work/$name/$kind-images"
    fi
}

compare_images() { # NAME RUNNER proxy|raster|device
    local runner=${2/answers.mjs/image_answers.mjs} kernels='' out=$work/$1/$3-images
    if ! $runner "$out" 2>"$out.err" | tr -d '\r' >"$out.txt"; then
        echo "$1: $3 images: $(cat "$out.err")"
        failed=1
    elif [ -f "$work/expected-$3.txt" ] && ! diff "$work/expected-$3.txt" "$out.txt"; then
        echo "$1: other $3 images than this machine's"
        failed=1
    fi
    case $1 in
    aarch64) kernels=neon ;;
    wasm128) kernels=wasm128 ;;
    wasm32 | powerpc | mips*) kernels=scalar ;;
    esac
    if [ -n "$kernels" ] && [ "$(tail -n 1 "$out.err" | tr -d '\r')" != "$kernels" ]; then
        echo "$1: the $3 kernels of $(tail -n 1 "$out.err") ran instead of $kernels"
        failed=1
    fi
}

# What a frame needs is linked alone: find the cell, test a slot, test a moving box; with and without packed tables.
print_size() { # NAME COMPILER-LINE
    local line=$2 size=${2%%-gcc*}-size
    echo "$1: bytes of code and of data at -Os"
    "$size" "$work/$1"/reader/{pvs,pvs_cull,cull_scalar,pvs_load,base,math,isa}.o |
        awk 'NR > 1 { n = split($6, part, "/"); printf "  %-16s%7d%7d\n", part[n], $1, $2 + $3 }'
    mkdir -p "$work/$1/lookup"
    local file
    lookup_size "$1" "$line" "$size" "-DESPY_WITHOUT_PACKED" "lookup and test" 4096
    lookup_size "$1" "$line" "$size" "" "with packed" 16384
}

lookup_size() { # NAME COMPILER-LINE SIZE-PROGRAM DEFINE LABEL LIMIT
    local line=$2 size=$3
    for file in tests/targets/lookup_size.c src/pvs/*.c src/math/math.c src/core/base.c src/core/isa.c; do
        # shellcheck disable=SC2086
        $line -std=c17 -ffp-contract=off -Os -ffreestanding -ffunction-sections -fdata-sections -fno-asynchronous-unwind-tables \
            $4 -Iinclude -Isrc -c "$file" -o "$work/$1/lookup/$(basename "$file" .c).o"
    done
    # shellcheck disable=SC2086
    $line -nostdlib -Wl,--gc-sections -Wl,--entry=espyLookup_Use -Wl,--build-id=none "$work/$1"/lookup/*.o -lgcc -o "$work/$1/lookup/all"
    "$size" "$work/$1/lookup/all" | awk -v label="$5" -v limit="$6" 'NR > 1 { sum = $1 + $2 + $3
        printf "  %-16s%7d (at most %d)\n", label, sum, limit; exit sum > limit }' || failed=1
}

run_target() { # NAME ORDER COMPILER-LINE RUNNER
    local name=$1 order=$2 line=$3 runner=$4 compiler=${3%% *}
    if ! have "$compiler"; then
        echo "$name: $compiler is not installed: left out (scripts/setup.sh targets)"
        return 0
    fi
    rm -rf "${work:?}/$name"
    compile "$work/$name/runtime" "$line -ffreestanding" "${runtime[@]}"
    check_symbols "$name" "$(nm_of "$compiler")"
    compile "$work/$name/reader" "$line" "${reader[@]}"
    link "$name" "$line"
    link_images "$name" "$line" proxy "$work/$name"/runtime/{base,isa,math,capsule*,proxy*}.o
    link_images "$name" "$line" raster "$work/$name"/runtime/{base,isa,math,raster*,occluder}.o
    link_images "$name" "$line" device "$work/$name"/runtime/{base,isa,math,raster*,occluder,device,soft_device*}.o
    if [ -n "$runner" ] && ! have "${runner%% *}"; then
        echo "$name: built; ${runner%% *} is not installed: not run"
        return 0
    fi
    compare "$name" "$order" "$runner" answers
    compare_images "$name" "$runner" proxy
    compare_images "$name" "$runner" raster
    compare_images "$name" "$runner" device
    case $name in
    powerpc | mipsel) check_dist "$name" "$order" "$line" "$runner" ;;
    esac
    [ "$name" != powerpc ] || print_size "$name" "$line"
    ran=$((ran + 1))
    echo "$name: $(cat "$work/$name/512.txt"); $(tail -n 1 "$work/$name/proxy-images.err" | tr -d '\r') proxies $(cat "$work/$name/proxy-images.txt"); rasters $(cat "$work/$name/raster-images.txt")"
}

# The program for Windows writes the bytes and the lines that this machine's writes.
check_windows() {
    if ! have x86_64-w64-mingw32-g++-posix; then
        echo "espy.exe: x86_64-w64-mingw32-g++-posix is not installed: left out (scripts/setup.sh targets)"
        return 0
    fi
    [ -f build-mingw/build.ninja ] ||
        cmake -S . -B build-mingw -G Ninja -DCMAKE_TOOLCHAIN_FILE=cmake/mingw.cmake -DESPY_BUILD_TESTS=OFF >build-mingw.log
    cmake --build build-mingw -j "$(nproc)" --target espy-cli >>build-mingw.log || { tail -n 40 build-mingw.log; failed=1; return 0; }
    if ! have wine; then
        echo "espy.exe: built; wine is not installed: not run"
        return 0
    fi
    local out=$work/windows level here there
    rm -rf "$out"
    mkdir -p "$out"
    for level in samples/sample_level.glb tests/cli/levels/rooms.gltf fuzz/corpus/fuzz_bsp/sample.bsp; do
        here=$out/here.espy
        there=$out/there.espy
        "$espy" bake "$level" -o "$here" --quality low --cell-size 4 --full --progress none >"$out/here.txt" 2>"$out/here.err"
        wine build-mingw/bin/espy.exe bake "$level" -o "$there" --quality low --cell-size 4 --full --progress none \
            >"$out/there.txt" 2>"$out/there.err" || true
        same "bake $level" "$here" "$there"
        same "warnings of $level" "$out/here.err" "$out/there.err"
        windows_says "info" info "$here" --json
        windows_says "visible" visible "$here" --at 1,1.5,1 --json
        windows_says "check" check "$here" "$level"
        windows_says "diff" diff "$here" "$there" --json
        windows_says "audit" audit "$here" "$level" --views 2 --size 32 --json
        windows_says "cook to standard output" cook "$here" --target wii --budget-kb 4 -o -
        # Written over the file that is there, and copied from it.
        windows_says "bake again" bake "$level" -o "$there" --quality low --cell-size 4 --json --progress none
        same "bake again $level" "$here" "$there"
    done
    windows_says "a file that is missing" info nowhere.espy
    ran=$((ran + 1))
    echo "espy.exe: the same bytes and lines as here"
}

same() { # WHAT FILE FILE
    cmp -s "$2" "$3" || { echo "espy.exe: $1: other bytes than here"; failed=1; }
}

# Both streams and the exit status; what a run took differs.
windows_says() { # WHAT ARGUMENT...
    local what=$1 out=$work/windows
    shift
    { "$espy" "$@" || echo "status $?"; } 2>&1 | timeless >"$out/here.say"
    { wine build-mingw/bin/espy.exe "$@" || echo "status $?"; } 2>&1 | timeless >"$out/there.say"
    same "$what" "$out/here.say" "$out/there.say"
}

timeless() { sed -E 's/"(seconds|cpuSeconds|threads|peakMemoryBytes)":[^,]*//g'; }

build_native
cook_levels
rm -f "$work"/expected-*.txt
for target in "${targets[@]}"; do
    IFS='|' read -r name order line runner <<<"$target"
    if [ $# -gt 0 ] && [ "$name" != x86_64 ] && [[ " $* " != *" $name "* ]]; then
        continue
    fi
    run_target "$name" "$order" "$line" "$runner"
    if [ "$name" = x86_64 ]; then
        for kb in 512 20 10 packed; do
            cp "$work/$name/$kb.txt" "$work/expected-$kb.txt"
        done
        cp "$work/$name/proxy-images.txt" "$work/expected-proxy.txt"
        cp "$work/$name/raster-images.txt" "$work/expected-raster.txt"
        cp "$work/$name/device-images.txt" "$work/expected-device.txt"
    fi
done
if [ $# -eq 0 ] || [[ " $* " == *" windows "* ]]; then
    check_windows
fi
echo "targets: $ran machines answered as this one"
exit "$failed"
