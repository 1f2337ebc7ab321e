#!/usr/bin/env bash
# Makes an empty Debian of this machine's release, without any of its packages, in a directory: Scripts/empty-debian.sh DIRECTORY
#
# The first one is kept as an archive in .build, which the next ones are unpacked from. Needs root.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
(($# == 1)) || { sed -n '2s/^# *//p' "$0" >&2; exit 64; }
((EUID == 0)) || { echo "timerd: only root can make another Debian to test in" >&2; exit 1; }
command -v debootstrap >/dev/null || { echo "timerd: to make another Debian to test in, install debootstrap" >&2; exit 1; }

readonly archive=$PWD/.build/empty-debian.tar
mkdir -p "${archive%/*}"
if [[ ! -e $archive ]]; then
    made=$(mktemp -d)
    trap 'rm -rf --one-file-system "$made"' EXIT
    chmod 755 "$made"
    release=$(. /etc/os-release && echo "$VERSION_CODENAME")
    # From where this machine itself has its packages.
    mirror=$(apt-get indextargets --format '$(RELEASE) $(REPO_URI)' 'Created-By: Packages' | sed -n "s/^$release //p" | head -n 1)
    [[ -n $mirror ]] || { echo "timerd: this machine's apt knows no mirror of $release" >&2; exit 1; }
    debootstrap --variant=minbase "$release" "$made" "$mirror" >"$archive.log" || { tail -n 20 "$archive.log" >&2; exit 1; }
    # As this machine reaches it.
    apt-config dump Acquire >"$made/etc/apt/apt.conf.d/90acquire"
    tar --one-file-system -C "$made" -cf "$archive.new" .
    mv "$archive.new" "$archive"
fi
mkdir -p "$1"
tar -C "$1" -xf "$archive"
