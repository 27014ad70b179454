#!/usr/bin/env bash
# Bakes the sample level, audits it, prints a short table and writes a picture.
#   scripts/demo.sh BIN_FOLDER OUT_FOLDER
set -euo pipefail
bin=$1
out=$2
level=samples/sample_level.glb
mkdir -p "$out"
"$bin/espy" bake "$level" -o "$out/sample_level.espy" --full --json >"$out/bake.json"
"$bin/espy" audit "$out/sample_level.espy" "$level" --views 100 --size 128 --json >"$out/audit.json"
"$bin/espy-demo" "$level" "$out/sample_level.espy" "$out/bake.json" "$out/audit.json" "$out/demo.png"
