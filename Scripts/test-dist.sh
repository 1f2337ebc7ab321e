#!/usr/bin/env bash
# Tries the tarball in a directory, in an empty Debian: checksums, libraries, and a server with its clients.
#
#     Scripts/test-dist.sh DIRECTORY BINARY
#
# Needs root. The tarball is also made again of BINARY, and must be the same.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
(($# == 2)) || { sed -n '4s/^# *//p' "$0" >&2; exit 64; }
source Scripts/debian-apart.bash "$@"

(cd "$1" && sha256sum --quiet -c SHA256SUMS)
mkdir "$root/opt/timerd"
tar -C "$root/opt/timerd" --strip-components 1 -xzf "$1"/timerd-*-linux-x86_64.tar.gz
# So that they are found nowhere but beside the program.
find "$root/usr/lib/x86_64-linux-gnu" "$root/lib/x86_64-linux-gnu" -name 'libstdc++.so*' -delete

outside=$(chroot "$root" ldd /opt/timerd/bin/timerd |
    grep -v -e ' => /opt/timerd/bin/\.\./lib/' -e ' => /opt/timerd/lib/' | awk '{ print $1 }' | sort | tr '\n' ' ')
[[ $outside == '/lib64/ld-linux-x86-64.so.2 libc.so.6 libm.so.6 libresolv.so.2 linux-vdso.so.1 ' ]] ||
    fail "it takes more than glibc from the system: $outside"
for library in "$root"/opt/timerd/lib/*.so*; do
    chroot "$root" ldd "${library#"$root"}" | grep 'not found' && fail "${library##*/} lacks a library"
done
echo "it takes from the system: $outside"

timerd() { chroot --userspec nobody:nogroup "$root" env TIMERD_DATA=/tmp/data TIMERD_LISTEN=127.0.0.1:0 "$@"; }
ln -s /opt/timerd/bin/timerd "$root/usr/bin/timerd"
exec 3< <(exec chroot --userspec nobody:nogroup "$root" env TIMERD_DATA=/tmp/data TIMERD_LISTEN=127.0.0.1:0 timerd serve 2>"$root/log")
server=$!
await_server
timerd timerd health
timerd timerd create --id tea --after 4m --server "$url"
stop_server
timerd timerd log verify --data /tmp/data

Scripts/dist.sh "$2" "$root/again" >/dev/null
cmp "$1"/timerd-*.tar.gz "$root"/again/timerd-*.tar.gz || fail "the same inputs made another tarball"
echo "made again it is the same"
