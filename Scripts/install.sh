#!/usr/bin/env bash
# Puts timerd where a system looks for it: the program, its manual, completions of three shells, unit files, documents.
#
#     Scripts/install.sh BINARY PREFIX [DESTDIR]      installs
#     Scripts/install.sh --remove PREFIX [DESTDIR]    removes what that installed
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

(($# == 2 || $# == 3)) || { sed -n '4,5s/^# *//p' "$0" >&2; exit 64; }
readonly what=$1 prefix=${2%/} destination=${3-}
[[ $prefix == /* || -z $prefix ]] || { echo "timerd: PREFIX is a path from the root on, not $prefix" >&2; exit 64; }
readonly root=$destination$prefix

readonly units=lib/systemd/system
readonly bash=share/bash-completion/completions/timerd
readonly zsh=share/zsh/site-functions/_timerd
readonly fish=share/fish/vendor_completions.d/timerd.fish
readonly documents=(README.md CHANGELOG.md LICENSE docs/OPERATIONS.md docs/POLICIES.md docs/CRON.md docs/RELIABILITY.md openapi.yaml)

if [[ $what == --remove ]]; then
    rm -f "$root/bin/timerd" "$root/share/man/man1/timerd.1" "$root/$bash" "$root/$zsh" "$root/$fish" \
        "$root/$units/timerd.service" "$root/$units/timerd.socket" "$root/lib/sysusers.d/timerd.conf"
    rm -rf "$root/share/doc/timerd"
    exit
fi

# Writes its input to a file below the root, whose folders are made.
put() { install -D -m 644 /dev/stdin "$root/$1"; }

install -D -m 755 "$what" "$root/bin/timerd"
Scripts/manpage.py "$what" | put share/man/man1/timerd.1
# A shell reads it, no kernel runs it.
"$what" --generate-completion-script bash | sed '1{/^#!/d}' | put "$bash"
"$what" --generate-completion-script zsh | put "$zsh"
"$what" --generate-completion-script fish | put "$fish"
sed "s|^ExecStart=/usr/bin/|ExecStart=$prefix/bin/|" deploy/systemd/timerd.service | put "$units/timerd.service"
put "$units/timerd.socket" <deploy/systemd/timerd.socket
put lib/sysusers.d/timerd.conf <deploy/systemd/timerd.sysusers
for document in "${documents[@]}"; do put "share/doc/timerd/$document" <"$document"; done
