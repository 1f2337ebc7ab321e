#!/usr/bin/env bash
# Tries the Debian package in a directory, in an empty Debian: install, serve as the unit would, remove, purge.
#
#     Scripts/test-deb.sh DIRECTORY
#
# Needs root. This machine's packages stay as they are.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
(($# == 1)) || { sed -n '4s/^# *//p' "$0" >&2; exit 64; }
source Scripts/debian-apart.bash "$@"

# Runs a command in the empty Debian, which says something only if it fails.
quietly() {
    local said
    said=$(chroot "$root" env DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 "$@" 2>&1) || fail "$* failed: $said"
}

cp "$1"/timerd_*.deb "$root/timerd.deb"
quietly apt-get update
quietly apt-get install -y --no-install-recommends systemd-standalone-sysusers /timerd.deb
quietly dpkg --verify timerd
quietly id timerd
[[ $(chroot "$root" dpkg-query -W -f '${Conffiles}' timerd) == *' /etc/default/timerd '* ]] || fail "/etc/default/timerd is no conffile"
echo "installed: $(chroot "$root" timerd version)"

# As the unit has it, but on a free port.
unit=$root/lib/systemd/system/timerd.service
read -r -a command < <(sed -n 's/^ExecStart=//p' "$unit")
mapfile -t variables < <(sed -n 's/^Environment=//p' "$unit"; sed '/^#/d; /^$/d' "$root/etc/default/timerd")
data=$(printf '%s\n' "${variables[@]}" | sed -n 's/^TIMERD_DATA=//p')
chroot "$root" install -d -o timerd -g timerd -m 700 "$data"
exec 3< <(exec chroot --userspec timerd:timerd "$root" env "${variables[@]}" TIMERD_LISTEN=127.0.0.1:0 "${command[@]}" 2>"$root/log")
server=$!
await_server
quietly env TIMERD_DATA="$data" timerd health
echo "serves: $url is ready and healthy, as user $(ps -o user= -p "$server" | head -n 1)"
stop_server

quietly apt-get remove -y timerd
[[ ! -e $root/usr/bin/timerd && -e $root/etc/default/timerd && -e $root$data/timers.db ]] || fail "a removal takes the program and no more"
quietly apt-get purge -y timerd
[[ ! -e $root/etc/default/timerd && ! -e $root$data ]] || fail "a purge takes settings and data"
left=$(find "$root" -xdev -path "$root/proc" -prune -o -name '*timerd*' -print | grep -v -e '^'"$root"'/timerd.deb$' -e /var/cache/ || true)
[[ -z $left ]] || fail "a purge leaves $left"
echo "removed and purged: nothing is left"
