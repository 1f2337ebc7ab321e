#!/usr/bin/env bash
# Measures timerd against a bare libmicrohttpd server, Redis and beanstalkd on this machine, in about eight minutes, and
# writes the figures into docs/PERFORMANCE.md. Absolute figures belong to the machine; the ratios are what to compare.
#
# PARTS names some of the measurements, which are shown and not written; lib.sh has what else can be set.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source Benchmarks/lib.sh

readonly BARE_PORT=18081 SYNC_PORT=18082 REDIS_PORT=18083 BEANSTALKD_PORT=18084 HOOK_PORT=18085
readonly MANY_TIMERS=1000000 STREAMS=10000

# --- What is needed

install_packages() {
    install_tools
    command -v redis-server >/dev/null || apt_install redis-server || say "no redis-server here: not compared"
    command -v beanstalkd >/dev/null || apt_install beanstalkd || say "no beanstalkd here: not compared"
}

compile() {
    gcc -O2 -o "$WORK/bare" Benchmarks/bare.c -lmicrohttpd -lpthread
    gcc -O2 -o "$WORK/peers" Benchmarks/peers.c
    compile_streams
    gcc -O2 -o "$WORK/receiver" Benchmarks/receiver.c
}

# --- Measurements

measure_requests() {
    local data=$WORK/requests id get_path
    start_timerd sqlite "$data"
    local timerd=$PID
    local body='{"after":"30d","payload":"'$(printf 'x%.0s' {1..254})'"}'
    curl -sSi -H 'Content-Type: application/json' -d "$body" "http://127.0.0.1:$PORT/v1/timers" >"$WORK/post-answer"
    id=$(tr -d '\r' <"$WORK/post-answer" | sed -n 's/^[Ll]ocation: //p')
    get_path=$id
    curl -sSi "http://127.0.0.1:$PORT$get_path" >"$WORK/get-answer"
    launch "$WORK/bare" $BARE_PORT "$WORK/get-answer" "$WORK/post-answer"
    launch "$WORK/bare" $SYNC_PORT "$WORK/get-answer" "$WORK/post-answer" "$WORK/bare-log"
    wait_for_port $BARE_PORT
    wait_for_port $SYNC_PORT
    local name
    for ((round = 0; round < ROUNDS; round++)); do
        wrk_rate $BARE_PORT "$get_path" >>"$WORK/get-bare"
        wrk_rate $PORT "$get_path" >>"$WORK/get-timerd"
        wrk_rate $BARE_PORT /v1/timers Benchmarks/create.lua >>"$WORK/post-bare"
        wrk_rate $PORT /v1/timers Benchmarks/create.lua >>"$WORK/post-timerd"
        wrk_rate $SYNC_PORT /v1/timers Benchmarks/create.lua >>"$WORK/post-sync"
    done
    stop "$timerd"
    for name in get-bare get-timerd post-bare post-timerd post-sync; do median <"$WORK/$name" >"$WORK/$name.median"; done
    local get post get_bare post_bare post_sync
    get=$(<"$WORK/get-timerd.median") post=$(<"$WORK/post-timerd.median")
    get_bare=$(<"$WORK/get-bare.median") post_bare=$(<"$WORK/post-bare.median") post_sync=$(<"$WORK/post-sync.median")
    row "durable POST create, 64 connections" "$(thousands "$post")/s" ""
    row "– over bare C, no disk ($(thousands "$post_bare")/s)" "$(calc '%.2f ×' "$post / $post_bare")" "≥ 0.6 ×"
    row "– over bare C with grouped fdatasync ($(thousands "$post_sync")/s)" "$(calc '%.2f ×' "$post / $post_sync")" ""
    row "GET a timer, 64 connections" "$(thousands "$get")/s" ""
    row "– over bare C ($(thousands "$get_bare")/s)" "$(calc '%.2f ×' "$get / $get_bare")" "≥ 0.85 ×"
}

start_redis() {
    rm -rf "$WORK/redis"
    mkdir "$WORK/redis"
    launch redis-server --port $REDIS_PORT --bind 127.0.0.1 --dir "$WORK/redis" --save '' --appendonly yes \
        --appendfsync always
    wait_for_port $REDIS_PORT
}

start_beanstalkd() {
    rm -rf "$WORK/beanstalkd"
    mkdir "$WORK/beanstalkd"
    launch beanstalkd -l 127.0.0.1 -p $BEANSTALKD_PORT -b "$WORK/beanstalkd" -f0 -u "$(id -un)"
    wait_for_port $BEANSTALKD_PORT
}

