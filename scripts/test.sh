#!/usr/bin/env bash
# Install what is missing, build the release preset with warnings as errors, run all tests; without
# options first see that a debug build prints the same bytes.
# Usage: scripts/test.sh [CTEST OPTIONS...]     e.g. scripts/test.sh -L unit
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
"$root/scripts/setup.sh"
cd "$root"
"$root/scripts/build.sh" release -DPODSIM_WERROR=ON
if [ $# -eq 0 ]; then
    "$root/scripts/build.sh" dev
    scripts/same-bytes build/release/podsim build/dev/podsim
fi
ctest --preset release "$@"
