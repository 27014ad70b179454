#!/usr/bin/env bash
# Installs what a part of espy needs on Debian 12 and says what and how much it fetched.
#   scripts/setup.sh [build|test|check|bench|web|d3d|targets]...     (default: build)
# Idempotent: what is there is left alone. Without apt, or without the right to use it, missing packages are named.
set -euo pipefail

packages() {
    case "$1" in
    build)
        echo build-essential cmake ninja-build pkg-config libtinygltf-dev nlohmann-json3-dev libmeshoptimizer-dev \
            libdraco-dev libzip-dev libassimp-dev libjansson-dev libpng-dev libvulkan-dev libmicrohttpd-dev
        ;;
    # Vulkan on the processor, and its validation: 13 MB to fetch, 60 MB installed.
    test)
        echo libcmocka-dev liblua5.4-dev liblua5.1-0-dev libluajit-5.1-dev lua5.4 lua5.1 luajit mesa-vulkan-drivers \
            vulkan-validationlayers
        ;;
    check) echo clang clang-format clang-tidy libclang-rt-14-dev ;;
    bench) echo libembree-dev wrk ;;
    # Never gcc-multilib: it removes the cross compilers. i686 is one of them.
    targets)
        echo gcc-powerpc-linux-gnu libc6-dev-powerpc-cross gcc-mips-linux-gnu libc6-dev-mips-cross \
            gcc-mipsel-linux-gnu libc6-dev-mipsel-cross gcc-arm-linux-gnueabihf libc6-dev-armhf-cross \
            gcc-aarch64-linux-gnu libc6-dev-arm64-cross gcc-i686-linux-gnu libc6-dev-i386-cross \
            gcc-mingw-w64-x86-64 g++-mingw-w64-x86-64 libz-mingw-w64-dev wine64 qemu-user clang lld nodejs
        ;;
    # A part that later grows in has no packages of its own yet.
    web) echo clang lld chromium $(command -v npm >/dev/null || echo nodejs npm) ;;
    d3d) ;;
    *)
        echo "setup: unknown part '$1': build, test, check, bench, web, d3d or targets" >&2
        exit 2
        ;;
    esac
}

[ $# -gt 0 ] || set -- build
missing=()
for part in "$@"; do
    names=$(packages "$part") || exit 2
    for name in $names; do
        if ! dpkg-query -W -f='${Status}' "$name" 2>/dev/null | grep -q 'ok installed'; then
            missing+=("$name")
        fi
    done
done
if [ ${#missing[@]} -eq 0 ]; then
    echo "setup ($*): everything is installed"
    exit 0
fi
echo "setup ($*): missing ${missing[*]}"
if ! command -v apt-get >/dev/null; then
    echo "setup: this is not a Debian machine: install the equivalents of the packages above" >&2
    exit 4
fi
sudo=
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || { echo "setup: run as root or install sudo: apt-get install ${missing[*]}" >&2; exit 4; }
    sudo=sudo
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
export DEBIAN_FRONTEND=noninteractive
install() { $sudo apt-get install -y --no-install-recommends "${missing[@]}" >"$log" 2>&1; }
if ! install; then
    $sudo apt-get update -qq >"$log" 2>&1 || true
    install || { tail -n 20 "$log" >&2; echo "setup: apt-get could not install the packages above" >&2; exit 4; }
fi
grep -E '^Need to get|^After this operation' "$log" || true
