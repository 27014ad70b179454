#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Compiles the reader of baked files for machines without an operating system and reads the symbols that it asks for:
# nothing but its own and the compiler's helpers, among those none for double or for 64-bit division.
#   tests/check_freestanding.sh SOURCE_DIR
set -euo pipefail

source_dir=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
reader=("$source_dir"/src/pvs/*.c "$source_dir/src/core/base.c")
others=("$source_dir/src/core/isa.c" "$source_dir/src/math/math.c")
failed=0
ran=0

check() { # COMPILER [FLAG]...
    command -v "$1" >/dev/null || return 0
    rm -f "$work"/*.o
    # A compiler may lack a target.
    "$@" -ffreestanding -c -x c /dev/null -o "$work/none.o" 2>/dev/null || return 0
    for file in "${reader[@]}" "${others[@]}"; do
        "$@" -std=c17 -ffreestanding -ffp-contract=off -I"$source_dir/include" -I"$source_dir/src" -c "$file" \
            -o "$work/$(basename "$file").o"
    done
    nm "$work"/*.o | awk 'NF == 3 && $2 ~ /[TDRB]/ { print $3 }' | sort -u >"$work/defined"
    for file in "${reader[@]}"; do
        nm -u "$work/$(basename "$file").o" | awk '$1 == "U" { print $2 }'
    done | sort -u >"$work/wanted"
    # What is left after our own: names with two underscores are the compiler's, and so is how PowerPC keeps registers.
    comm -23 "$work/wanted" "$work/defined" | grep -Ev '^_(GLOBAL_OFFSET_TABLE_$|(rest|save)[fg]pr_)' >"$work/foreign" || true
    bad=$(grep -Ev '^__' "$work/foreign" || true)
    bad+=$(grep -E '^__(.*df.*|aeabi_d.*|aeabi_.*2d|u?(div|mod).*di.*|aeabi_u?ldivmod)$' "$work/foreign" || true)
    ran=$((ran + 1))
    if [ -n "$bad" ]; then
        echo "$*: the reader asks for" $bad
        failed=1
    fi
}

for level in -O2 -Os; do
    check gcc "$level"
    check gcc -m32 "$level"
    check clang "$level"
    check powerpc-linux-gnu-gcc "$level"
    # Without floating-point registers every operation shows as a call, so that a double cannot hide.
    check clang --target=powerpc-unknown-none -msoft-float "$level"
    check clang --target=armv6k-none-eabi "$level"
done
echo "$ran builds of the reader checked"
[ "$ran" -gt 0 ] && [ "$failed" -eq 0 ]