measure_peers() {
    local post batch redis redis_pipelined beanstalkd
    post=$(<"$WORK/post-timerd.median")
    if command -v redis-server >/dev/null; then
        start_redis
        for ((round = 0; round < ROUNDS; round++)); do
            "$WORK/peers" redis $REDIS_PORT $CONNECTIONS 1 60000 >>"$WORK/redis"-one
            "$WORK/peers" redis $REDIS_PORT 8 64 200000 >>"$WORK/redis"-pipelined
        done
        stop "$PID"
        redis=$(median <"$WORK/redis-one")
        redis_pipelined=$(median <"$WORK/redis-pipelined")
        row "– over Redis HSET+ZADD, appendfsync always ($(thousands "$redis")/s)" \
            "$(calc '%.2f ×' "$post / $redis")" "≥ 1.0 ×"
    fi
    if command -v beanstalkd >/dev/null; then
        start_beanstalkd
        for ((round = 0; round < ROUNDS; round++)); do
            "$WORK/peers" beanstalkd $BEANSTALKD_PORT $CONNECTIONS 1 20000 >>"$WORK/beanstalkd-one"
        done
        stop "$PID"
        beanstalkd=$(median <"$WORK/beanstalkd-one")
        row "– over beanstalkd put, -f0 ($(thousands "$beanstalkd")/s)" "$(calc '%.2f ×' "$post / $beanstalkd")" "≥ 2 ×"
    fi
    start_timerd sqlite "$WORK/batch"
    for ((round = 0; round < ROUNDS; round++)); do
        wrk_rate $PORT '/v1/timers/batch?results=brief' Benchmarks/batch.lua >>"$WORK/batch-timerd"
    done
    stop "$PID"
    rm -rf "$WORK/batch"
    batch=$(calc '%.0f' "100 * $(median <"$WORK/batch-timerd")")
    row "batch create, 100 a request" "$(thousands "$batch") timers/s" "≥ 400 k/s"
    if [[ -n ${redis_pipelined-} ]]; then
        row "– over Redis, 8 connections, 64 deep ($(thousands "$redis_pipelined")/s)" \
            "$(calc '%.2f ×' "$batch / $redis_pipelined")" "≥ 3 ×"
    fi
}

measure_many() {
    local empty full rate
    start_timerd memory "$WORK/none"
    empty=$(resident_kib "$PID")
    timers fill $PORT $MANY_TIMERS >/dev/null
    full=$(resident_kib "$PID")
    row "memory a timer, 1 M timers, 256 B payload, memory store (its log included)" \
        "$(calc '%.0f B' "($full - $empty) * 1024 / $MANY_TIMERS")" ""
    stop "$PID"
    start_timerd sqlite "$WORK/many"
    empty=$(resident_kib "$PID")
    rate=$(timers fill $PORT $MANY_TIMERS)
    sleep 1
    full=$(resident_kib "$PID")
    row "memory a timer, 1 M timers, 256 B payload, SQLite store" \
        "$(calc '%.0f B' "($full - $empty) * 1024 / $MANY_TIMERS")" "≤ 420 B"
    row "1 M timers made, 10,000 a request" "$(thousands "$rate") timers/s" ""
    stop "$PID" -KILL
    for ((round = 0; round < ROUNDS; round++)); do
        start_timerd sqlite "$WORK/many"
        echo "$READY" >>"$WORK/recovery"
        full=$(resident_kib "$PID")
        stop "$PID" -KILL
    done
    row "recovery of those 1 M timers after kill -9, start to readyz 200, page cache warm" \
        "$(calc '%.2f s' "$(median <"$WORK/recovery")")" "≤ 0.5 s"
    row "memory a timer after recovery" "$(calc '%.0f B' "($full - $empty) * 1024 / $MANY_TIMERS")" "≤ 420 B"
    rm -rf "$WORK/many"
    for ((round = 0; round < ROUNDS; round++)); do
        start_timerd sqlite "$WORK/empty$round"
        echo "$READY" >>"$WORK/start"
        stop "$PID"
    done
    row "start to first answer, empty" "$(calc '%.0f ms' "$(median <"$WORK/start") * 1000")" "≤ 50 ms"
}

measure_fires() {
    local p50 p99
    start_timerd sqlite "$WORK/fires"
    read -r p50 p99 < <(timers late $PORT 200000 1)
    row "200 k timers due within 1 s: lateness p50 / p99" "$p50 / $p99 ms" "p50 ≤ 200 ms"
    timers fill $PORT 200000 >/dev/null
    read -r p50 p99 < <(timers late $PORT 8000 8)
    row "1000 fires/s, 200 k armed: lateness p50 / p99" "$p50 / $p99 ms" \
        "p50 ≤ 0.1, p99 ≤ 2 ms, each + one commit"
    stop "$PID"
    rm -rf "$WORK/fires"
}

measure_burst() {
    local followers whole p50 p99 most before50 before99 before_most get50 get99 get_most
    for followers in 0 1; do
        start_timerd sqlite "$WORK/burst"
        read -r whole p50 p99 most before50 before99 before_most get50 get99 get_most < <(
            python3 Benchmarks/burst.py $PORT $MANY_TIMERS $followers
        )
        row "1 M timers due at one instant, $followers streams of all: the last fires after" "$whole ms" "none lost"
        row "– lateness p50 / p99 / most" "$p50 / $p99 / $most ms" ""
        row "– GET a timer, 400 a second: p50 / p99 / most" "$get50 / $get99 / $get_most ms" "p99 ≤ 50 ms"
        row "– in the second before" "$before50 / $before99 / $before_most ms" ""
        stop "$PID"
        rm -rf "$WORK/burst"
    done
}

