# timerd's peers, each on loopback with a data directory of its own below WORK. Sourced after lib.sh.

readonly -A PORTS=([timerd]=$PORT [bare]=$((PORT + 1)) [bare-sync]=$((PORT + 2)) [redis]=$((PORT + 3))
    [beanstalkd]=$((PORT + 4)) [postgres]=$((PORT + 5)) [timerd-postgres]=$((PORT + 7)))
declare -A PIDS=()
# How beanstalkd syncs: -f0 each write by itself, -fMS at most so often, -F never.
BEANSTALKD_SYNC=-f0

# --- What is needed

# Ends the run unless the ports of all servers are free, and those of NAME=PORT….
require_server_ports() {
    local name
    local -a ports=()
    for name in "${!PORTS[@]}"; do ports+=("$name=${PORTS[$name]}"); done
    require_ports "${ports[@]}" "$@"
}

install_peers() {
    local name
    for name in redis beanstalkd postgres; do
        has "$name" || apt_install "$(package_of "$name")" || say "no $name here: not compared"
    done
    gcc -O2 -o "$WORK/bare" Benchmarks/bare.c -lmicrohttpd -lpthread
    gcc -O2 -o "$WORK/load" Benchmarks/load.c Benchmarks/protocol.c
    gcc -O2 -shared -fPIC -o "$WORK/slowsync.so" Benchmarks/slowsync.c
    # PostgreSQL runs as a user of its own, which must be able to reach its data.
    umask 022
    chmod 711 "$WORK"
}

package_of() {
    case $1 in
    redis) echo redis-server ;;
    postgres) echo postgresql ;;
    *) echo "$1" ;;
    esac
}

has() {
    case $1 in
    redis) command -v redis-server >/dev/null ;;
    beanstalkd) command -v beanstalkd >/dev/null ;;
    postgres) [[ -x $(postgres_program postgres) ]] && { ((EUID != 0)) || id postgres >/dev/null 2>&1; } ;;
    esac
}

# The path of one of PostgreSQL's programs, which Debian keeps out of PATH; the newest.
postgres_program() {
    local found
    found=$(compgen -G "/usr/lib/postgresql/*/bin/$1" | sort -V | tail -n 1) || true
    echo "${found:-$(command -v "$1" || true)}"
}

# PostgreSQL refuses to run as root.
as_postgres() {
    if ((EUID == 0)); then
        echo setpriv --reuid=postgres --regid=postgres --clear-groups
    fi
}

# --- Starting and stopping

# start_server NAME DATA: sets PIDS[NAME] and READY, the seconds until it answered. timerd-postgres keeps all in the server
# postgres, which must run.
start_server() {
    mkdir -p "$2"
    local begin=$EPOCHREALTIME
    case $1 in
    timerd) start_timerd sqlite "$2" ;;
    timerd-postgres)
        TIMERD_AT=${PORTS[$1]} start_timerd "postgres://postgres@127.0.0.1:${PORTS[postgres]}/postgres" '' --migrate
        ;;
    *)
        "start_$1" "$2"
        READY=$(calc '%.4f' "$EPOCHREALTIME - $begin")
        ;;
    esac
    PIDS[$1]=$PID
}

stop_server() {
    stop "${PIDS[$1]}" "${2:--TERM}"
    unset "PIDS[$1]"
}

# start_servers DIRECTORY: timerd and every installed peer; SERVERS are their names.
start_servers() {
    local name
    SERVERS=()
    for name in timerd redis beanstalkd postgres; do
        [[ $name == timerd ]] || has "$name" || continue
        start_server "$name" "$1/$name"
        SERVERS+=("$name")
    done
}

# First that which is PostgreSQL's client: PostgreSQL waits for the end of its clients.
stop_servers() {
    local name
    [[ -z ${PIDS[timerd-postgres]-} ]] || stop_server timerd-postgres
    for name in "${!PIDS[@]}"; do stop_server "$name"; done
}

# answers PORT REQUEST ANSWER: whether a line brings an answer that starts so.
answers() {
    (
        exec 3<>"/dev/tcp/127.0.0.1/$1" && printf '%s\r\n' "$2" >&3 && read -r -t 5 line <&3 && [[ $line == "$3"* ]]
    ) 2>/dev/null
}

# until_it COMMAND…: waits until the command succeeds, while the server PID lives.
until_it() {
    for _ in {1..30000}; do
        "$@" && return
        kill -0 "$PID" 2>/dev/null || break
        sleep 0.01
    done
    fail "a server did not start: $*" "$(tail -n 5 "$WORK/servers.log")"
}

start_redis() {
    launch redis-server --port "${PORTS[redis]}" --bind 127.0.0.1 --dir "$1" --save '' --appendonly yes \
        --appendfsync always --auto-aof-rewrite-percentage 0
    until_it answers "${PORTS[redis]}" PING +PONG
}

start_beanstalkd() {
    launch beanstalkd -l 127.0.0.1 -p "${PORTS[beanstalkd]}" -b "$1" "$BEANSTALKD_SYNC" -u "$(id -un)"
    until_it answers "${PORTS[beanstalkd]}" stats OK
}

start_postgres() {
    local -a as
    read -ra as < <(as_postgres) || true
    local psql=(psql -h 127.0.0.1 -p "${PORTS[postgres]}" -U postgres -qAt -v ON_ERROR_STOP=1)
    ((EUID != 0)) || chown postgres: "$1"
    "${as[@]}" "$(postgres_program initdb)" -D "$1" -U postgres -A trust -E UTF8 --locale=C --no-sync >/dev/null
    launch "${as[@]}" "$(postgres_program postgres)" -D "$1" -p "${PORTS[postgres]}" \
        -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c max_connections=600 \
        -c fsync=on -c synchronous_commit=on -c shared_buffers=256MB -c max_wal_size=4GB
    until_it "${psql[@]}" -c 'SELECT' 2>/dev/null
    "${psql[@]}" -c "CREATE TABLE timers (id uuid PRIMARY KEY, due bigint NOT NULL, state smallint NOT NULL DEFAULT 1,
        payload text NOT NULL); CREATE INDEX ON timers (due)"
}

# --- Figures of a server

# The bytes of a data directory.
bytes_of() { du -sb "$1" | cut -f1; }

# How often the threads of a process were woken so far.
wakeups() { awk '/^voluntary_ctxt_switches/ { sum += $2 } END { print sum }' "/proc/$1/task/"*/status; }

# The milliseconds of CPU that its threads took so far, to the nanosecond.
thread_ms() { awk '{ sum += $1 } END { printf "%.6f", sum / 1e6 }' "/proc/$1/task/"*/schedstat; }

# The milliseconds of CPU that a process and its children took so far, those that have ended too.
family_ms() {
    local -a children
    read -ra children < <(cat "/proc/$1/task/$1/children") || true
    # Behind the name in brackets, which may hold spaces: utime, stime, and those of children that were waited for.
    children=("${children[@]/#//proc/}")
    cat "/proc/$1/stat" "${children[@]/%//stat}" 2>/dev/null | sed 's/.*) //' |
        awk -v tick="$(getconf CLK_TCK)" '{ sum += $12 + $13 + $14 + $15 } END { printf "%.0f", sum * 1000 / tick }'
}
