#!/usr/bin/env bash
# Describes the C interface as data: one function a line, from the public headers, for makers of other bindings.
#   scripts/api.sh            writes bindings/api.json
#   scripts/api.sh --check    fails where bindings/api.json is not what the headers say
set -euo pipefail
cd "$(dirname "$0")/.."

describe() {
    local header first=1
    printf '[\n'
    for header in include/espy/*.h; do
        awk -v header="$(basename "$header")" '
            function trim(s) { gsub(/^[ \t]+|[ \t]+$/, "", s); return s }
            function quote(s) { gsub(/\\/, "\\\\", s); gsub(/"/, "\\\"", s); return "\"" s "\"" }
            # "const espyWorld* world" -> type and name; arrays keep their length in the type.
            function parameter(s,    name, suffix) {
                s = trim(s)
                suffix = ""
                if (match(s, /\[[^]]*\]$/)) { suffix = substr(s, RSTART); s = substr(s, 1, RSTART - 1) }
                match(s, /[A-Za-z_0-9]+$/)
                name = substr(s, RSTART)
                return "{\"type\": " quote(trim(substr(s, 1, RSTART - 1)) suffix) ", \"name\": " quote(name) "}"
            }
            /^\/\/\/ ?/ { sub(/^\/\/\/ ?/, ""); doc = doc == "" ? $0 : doc " " $0; next }
            /^ESPY_API / || pending != "" {
                line = trim($0)
                pending = pending == "" ? line : pending " " line
                if (pending !~ /;/) next
                sub(/^ESPY_API /, "", pending)
                sub(/;.*/, "", pending)
                open = index(pending, "(")
                head = trim(substr(pending, 1, open - 1))
                list = substr(pending, open + 1, length(pending) - open - 1)
                match(head, /[A-Za-z_0-9]+$/)
                name = substr(head, RSTART)
                out = "{\"name\": " quote(name) ", \"header\": " quote(header) ", \"returns\": " quote(trim(substr(head, 1, RSTART - 1))) ", \"parameters\": ["
                count = trim(list) == "void" ? 0 : split(list, parts, ",")
                for (i = 1; i <= count; ++i) out = out (i > 1 ? ", " : "") parameter(parts[i])
                print out "], \"doc\": " quote(doc) "}"
                pending = ""; doc = ""
                next
            }
            { doc = "" }
        ' "$header"
    done | while IFS= read -r line; do
        [ $first = 1 ] || printf ',\n'
        first=0
        printf '%s' "$line"
    done
    printf '\n]\n'
}

if [ "${1:-}" = --check ]; then
    describe | diff -u bindings/api.json - >/dev/null ||
        { echo "api: bindings/api.json is not what the headers say: run scripts/api.sh" >&2; exit 1; }
else
    describe >bindings/api.json
fi
