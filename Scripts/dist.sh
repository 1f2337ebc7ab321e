#!/usr/bin/env bash
# Makes a tarball of a built timerd that needs glibc alone: Scripts/dist.sh BINARY DIRECTORY
#
# The other libraries are this machine's; they lie beside the program, under lib, and find each other there. Their licenses are
# under share/doc. The same inputs make the same bytes.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
(($# == 2)) || { sed -n '2s/^# *//p' "$0" >&2; exit 64; }
readonly binary=$1 out=$2
# The newest glibc that the tarball may need.
readonly GLIBC=2.36
# What belongs to glibc.
readonly SYSTEM='^(linux-vdso|ld-linux-x86-64|libc|libm|libdl|libpthread|librt|libresolv|libanl|libutil)\.so'

fail() { echo "timerd: $*" >&2; exit 1; }
[[ $(uname -m) == x86_64 ]] || fail "the tarball is for x86-64, this is $(uname -m)"
for tool in patchelf strip objdump dpkg-query; do
    command -v "$tool" >/dev/null || fail "$tool is missing; install patchelf and binutils, on Debian"
done
version=$("$binary" version)
version=${version#timerd }
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 0)}

readonly name=timerd-$version-linux-x86_64
readonly stage=$out/stage
readonly root=$stage/opt/timerd
rm -rf "$out"
mkdir -p "$root/lib"
# The unit files take it to be unpacked there.
Scripts/install.sh "$binary" /opt/timerd "$stage"
readonly licenses=$root/share/doc/timerd/licenses

# Copies the copyright file of the Debian package that a file is from.
keep_license() {
    local file package
    # The linker may name a file by a folder that is a link to the one that dpkg knows.
    for file in "$1" "$(realpath "$1")" "/usr$1"; do
        package=$(dpkg-query -S "$file" 2>/dev/null | head -n 1) && [[ $package ]] && break
    done
    package=${package%%:*}
    [[ $package ]] || fail "no Debian package has $1, so its license is not known"
    install -D -m 644 "/usr/share/doc/$package/copyright" "$licenses/$package.txt"
}

while read -r library _ path _; do
    [[ $library =~ $SYSTEM || $library == /* ]] && continue
    [[ $path == /* ]] || fail "$library is not found"
    install -m 644 "$path" "$root/lib/$library"
    keep_license "$path"
done < <(ldd "$binary")

# What is in the program itself.
keep_license /usr/include/toml++/toml.h
for package in swift-argument-parser swift-log; do
    license=.build/static/checkouts/$package/LICENSE.txt
    [[ -e $license ]] || license=.build/checkouts/$package/LICENSE.txt
    [[ -e $license ]] || fail "the license of $package is not there; swift package resolve brings it"
    install -m 644 "$license" "$licenses/$package.txt"
done
install -m 644 "$(dirname "$(realpath "$(command -v swift)")")/../share/swift/LICENSE.txt" "$licenses/swift.txt"
cp -rL /usr/share/common-licenses "$licenses/common-licenses"
chmod -R u+w,go+rX "$licenses"

strip "$root/bin/timerd" "$root"/lib/*.so*
patchelf --set-rpath '$ORIGIN/../lib' "$root/bin/timerd"
for library in "$root"/lib/*.so*; do patchelf --set-rpath '$ORIGIN' "$library"; done
needed=$(objdump -T "$root/bin/timerd" "$root"/lib/*.so* | grep -o 'GLIBC_2\.[0-9.]*' | sort -Vu | tail -n 1)
[[ $(printf '%s\n' "GLIBC_$GLIBC" "$needed" | sort -V | tail -n 1) == "GLIBC_$GLIBC" ]] ||
    fail "what this machine builds needs $needed; the tarball is made on a system with glibc $GLIBC"

mv "$root" "$out/$name"
rm -r "$stage"
tar -C "$out" --sort=name --owner=0 --group=0 --numeric-owner --mode=u+w,go-w --mtime="@$SOURCE_DATE_EPOCH" -cf - "$name" |
    gzip -9n >"$out/$name.tar.gz"
rm -r "${out:?}/$name"
(cd "$out" && sha256sum "$name.tar.gz" >SHA256SUMS)
ls -l "$out/$name.tar.gz"
