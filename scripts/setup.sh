#!/usr/bin/env bash
# Install the Debian packages podsim is built from, if any is missing. Does nothing the second time.
set -euo pipefail

packages=(cmake ninja-build pkg-config gcc libc6-dev libopenmpi-dev openmpi-bin libigraph-dev libmetis-dev check libyaml-dev libyajl-dev libexpat1-dev)

missing=()
for package in "${packages[@]}"; do
    status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$status" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || { echo "setup: missing packages: ${missing[*]}; install them as root" >&2; exit 69; }
    as_root=(sudo)
fi
echo "setup: installing ${missing[*]}" >&2
log=$(mktemp)
trap 'rm -f "$log"' EXIT
apt() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq "$@" >>"$log" 2>&1; }
if ! { apt update && apt install -y --no-install-recommends "${missing[@]}"; }; then
    cat "$log" >&2
    echo "setup: apt-get could not install ${missing[*]}" >&2
    exit 69
fi
