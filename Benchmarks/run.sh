#!/usr/bin/env bash
# Measures timerd beside a bare libmicrohttpd server, Redis, beanstalkd and PostgreSQL on this machine, in turns and in
# under ten minutes, and writes the figures into docs/PERFORMANCE.md, docs/bench.json and docs/bench.svg. Absolute
# figures belong to the machine; compare the ratios. `run.sh more` takes about eight minutes for measurements that take too
# long for that or have no peer. `run.sh postgres` measures timerd on PostgreSQL in about forty minutes, of which two of
# the measurements take MINUTES (10) each. `run.sh latency` measures latencies at constant rates in about twenty.
#
# PARTS names some of the measurements, and QUICK=1 makes all of them short; either is shown, and written to .build
# only. LOAD_SECONDS is the length of each run of load.c; lib.sh has what else can be set.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
if [[ -n ${QUICK-} ]]; then
    ROUNDS=${ROUNDS:-2} LOAD_SECONDS=${LOAD_SECONDS:-0.3}
    MANY=${MANY:-100000} VERY_MANY=${VERY_MANY:-200000} BURST=${BURST:-50000} WEBHOOKS=${WEBHOOKS:-20000}
    MINUTES=${MINUTES:-0.5} TIMES=${TIMES:-2} IDLE_NODE_SECONDS=${IDLE_NODE_SECONDS:-5} OPEN_SECONDS=${OPEN_SECONDS:-1}
fi
if [[ ${1-} == postgres ]]; then ROUNDS=${ROUNDS:-9} LOAD_SECONDS=${LOAD_SECONDS:-2}; fi
ROUNDS=${ROUNDS:-5}
source Benchmarks/lib.sh
source Benchmarks/servers.sh
source Benchmarks/requests.sh
source Benchmarks/many.sh
source Benchmarks/postgres.sh
source Benchmarks/latency.sh

readonly HOOK_PORT=$((PORT + 6))
readonly MANY=${MANY:-1000000} VERY_MANY=${VERY_MANY:-10000000} BURST=${BURST:-200000} WEBHOOKS=${WEBHOOKS:-100000}
readonly LOAD_SECONDS=${LOAD_SECONDS:-0.6} STEADY_A_SECOND=1000 STEADY_SECONDS=8 IDLE_SECONDS=20
readonly SAMPLES=$WORK/samples RECORD=$WORK/figures.json
declare -a SERVERS=()

# --- Samples and figures: see report.py

section() {
    SECTION=$1
    printf '\n%s (%d s)\n' "$1" "$SECONDS" >&2
}

# sample NAME VALUE [CLIENT'S CPU]
sample() { echo "${@:2}" >>"$SAMPLES/$1"; }

# figure WHAT WHO UNIT SAMPLES [TARGET]
figure() { python3 Benchmarks/report.py figure "$RECORD" "$SECTION" "${@:1:3}" "$SAMPLES/$4" "${5-}" >&2; }

# run_load SAMPLES SERVER CONNECTIONS BATCH [COMMAND…]: for the time of a run.
run_load() {
    local protocol=$2
    [[ $2 != bare* && $2 != timerd* ]] || protocol=timerd
    "$WORK/load" for "$LOAD_SECONDS" "$protocol" "${PORTS[$2]}" "${@:3}" >>"$SAMPLES/$1"
}

millions() { awk '{ printf $1 < 1e6 ? "%g k" : "%g M", $1 < 1e6 ? $1 / 1e3 : $1 / 1e6 }' <<<"$1"; }

if_timerd() { [[ $1 != timerd ]] || echo "$2"; }

title() {
    case $1 in
    redis) echo Redis ;;
    postgres) echo PostgreSQL ;;
    bare) echo 'bare C' ;;
    bare-sync) echo 'bare C + sync' ;;
    *) echo "$1" ;;
    esac
}

# --- timerd alone

measure_start() {
    local round binary=${STATIC:-.build/static/release/timerd}
    section 'Start, and the binary'
    for ((round = 0; round < ROUNDS; round++)); do
        start_timerd sqlite "$WORK/empty$round"
        sample start "$(calc '%.1f' "$READY * 1000")"
        stop "$PID"
    done
    figure 'start to first answer, empty' timerd ms start '≤ 50 ms'
    # Only if it is built from these sources.
    if [[ -x $binary && -z $(find Package.swift openapi.yaml Sources -newer "$binary" -print -quit) ]]; then
        strip -o "$WORK/stripped" "$binary"
        sample size "$(calc '%.1f' "$(stat -c %s "$WORK/stripped") / 1e6")"
    fi
    figure 'static-stdlib binary, stripped' timerd MB size '≤ 25 MB'
}

measure_leeway() {
    local part
    section 'Wake-ups, and many due at one instant'
    start_timerd memory "$WORK/none"
    timers wakeups "$PORT" 10000 0 >>"$SAMPLES/leeway-0"
    stop "$PID"
    start_timerd memory "$WORK/none"
    timers wakeups "$PORT" 10000 100 >>"$SAMPLES/leeway-100"
    stop "$PID"
    figure '10,000 timers of 1 s: wake-ups a second' 'no leeway' '' leeway-0
    figure '10,000 timers of 1 s: wake-ups a second' '10 % leeway' '' leeway-100 '≥ 20 ×'
    start_timerd memory "$WORK/none"
    timers herd "$PORT" 20000 4 | tr ' ' '\n' >"$SAMPLES/herd"
    stop "$PID"
    figure '20,000 due at one instant, jitter 4 s: fires in each 250 ms' timerd '' herd even
}

