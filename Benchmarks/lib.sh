# Tools, servers, clients and figures for all scripts that measure. Sourced, in the project's root.
#
# TIMERD names another binary than the release build, PORT another port, ROUNDS another number of repetitions,
# SECONDS_A_RUN another length of each run of wrk.

readonly ROUNDS=${ROUNDS:-3} SECONDS_A_RUN=${SECONDS_A_RUN:-3}
readonly TIMERD=${TIMERD:-.build/release/timerd}
readonly PORT=${PORT:-18080} CONNECTIONS=64
LOAD=$(cut -d' ' -f1 /proc/loadavg)
readonly LOAD
WORK=$(mktemp -d /var/tmp/timerd-bench.XXXXXX)
readonly WORK FIGURES=$WORK/figures.md
declare -a STARTED=()
# What servers are started through: `env NAME=VALUE`.
declare -a THROUGH=()

fail() {
    printf 'bench: %s\n' "$@" >&2
    exit 1
}

say() { printf 'bench: %s\n' "$*" >&2; }

finish() {
    for pid in "${STARTED[@]}"; do kill "$pid" 2>/dev/null || true; done
    wait
    rm -rf "$WORK"
}
trap finish EXIT

# --- What is needed

# require_ports NAME=PORT…: ends the run where something listens on one of them already: it would be measured instead.
require_ports() {
    local -a lines
    mapfile -t lines < <(python3 Benchmarks/ports.py "$@")
    ((${#lines[@]} == 0)) || fail "${lines[@]}" "End what listens there, or set PORT to another number; the ports behind it are used too."
}

install_tools() {
    [[ -x $TIMERD ]] || fail "there is no $TIMERD" "Build it first: swift build -c release --product timerd"
    local -a missing=()
    command -v gcc >/dev/null || missing+=(gcc libc6-dev)
    command -v wrk >/dev/null || missing+=(wrk)
    command -v curl >/dev/null || missing+=(curl)
    command -v python3 >/dev/null || missing+=(python3)
    apt_install "${missing[@]}" || fail "these are needed and could not be installed: ${missing[*]}"
}

apt_install() {
    (($# > 0)) || return 0
    command -v apt-get >/dev/null || return 1
    local -a as_root=()
    if ((EUID != 0)); then
        command -v sudo >/dev/null || return 1
        as_root=(sudo)
    fi
    say "installing $*"
    # The packages must not start their own servers.
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 \
        apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

# --- Servers: each start sets PID

PID=0

launch() {
    "${THROUGH[@]}" "$@" >>"$WORK/servers.log" 2>&1 &
    PID=$!
    STARTED+=("$PID")
}

# start_timerd STORE DATA [FLAG…]: returns once it is ready; READY is the seconds that it took. DATA is empty for a database.
# TIMERD_AT is another port.
start_timerd() {
    local started port=${TIMERD_AT:-$PORT}
    started=$(timers start "$port" "$WORK/servers.log" \
        "${THROUGH[@]}" "$TIMERD" serve --listen "127.0.0.1:$port" --store "$1" ${2:+--data "$2"} "${@:3}") ||
        fail "$(tail "$WORK/servers.log")"
    read -r PID READY <<<"$started"
    STARTED+=("$PID")
}

stop() {
    kill "${2:--TERM}" "$1"
    # The shell would report a killed child.
    wait "$1" 2>/dev/null || true
    until has_ended "$1"; do sleep 0.02; done
}

# Some are not children of this shell, so it can't wait for them; a process that is not reaped has ended all the same once its
# last thread has.
has_ended() {
    [[ ! -r /proc/$1/stat ]] || { grep -qs ') Z ' "/proc/$1/stat" && [[ $(ls "/proc/$1/task" 2>/dev/null) == "$1" ]]; }
}

timers() { python3 Benchmarks/timers.py "$@"; }

wait_for_port() {
    for _ in {1..200}; do
        (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null && return
        sleep 0.02
    done
    fail "nothing listens on port $1"
}

# allow_files COUNT WHAT: lets processes that are started from now on open that many files.
allow_files() {
    if (($(ulimit -Hn) < $1)) && ! ulimit -Hn "$1" 2>/dev/null; then
        say "the hard limit of open files is $(ulimit -Hn): $2 are not measured"
        return 1
    fi
    ulimit -Sn "$1"
}

resident_kib() { awk '/^VmRSS/ { print $2 }' "/proc/$1/status"; }

# --- The client of fires

compile_fires() { gcc -O2 -o "$WORK/fires" Benchmarks/fires.c Benchmarks/protocol.c Benchmarks/stream.c; }

# read_fires PORT COUNT SPREAD: makes so many timers, due within SPREAD seconds, and reads their fires; the figures of fires.c are
# then in $WORK/fired.
read_fires() {
    "$WORK/fires" timerd "$1" "$2" >"$WORK/fired" &
    local client=$!
    STARTED+=("$client")
    timers due "$@"
    wait "$client" || fail "fires were not read"
}

# --- The client of streams

CLIENT=0

compile_streams() {
    gcc -O2 -o "$WORK/streams" Benchmarks/streams.c Benchmarks/stream.c
    mkfifo "$WORK/to-client" "$WORK/from-client"
    exec {TO_CLIENT}<>"$WORK/to-client" {FROM_CLIENT}<>"$WORK/from-client"
}

# start_client MODE PORT ARGUMENT…: see streams.c; sets CLIENT, its process.
start_client() {
    "$WORK/streams" "$@" <&"$TO_CLIENT" >&"$FROM_CLIENT" &
    CLIENT=$!
    STARTED+=("$CLIENT")
}

# open_streams MODE PORT ARGUMENT…: the same, and returns when the streams are open.
open_streams() {
    local word
    start_client "$@"
    hear word
}

tell() { echo >&"$TO_CLIENT"; }

# hear NAME…: sets the variables to the words of the client's next line.
hear() {
    until read -r -t 1 "$@" <&"$FROM_CLIENT"; do
        kill -0 "$CLIENT" 2>/dev/null || fail "the client of the streams has ended"
    done
}

# fan_out PORT PID STREAMS TIMES: sends one event to that many streams of a server, TIMES times. Sets KIB_A_STREAM, the
# memory that each took of it, and what streams.c prints.
fan_out() {
    local before after
    before=$(resident_kib "$2")
    open_streams fanout "$1" "$3" "$4"
    after=$(resident_kib "$2")
    tell
    hear P50 P99 WORST LONGEST CPU SHARE
    wait "$CLIENT"
    KIB_A_STREAM=$(calc '%.2f' "($after - $before) / $3")
}

# --- Figures

# wrk_rate PORT PATH [SCRIPT [ARGUMENT…]]: requests a second, and how much of a core wrk took in percent; answers other
# than 2xx end the run. SCHEME is `https` for TLS, whose certificate is not looked at.
wrk_rate() {
    local output TIMEFORMAT='cpu %R %U %S'
    output=$({
        time wrk -t1 -c"$CONNECTIONS" -d"${SECONDS_A_RUN}s" ${3:+-s "$3"} "${SCHEME:-http}://127.0.0.1:$1$2" -- "${@:4}"
    } 2>&1)
    grep -qE 'Non-2xx|Socket errors' <<<"$output" && fail "$2 was refused: $output"
    awk '/^Requests\/sec/ { rate = $2 } /^cpu / { printf "%s %.0f\n", rate, 100 * ($3 + $4) / $2 }' <<<"$output"
}

median() { sort -g | awk '{ values[NR] = $1 } END { print values[int((NR + 1) / 2)] }'; }

calc() { awk "BEGIN { printf \"$1\", $2 }"; }

thousands() { awk '{ printf "%.0f k", $1 / 1000 }' <<<"$1"; }

# row WHAT MEASURED TARGET
row() {
    printf '| %s | %s | %s |\n' "$1" "$2" "$3" | tee -a "$FIGURES" >&2
}

# The machine, as far as it matters.
machine() {
    printf '%s × %s, %s, Linux %s, %s' "$(nproc)" "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)" \
        "$(awk '/^MemTotal/ { printf "%.0f GiB", $2 / 1048576 }' /proc/meminfo)" "$(uname -r)" \
        "$(df --output=fstype "$WORK" | tail -n 1)"
}

# replace_marked PAGE MARK FILE: what stands between the page's marks of that name becomes the file.
replace_marked() {
    python3 - "$2" "$3" "$1" <<'PYTHON'
import pathlib, re, sys
mark, (figures, page) = sys.argv[1], map(pathlib.Path, sys.argv[2:])
text = page.read_text()
marks = rf"(<!-- {mark} -->\n).*(<!-- /{mark} -->)"
page.write_text(re.sub(marks, lambda match: match[1] + figures.read_text() + match[2], text, flags=re.S))
PYTHON
}

# publish MARK COMMAND: writes FIGURES of this run, which COMMAND began, between the page's marks of that name.
publish() {
    {
        printf 'Measured by `%s` on %s, %s.\nLoad of the machine by others when the run began: %s.\n\n' \
            "$2" "$(date -u +%F)" "$(machine)" "$LOAD"
        cat "$FIGURES"
    } >"$WORK/published.md"
    replace_marked docs/PERFORMANCE.md "$1" "$WORK/published.md"
    say "docs/PERFORMANCE.md has the figures"
}
