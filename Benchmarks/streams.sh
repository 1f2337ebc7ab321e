#!/usr/bin/env bash
# Measures timerd's event streams on this machine, in about five minutes, and writes the figures into
# docs/PERFORMANCE.md. Server and clients share the cores, so each figure names the client's share of them.
#
# PARTS names some of the measurements, which are shown and not written; lib.sh has the other settings.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source Benchmarks/lib.sh

readonly BARE_PORT=$((PORT + 1)) STREAMS=10000 FANOUTS=20
readonly FIRES_A_SECOND=20000 FIRES_A_TIMER=20 REPLAYED_FIRES_A_TIMER=100
# Streams beside readers that never read: streams of one timer each, and streams of all.
readonly STALLED=1000 NORMAL=8990 WATCHERS=10 SLOW_FIRES_A_SECOND=2000 SLOW_FIRES_A_TIMER=2
# wrk's pause between requests of a connection, for traffic beside a replay.
readonly LIVE_PAUSE_MS=60
readonly DATA=$WORK/data WAL=$WORK/data/timers.db-wal
readonly WRITTEN_WHILE_HALTED=500000

# --- Figures of a server

cpu_ms() { awk -v hz="$(getconf CLK_TCK)" '{ sub(/.*\) /, ""); print ($12 + $13) * 1000 / hz }' "/proc/$1/stat"; }

slab_kib() { awk '/^Slab/ { print $2 }' /proc/meminfo; }

wal_bytes() { stat -c %s "$WAL"; }

mib() { awk '{ printf "%.0f", $1 / 1048576 }' <<<"$1"; }

WATCH=0

start_watch() {
    # Not through a shell function: the process itself must get the signal.
    python3 Benchmarks/timers.py watch "$PID" "$WAL" >"$WORK/most" &
    WATCH=$!
    STARTED+=("$WATCH")
}

# Sets the maxima since `start_watch`: MOST_KIB of the server's memory, MOST_WAL, bytes of its write-ahead log, and
# MOST_TCP_KIB that the kernel held for the bytes in sockets.
end_watch() {
    kill "$WATCH"
    wait "$WATCH"
    read -r MOST_KIB MOST_WAL MOST_TCP_KIB <"$WORK/most"
}

# --- Idle streams

open_idle() { open_streams idle $PORT "$1" '/v1/events?types=cancelled' '/v1/timers/dog-{}/events'; }

close_idle() {
    tell
    wait "$CLIENT"
    until [[ $(timers metric $PORT timerd_streams) == 0 ]]; do sleep 0.1; done
}

measure_idle() {
    local resident slab idle round get0 post0
    start_timerd sqlite "$DATA"
    timers dogs $PORT $STREAMS
    resident=$(resident_kib "$PID") slab=$(slab_kib)
    open_idle $STREAMS
    resident=$(($(resident_kib "$PID") - resident)) slab=$(($(slab_kib) - slab))
    close_idle
    row "10,000 idle streams, half of all timers, half of one: memory each" \
        "$(calc '%.2f KiB' "$resident / $STREAMS")" "≤ 8 KiB"
    row "– the kernel's, both ends of the connection" "$(calc '%.1f KiB' "$slab / $STREAMS")" ""
    for ((round = 0; round < ROUNDS; round++)); do
        for idle in 0 1000 $STREAMS; do
            ((idle == 0)) || open_idle "$idle"
            wrk_rate $PORT /v1/timers/dog-0 >>"$WORK/get-$idle"
            wrk_rate $PORT /v1/timers Benchmarks/create.lua >>"$WORK/post-$idle"
            ((idle == 0)) || close_idle
        done
    done
    stop "$PID"
    rm -rf "$DATA"
    get0=$(median <"$WORK/get-0") post0=$(median <"$WORK/post-0")
    row "GET a timer, 64 connections, no streams" "$(thousands "$get0")/s" ""
    row_beside get "$get0"
    row "durable POST create, 64 connections, no streams" "$(thousands "$post0")/s" ""
    row_beside post "$post0"
}

# row_beside NAME RATE: the rates beside idle streams, over RATE without.
row_beside() {
    local few many
    few=$(median <"$WORK/$1-1000") many=$(median <"$WORK/$1-$STREAMS")
    row "– beside 1,000 idle streams ($(thousands "$few")/s)" "$(calc '%.2f ×' "$few / $2")" ""
    row "– beside 10,000 idle streams ($(thousands "$many")/s)" "$(calc '%.2f ×' "$many / $2")" "≥ 0.85 ×"
}

