#!/usr/bin/env bash
# Bakes the sample level, audits it, prints a short table and writes a picture.
#   scripts/demo.sh BIN_FOLDER OUT_FOLDER
set -euo pipefail
mkdir -p "$2"
"$1/espy-demo" samples/sample_level.glb "$2/sample_level.espy" "$2/demo.png"
