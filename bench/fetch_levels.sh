#!/usr/bin/env bash
# Fetches the Debian packages whose levels espy is measured on, and unpacks them without installing anything.
#   bench/fetch_levels.sh FOLDER [PACKAGE]...     (default: all of them, some 780 MB)
# Afterwards FOLDER/openarena and FOLDER/nexuiz hold .pk3 files, FOLDER/torcs .acc tracks; ESPY_LEVELS=FOLDER names the
# folder to the tests and benches that use them. The levels are under licences of their own (mostly GPL): nothing of
# them belongs into this repository.
set -euo pipefail

[ $# -ge 1 ] || { sed -n '2,6s/^# //p' "$0" >&2; exit 2; }
mkdir -p "$1"
folder=$(cd "$1" && pwd)
shift
[ $# -gt 0 ] || set -- openarena-081-maps openarena-085-data openarena-088-data openarena-oacmp1 nexuiz-data torcs-data
command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || {
    echo "fetch_levels: this is not a Debian machine: apt-get and dpkg-deb are needed" >&2
    exit 4
}

mkdir -p "$folder/debs" "$folder/unpacked"
cd "$folder/debs"
for package in "$@"; do
    if ! compgen -G "${package}_*.deb" >/dev/null; then
        echo "fetch_levels: $package"
        apt-get download "$package" >/dev/null 2>download.log || {
            cat download.log >&2
            echo "fetch_levels: apt-get could not download $package (try apt-get update first)" >&2
            exit 4
        }
        rm -f download.log
    fi
    dpkg-deb -x "${package}"_*.deb "$folder/unpacked"
done

link() {
    if [ -d "$folder/unpacked/usr/share/games/$2" ]; then
        ln -sfn "unpacked/usr/share/games/$2" "$folder/$1"
        echo "$folder/$1"
    fi
}
link openarena openarena/baseoa
link nexuiz nexuiz/data
link torcs torcs/tracks
