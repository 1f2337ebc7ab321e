#!/usr/bin/env bash
# Makes a Debian package of a built timerd and has lintian check it: Scripts/deb.sh BINARY DIRECTORY
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
(($# == 2)) || { sed -n '2s/^# *//p' "$0" >&2; exit 64; }

tools=(dpkg-buildpackage:dpkg-dev dh:debhelper dh_strip:debhelper patchelf:patchelf lintian:lintian)
missing=()
for tool in "${tools[@]}"; do command -v "${tool%:*}" >/dev/null || missing+=("${tool#*:}"); done
((${#missing[@]} == 0)) || { echo "timerd: to make a package, install ${missing[*]}" >&2; exit 1; }

PROJECT=$PWD
BINARY=$(realpath "$1")
export PROJECT BINARY DEB_BUILD_OPTIONS=noautodbgsym
rm -rf "$2"
mkdir -p "$2/build"
cp -r deploy/debian "$2/build/debian"

built=$("$BINARY" version) packaged=$(dpkg-parsechangelog -l deploy/debian/changelog -S Version)
[[ $built == "timerd $packaged" ]] || { echo "timerd: the binary is $built, the package's changelog has $packaged" >&2; exit 1; }

(cd "$2/build" && dpkg-buildpackage --build=binary --no-sign) >"$2/build.log" 2>&1 || { tail -n 30 "$2/build.log" >&2; exit 1; }
rm -r "$2/build"
(cd "$2" && lintian --fail-on error,warning --allow-root timerd_*.deb)
ls "$2"/timerd_*.deb
