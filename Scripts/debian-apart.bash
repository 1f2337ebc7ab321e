# To be sourced, with their arguments, by scripts that try in an empty Debian what is to be installed:
#
#     source Scripts/debian-apart.bash "$@"
#
# It runs such a script anew where what it mounts is seen by itself alone, and makes the Debian in the directory `root`. At the end
# that goes, and so does the process `server`, if there is one.

[[ ${APART-} ]] || APART=yes exec unshare --mount "$0" "$@"

root=$(mktemp -d)
server=
clean() {
    if [[ $server ]]; then kill -KILL "$server" 2>/dev/null || true; fi
    umount "$root/proc" 2>/dev/null || true
    rm -rf --one-file-system "$root"
}
trap clean EXIT
fail() { echo "timerd: $*" >&2; exit 1; }

# Waits until the server, which writes to descriptor 3 and logs to the Debian's /log, is ready; says where it is in `url`.
await_server() {
    local line
    read -r -t 30 -u 3 line || fail "the server said nothing; its log: $(cat "$root/log")"
    url=${line#timerd listening on }
    curl -fsS --max-time 10 "$url/readyz" >/dev/null
}

# Ends the server, which has to stop cleanly.
stop_server() {
    kill -TERM "$server"
    wait "$server" || fail "the server's clean stop ended with $?; its log: $(cat "$root/log")"
    server=
}

Scripts/empty-debian.sh "$root"
mount --bind /proc "$root/proc"
