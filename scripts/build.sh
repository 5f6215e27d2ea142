#!/usr/bin/env bash
# Configure and build a preset (default: release) under build/PRESET; quiet unless something is wrong.
# Usage: scripts/build.sh [PRESET [CMAKE OPTIONS...]]
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${1:-release}
shift || true

log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! { cmake --preset "$preset" "$@" && cmake --build --preset "$preset"; } >"$log" 2>&1; then
    cat "$log" >&2
    exit 70
fi