# deliver SAMPLES EXPECTED COUNT SPREAD HOSTS [HANG_EVERY]: fires COUNT timers with webhooks, of which EXPECTED are
# answered.
deliver() {
    local data=$WORK/hooks receiver timerd rate p50 p99
    "$WORK/receiver" "$HOOK_PORT" "$2" "${6:-0}" >"$WORK/delivered" &
    receiver=$!
    STARTED+=("$receiver")
    wait_for_port "$HOOK_PORT"
    start_timerd sqlite "$data"
    timerd=$PID
    timers hooks "$PORT" "$HOOK_PORT" "$3" "$4" "$5"
    timeout 120 tail --pid="$receiver" -f /dev/null || fail "not all of $2 deliveries came"
    wait "$receiver" || fail "the receiver ended: $(<"$WORK/delivered")"
    read -r rate p50 p99 <"$WORK/delivered"
    sample "$1" "$rate"
    sample "$1-p50" "$p50"
    sample "$1-p99" "$p99"
    stop "$timerd" -KILL
    rm -rf "$data"
}

measure_webhooks() {
    section 'Webhooks'
    allow_files 8192 webhooks || return 0
    gcc -O2 -o "$WORK/receiver" Benchmarks/receiver.c
    deliver hooks "$WEBHOOKS" "$WEBHOOKS" 0 1
    deliver hosts $((WEBHOOKS * 9 / 10)) "$WEBHOOKS" 0 1000 10
    deliver paced 8000 8000 8 1
    figure 'deliveries, all due at once, one receiver' timerd /s hooks '≥ 15 k/s'
    figure '– 1,000 hosts, a tenth of which never answer' timerd /s hosts
    figure '1,000/s: from fire to first byte, p50' timerd ms paced-p50
    figure '1,000/s: from fire to first byte, p99' timerd ms paced-p99 '≤ 10 ms'
}

measure_instant() {
    local followers whole durable p50 p99 most before50 before99 before_most get50 get99 get_most
    section "$(millions "$MANY") timers due at one instant"
    for followers in 0 1; do
        start_timerd sqlite "$WORK/instant"
        read -r whole durable p50 p99 most before50 before99 before_most get50 get99 get_most < <(
            python3 Benchmarks/burst.py "$PORT" "$MANY" $followers
        )
        sample "instant-whole-$followers" "$whole"
        sample "instant-durable-$followers" "$(calc '%.0f' "$MANY * 1000 / $durable")"
        sample "instant-p50-$followers" "$p50"
        sample "instant-get50-$followers" "$get50"
        sample "instant-get99-$followers" "$get99"
        sample "instant-before99-$followers" "$before99"
        stop "$PID"
        rm -rf "$WORK/instant"
        figure "$followers streams of all: the last fires after" timerd ms "instant-whole-$followers"
        figure "$followers streams of all: fires, until all are on disk" timerd /s "instant-durable-$followers" '≥ 1 M/s'
        figure "$followers streams of all: lateness p50" timerd ms "instant-p50-$followers"
        figure "$followers streams of all: GET a timer, 400 a second, p50" timerd ms "instant-get50-$followers"
        figure "$followers streams of all: GET a timer, 400 a second, p99" timerd ms "instant-get99-$followers" '≤ 50 ms'
        figure "– in the second before, p99" timerd ms "instant-before99-$followers"
    done
}

# --- The run

# write_report MARK COMMAND
write_report() {
    local docs=docs
    [[ $1 == figures && -z ${PARTS-}${QUICK-} ]] || docs=.build
    mkdir -p "$docs"
    python3 Benchmarks/report.py json "$RECORD" "$(machine)" "$LOAD" >"$docs/bench.json"
    python3 Benchmarks/report.py chart "$RECORD" >"$docs/bench.svg"
    python3 Benchmarks/report.py tables "$RECORD" >"$FIGURES"
    cat "$FIGURES" "$docs/bench.json"
    [[ -n ${PARTS-}${QUICK-} ]] || publish "$1" "$2"
    if [[ $docs == docs ]]; then
        python3 Benchmarks/report.py readme docs/bench.json >"$WORK/readme.md"
        replace_marked README.md figures "$WORK/readme.md"
    fi
    say "$docs/bench.json and $docs/bench.svg have the figures too; it took $SECONDS s"
}

# write_latencies COMMAND
write_latencies() {
    local docs=docs
    [[ -z ${PARTS-}${QUICK-} ]] || docs=.build
    python3 Benchmarks/latency.py chart "$LATENCIES" >"$docs/latency.svg"
    python3 Benchmarks/latency.py tables "$LATENCIES" >"$FIGURES"
    cat "$FIGURES"
    [[ $docs == .build ]] || publish latency "$1"
    say "$docs/latency.svg has the curves; it took $SECONDS s"
}

main() {
    local part mark=figures command='make bench' parts='create slow batch reads commands burst many 10m start'
    if [[ ${1-} == more ]]; then
        mark=more command='make bench-more' parts='10m_peers instant kicks leeway webhooks'
    elif [[ ${1-} == postgres ]]; then
        mark=postgres command='make bench-postgres'
        parts='pg_create pg_recovery pg_takeover pg_starts pg_restart pg_idle pg_kicks pg_foreign pg_forwarded'
    elif [[ ${1-} == latency ]]; then
        mark=latency command='make bench-latency'
        parts='latency_create latency_get latency_commands latency_stream latency_webhook'
    fi
    require_server_ports "the receiver of webhooks=$HOOK_PORT"
    install_tools
    install_peers
    compile_fires
    mkdir "$SAMPLES"
    allow_files 2048 '512 connections' || exit 0
    SECONDS=0
    for part in ${PARTS:-$parts}; do "measure_$part"; done
    if [[ $mark == latency ]]; then write_latencies "$command"; else write_report "$mark" "$command"; fi
}

main "$@"