# --- One event to all

# one_event FILE ACCEPT: an answer of a stream with one event, as `curl -si` prints it.
one_event() {
    curl -sSi -H "Accept: $2" "http://127.0.0.1:$PORT/v1/events?since=0&types=created&limit=1&follow=false" >"$1"
}

measure_fanout() {
    local p99
    start_timerd sqlite "$DATA"
    fan_out $PORT "$PID" $STREAMS $FANOUTS
    one_event "$WORK/ndjson-answer" application/x-ndjson
    one_event "$WORK/sse-answer" text/event-stream
    stop "$PID"
    rm -rf "$DATA"
    p99=$P99
    row "one event to 10,000 streams, half of them SSE, $FANOUTS times: median p50 / p99" "$P50 / $P99 ms" \
        "p99 ≤ 100 ms"
    row "– worst p99, longest of all; client $CPU s CPU, $SHARE % of a core" "$WORST, $LONGEST ms" ""
    launch "$WORK/fanout" $BARE_PORT "$WORK/ndjson-answer" "$WORK/sse-answer"
    wait_for_port $BARE_PORT
    fan_out $BARE_PORT "$PID" $STREAMS $FANOUTS
    stop "$PID"
    row "– over a bare loop of 10,000 sends ($P50 / $P99 ms; client $CPU s CPU, $SHARE % of a core)" \
        "$(calc '%.2f ×' "$p99 / $P99")" ""
}

# --- Many events, each for one

# row_spread WHAT CPU_MS: of 10,000 streams, after which the server took so much CPU.
row_spread() {
    local p50 p99 most cpu share events=$((STREAMS * FIRES_A_TIMER))
    hear p50 p99 most cpu share
    wait "$CLIENT"
    row "$1" "p50 / p99 / most $p50 / $p99 / $most ms" ""
    row "– CPU for each of these $events events: server; client ($share % of a core)" \
        "$(calc '%.1f; %.1f µs' "($(cpu_ms "$PID") - $2) * 1e3 / $events, $cpu * 1e6 / $events")" ""
}

measure_spread() {
    local before rate
    start_timerd sqlite "$DATA"
    timers dogs $PORT $STREAMS
    open_streams spread $PORT $STREAMS $FIRES_A_TIMER
    before=$(cpu_ms "$PID")
    rate=$(timers fires $PORT $STREAMS $FIRES_A_TIMER $FIRES_A_SECOND)
    row_spread "$(thousands "$rate") fires/s by batches of 500, to 10,000 streams of one timer each: fire to arrival" \
        "$before"
    stop "$PID"
    rm -rf "$DATA"
    start_timerd sqlite "$DATA"
    timers every $PORT $STREAMS $((STREAMS * 1000 / FIRES_A_SECOND)) $FIRES_A_TIMER 8
    open_streams spread $PORT $STREAMS $FIRES_A_TIMER
    before=$(cpu_ms "$PID")
    row_spread "10,000 timers of \`every: 500ms\`, each with a stream of its own: fire to arrival" "$before"
    stop "$PID"
    rm -rf "$DATA"
}

# --- Replay

LIVE=0

# Creates, about a thousand a second, until `end_live`.
start_live() {
    wrk -t1 -c"$CONNECTIONS" -d600s --latency -s Benchmarks/create.lua "http://127.0.0.1:$PORT/v1/timers" \
        -- "$LIVE_PAUSE_MS" >"$WORK/live" &
    LIVE=$!
    STARTED+=("$LIVE")
}

# Sets LIVE_RATE and LIVE_P99, in milliseconds.
end_live() {
    kill -INT "$LIVE"
    wait "$LIVE" || fail "wrk: $(<"$WORK/live")"
    grep -qE 'Non-2xx|Socket errors' "$WORK/live" && fail "creates were refused: $(<"$WORK/live")"
    LIVE_RATE=$(awk '/^Requests\/sec/ { printf "%.0f", $2 }' "$WORK/live")
    LIVE_P99=$(awk '$1 == "99%" { printf "%.1f", $2 * ($2 ~ /us$/ ? 1e-3 : $2 ~ /ms$/ ? 1 : 1e3) }' "$WORK/live")
}

