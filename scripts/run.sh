#!/usr/bin/env bash
# Install what is missing, build the release preset, run podsim with the arguments given.
# Usage: scripts/run.sh step examples/llama3-70b-v5p.yaml
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
"$root/scripts/setup.sh"
"$root/scripts/build.sh" release
exec "$root/build/release/podsim" "$@"
