#!/usr/bin/env bash
# Installs a build into an empty folder, then builds and runs consumers by find_package and by pkg-config.
#   tests/install/run.sh BUILD_FOLDER
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$build" --prefix "$work/prefix" >"$work/install.log"
cmake -S "$here" -B "$work/consumer" -DCMAKE_PREFIX_PATH="$work/prefix" -DCMAKE_BUILD_TYPE=Release >"$work/configure.log" ||
    { cat "$work/configure.log"; exit 1; }
cmake --build "$work/consumer" >"$work/build.log" || { cat "$work/build.log"; exit 1; }
"$work/consumer/consumer"
"$work/consumer/consumer_bake"
libdir=$(dirname "$(find "$work/prefix" -name espy.pc)")
flags=$(PKG_CONFIG_PATH="$libdir" PKG_CONFIG_ALLOW_SYSTEM_LIBS=1 pkg-config --cflags --libs espy)
# shellcheck disable=SC2086
${CC:-cc} -std=c17 "$here/consumer.c" $flags -o "$work/by_pkg_config"
LD_LIBRARY_PATH="$libdir/.." "$work/by_pkg_config"
echo "1 passed, 0 failed"