# replay READERS FORMAT
replay() {
    local before after events seconds cpu share server fires=$((STREAMS * REPLAYED_FIRES_A_TIMER))
    before=$(resident_kib "$PID") server=$(cpu_ms "$PID")
    start_watch
    start_live
    start_client replay $PORT "$1" "$2" $fires
    hear events seconds cpu share
    wait "$CLIENT"
    server=$(calc '%.1f' "($(cpu_ms "$PID") - $server) / 1e3")
    end_live
    after=$(resident_kib "$PID")
    end_watch
    row "replay from 0, $1 × ${2^^}, $events events; CPU: server $server s, client $cpu s ($share % of a core)" \
        "$(thousands "$(calc '%f' "$events / $seconds")") events/s" "≥ 200 k/s"
    row "– server's memory before / most / after; write-ahead log at most" \
        "$((before / 1024)) / $((MOST_KIB / 1024)) / $((after / 1024)) MiB; $(mib "$MOST_WAL") MiB" "constant"
    row "– $LIVE_RATE creates/s meanwhile: p99" "$LIVE_P99 ms" ""
}

# One reader stops in the middle of a replay while much is written: a transaction held open would let the write-ahead
# log grow by all of that.
halt() {
    local before written events rest
    start_client halt $PORT $((STREAMS * REPLAYED_FIRES_A_TIMER))
    hear rest
    before=$(wal_bytes) written=$(timers metric $PORT timerd_log_bytes)
    timers fill $PORT $WRITTEN_WHILE_HALTED >/dev/null
    written=$(calc '%f' "$(timers metric $PORT timerd_log_bytes) - $written")
    row "– a replay halts while 500,000 timers are made, $(mib "$written") MiB of log: write-ahead log before / after" \
        "$(mib "$before") / $(mib "$(wal_bytes)") MiB" "no growth"
    tell
    hear events rest
    wait "$CLIENT"
}

measure_replay() {
    local readers format rate
    start_timerd sqlite "$DATA" --retain-events 24h,8GiB
    timers dogs $PORT $STREAMS
    rate=$(timers fires $PORT $STREAMS $REPLAYED_FIRES_A_TIMER 0)
    row "1 M fires made by batches of 10,000" "$(thousands "$rate")/s" ""
    start_live
    sleep "$SECONDS_A_RUN"
    end_live
    row "$LIVE_RATE creates/s without any replay: p99" "$LIVE_P99 ms" ""
    for readers in 1 4; do
        for format in ndjson sse; do replay "$readers" "$format"; done
    done
    halt
    stop "$PID"
    rm -rf "$DATA"
}

# --- Readers that never read

# slow STALLED: sets GROWN, in KiB, P50, P99 and MOST.
slow() {
    local before cpu share
    start_timerd sqlite "$DATA" --max-streams $((STREAMS + 1000))
    timers dogs $PORT $NORMAL
    open_streams spread $PORT $NORMAL $SLOW_FIRES_A_TIMER $WATCHERS "$1"
    before=$(resident_kib "$PID")
    start_watch
    timers fires $PORT $NORMAL $SLOW_FIRES_A_TIMER $SLOW_FIRES_A_SECOND >/dev/null
    hear P50 P99 MOST cpu share
    wait "$CLIENT"
    end_watch
    GROWN=$((MOST_KIB - before))
    stop "$PID"
    rm -rf "$DATA"
}

measure_slow() {
    local grown tcp
    slow 0
    grown=$GROWN tcp=$MOST_TCP_KIB
    row "2,000 fires/s to 8,990 streams of one timer and 10 of all: p50 / p99 / most" "$P50 / $P99 / $MOST ms" ""
    slow $STALLED
    row "– beside 1,000 streams of all fires that nobody reads" "$P50 / $P99 / $MOST ms" "the same"
    row "– memory that each of these took" "$(calc '%.1f KiB' "($GROWN - $grown) / $STALLED")" "bounded"
    row "– the kernel's, for bytes that are not read" "$(calc '%.1f KiB' "($MOST_TCP_KIB - $tcp) / $STALLED")" "bounded"
}

main() {
    require_ports "timerd=$PORT" "bare=$BARE_PORT"
    install_tools
    compile_streams
    gcc -O2 -o "$WORK/fanout" Benchmarks/fanout.c
    allow_files $((STREAMS + 2000)) streams || exit 0
    printf '| what | measured | target |\n|---|---|---|\n' >"$FIGURES"
    local part
    for part in ${PARTS:-idle fanout spread replay slow}; do "measure_$part"; done
    [[ -n ${PARTS-} ]] || publish streams 'make bench-streams'
}

main "$@"