measure_watchdogs() {
    local round name rate half end
    start_timerd sqlite "$WORK/dogs"
    timers dogs $PORT 10000
    for ((round = 0; round < ROUNDS; round++)); do
        wrk_rate $PORT / Benchmarks/command.lua kick >>"$WORK/kick"
        wrk_rate $PORT / Benchmarks/command.lua get >>"$WORK/kick-get"
        wrk_rate $PORT / Benchmarks/command.lua fire >>"$WORK/kick-fire"
    done
    for name in kick kick-get kick-fire; do median <"$WORK/$name" >"$WORK/$name.median"; done
    row "kick, 64 connections" "$(thousands "$(<"$WORK/kick.median")")/s" ""
    row "– over GET of the same watchdogs ($(thousands "$(<"$WORK/kick-get.median")")/s)" \
        "$(calc '%.2f ×' "$(<"$WORK/kick.median") / $(<"$WORK/kick-get.median")")" ""
    row "– over fire, a command with an event ($(thousands "$(<"$WORK/kick-fire.median")")/s)" \
        "$(calc '%.2f ×' "$(<"$WORK/kick.median") / $(<"$WORK/kick-fire.median")")" "≥ 1 ×"
    read -r rate half end < <(timers kicks $PORT 10000 20)
    row "kicks by batch for 20 s: rate; log after 10 and 20 s" "$(thousands "$rate")/s; $half, $end MB" \
        "≥ 50 k/s; no growth"
    stop "$PID"
    rm -rf "$WORK/dogs"
}

measure_leeway() {
    local without with least mean most
    start_timerd memory "$WORK/none"
    without=$(timers wakeups $PORT 10000 0)
    stop "$PID"
    start_timerd memory "$WORK/none"
    with=$(timers wakeups $PORT 10000 100)
    stop "$PID"
    row "wake-ups a second for 10,000 timers of 1 s: without, with 10 % leeway" "$without, $with" ""
    row "– saving" "$(calc '%.0f ×' "$without / $with")" "≥ 20 ×"
    start_timerd memory "$WORK/none"
    read -r least mean most < <(timers herd $PORT 20000 4)
    row "20,000 timers due at one instant, jitter 4 s: fires in each 250 ms, least / mean / most" \
        "$least / $mean / $most" "even"
    stop "$PID"
}

measure_streams() {
    allow_files $((STREAMS + 1000)) streams || return 0
    start_timerd memory "$WORK/none"
    fan_out "$PORT" "$PID" $STREAMS 1
    row "10 k idle streams: memory each" "$KIB_A_STREAM KiB" "≤ 8 KiB"
    row "one event to all of them: p50 / p99" "$P50 / $P99 ms" "p99 ≤ 100 ms"
    stop "$PID"
}

# deliver EXPECTED COUNT SPREAD HOSTS [HANG_EVERY]: fires COUNT timers with webhooks and sets RATE, P50 and P99 of the
# EXPECTED that are answered.
deliver() {
    local data=$WORK/hooks receiver timerd
    "$WORK/receiver" $HOOK_PORT "$1" "${5:-0}" >"$WORK/delivered" &
    receiver=$!
    STARTED+=("$receiver")
    wait_for_port $HOOK_PORT
    start_timerd sqlite "$data"
    timerd=$PID
    timers hooks $PORT $HOOK_PORT "$2" "$3" "$4"
    timeout 120 tail --pid="$receiver" -f /dev/null || fail "not all of $1 deliveries came"
    wait "$receiver" || fail "the receiver ended: $(<"$WORK/delivered")"
    read -r RATE P50 P99 <"$WORK/delivered"
    stop "$timerd" -KILL
    rm -rf "$data"
}

measure_webhooks() {
    allow_files 8192 webhooks || return 0
    deliver 100000 100000 0 1
    row "webhooks of 100 k timers due at once, one receiver" "$(thousands "$RATE") deliveries/s" ""
    deliver 90000 100000 0 1000 10
    row "– 1,000 hosts, a tenth of which never answer: deliveries to the others" "$(thousands "$RATE") deliveries/s" ""
    deliver 8000 8000 8 1
    row "1000 webhooks/s: from fire to first byte at the receiver, p50 / p99" "$P50 / $P99 ms" ""
}

measure_size() {
    local binary=$WORK/stripped
    [[ -x ${STATIC:-.build/static/release/timerd} ]] || return 0
    strip -o "$binary" "${STATIC:-.build/static/release/timerd}"
    row "static-stdlib binary, stripped" "$(calc '%.1f MB' "$(stat -c %s "$binary") / 1e6")" "≤ 25 MB"
}

main() {
    install_packages
    compile
    local part
    for part in ${PARTS:-requests peers many fires burst watchdogs leeway streams webhooks size}; do "measure_$part"; done
    [[ -n ${PARTS-} ]] || publish figures 'make bench'
}

main "$@"
