#!/usr/bin/env bash
# Compares two builds of timerd: both run at once, each with its own data, and are measured in turn, so that
# other work of the machine affects both alike. Prints the ratio new ÷ old of each round's pair: for rates more is better, for
# times and memory less.
#
#   Benchmarks/compare.sh OLD [NEW]     two binaries; NEW is the release build unless named
#
# ROUNDS and LOAD_SECONDS say how often and how long; COUNT how many timers recovery and memory are measured with, BURST how many
# fire within a second; PARTS names some of: create batch reads commands burst many start. STORE=postgres gives each build a
# database of its own in one PostgreSQL; recovery, memory and start are not measured there, as a killed server's lease has to run
# out first.
set -euo pipefail
readonly OLD=$(realpath "${1:?usage: compare.sh OLD [NEW]}") NEW=$(realpath "${2:-.build/release/timerd}")
cd "$(dirname "${BASH_SOURCE[0]}")/.."
ROUNDS=${ROUNDS:-9} TIMERD=$NEW
source Benchmarks/lib.sh
source Benchmarks/servers.sh
readonly STORE=${STORE:-sqlite}
readonly LOAD_SECONDS=${LOAD_SECONDS:-1} COUNT=${COUNT:-300000} BURST=${BURST:-200000} RATIOS=$WORK/ratios
readonly -A BINARIES=([old]=$OLD [new]=$NEW) AT=([old]=$PORT [new]=$((PORT + 1)))
declare -A VALUES=()

# start_build NAME DATA: sets PIDS[NAME] and READY. In PostgreSQL the name of DATA's folder is the name of the database.
start_build() {
    local started uri=postgres://postgres@127.0.0.1:${PORTS[postgres]}
    local -a store=(--data "$2")
    if [[ $STORE == postgres ]]; then
        psql -q "$uri/postgres" -c "CREATE DATABASE \"${2##*/}\""
        store=(--store "$uri/${2##*/}" --migrate)
    else
        mkdir -p "$2"
    fi
    started=$(timers start "${AT[$1]}" "$WORK/servers.log" \
        "${BINARIES[$1]}" serve --listen "127.0.0.1:${AT[$1]}" "${store[@]}") || fail "$(tail "$WORK/servers.log")"
    read -r PID READY <<<"$started"
    PIDS[$1]=$PID
    STARTED+=("$PID")
}

start_both() {
    start_build old "$WORK/$1-old"
    start_build new "$WORK/$1-new"
}

stop_both() {
    stop "${PIDS[old]}"
    stop "${PIDS[new]}"
    rm -rf "$WORK/$1-old" "$WORK/$1-new"
}

# in_turn ROUND: the builds in the order of that round.
in_turn() { if (($1 % 2)); then echo new old; else echo old new; fi; }

# pair WHAT BETTER: notes what this round gave both.
pair() { echo "$1	$2	${VALUES[old]}	${VALUES[new]}" >>"$RATIOS"; }

# rates ROUND WHAT CONNECTIONS BATCH [COMMAND…]: a run of each build.
rates() {
    local name rate
    for name in $(in_turn "$1"); do
        read -r rate _ < <("$WORK/load" for "$LOAD_SECONDS" timerd "${AT[$name]}" "${@:3}")
        VALUES[$name]=$rate
    done
    pair "$2" more
}

measure_create() {
    local round connections
    start_both create
    for ((round = 0; round < ROUNDS; round++)); do
        for connections in 1 8 64 512; do rates "$round" "create, $connections connections" "$connections" 1; done
    done
    stop_both create
}

measure_batch() {
    local round size
    start_both batch
    for ((round = 0; round < ROUNDS; round++)); do
        for size in 100 1000; do rates "$round" "batches of $size, 8 connections" 8 "$size"; done
    done
    stop_both batch
}

measure_reads() {
    local round name body='{"id":"read","after":"30d","payload":"'$(printf 'x%.0s' {1..254})'"}'
    start_both reads
    for name in old new; do
        timers due "${AT[$name]}" 100000 $((30 * 86400))
        curl -sSf -o /dev/null -H 'Content-Type: application/json' -d "$body" "http://127.0.0.1:${AT[$name]}/v1/timers"
    done
    for ((round = 0; round < ROUNDS; round++)); do
        rates "$round" 'GET, 64 connections' 64 1 /v1/timers/read
        rates "$round" 'list page of 100' 64 1 '/v1/timers?limit=100'
        rates "$round" 'list page of 100, soonest due' 64 1 '/v1/timers?limit=100&sort=nextFireAt'
    done
    stop_both reads
}

measure_commands() {
    local round name
    start_both commands
    for name in old new; do timers dogs "${AT[$name]}" 10000; done
    for ((round = 0; round < ROUNDS; round++)); do
        rates "$round" 'suspend, resume in turn' 64 1 suspend resume
        rates "$round" 'kick' 64 1 kick
        rates "$round" 'fire, with event' 64 1 fire
    done
    stop_both commands
}

# Each round has servers of its own: what fired stays in memory and in the log.
measure_burst() {
    local round name p99
    for ((round = 0; round < ROUNDS; round++)); do
        start_both "burst-$round"
        for name in $(in_turn "$round"); do
            read_fires "${AT[$name]}" "$BURST" 1
            read -r _ _ p99 _ <"$WORK/fired"
            VALUES[$name]=$p99
        done
        stop_both "burst-$round"
        pair "ms from due to a client, p99 of $BURST fires within a second" less
    done
}

measure_many() {
    local round name
    start_both many
    for name in old new; do timers fill "${AT[$name]}" "$COUNT" >/dev/null; done
    sleep 7
    for name in old new; do VALUES[$name]=$(resident_kib "${PIDS[$name]}"); done
    pair "KiB with $COUNT timers" less
    for ((round = 0; round < ROUNDS; round++)); do
        for name in $(in_turn "$round"); do
            stop "${PIDS[$name]}" -KILL
            start_build "$name" "$WORK/many-$name"
            VALUES[$name]=$READY
        done
        pair "seconds of recovery, $COUNT timers" less
    done
    stop_both many
}

measure_start() {
    local round name
    for ((round = 0; round < ROUNDS; round++)); do
        for name in $(in_turn "$round"); do
            start_build "$name" "$WORK/start-$round-$name"
            stop "$PID"
            VALUES[$name]=$READY
        done
        pair 'seconds from start to ready, empty' less
    done
}

require_ports "the old build=${AT[old]}" "the new build=${AT[new]}" "postgres=${PORTS[postgres]}"
install_tools
allow_files 2048 '512 connections'
gcc -O2 -o "$WORK/load" Benchmarks/load.c Benchmarks/protocol.c
compile_fires
parts=${PARTS:-create batch reads commands burst many start}
if [[ $STORE == postgres ]]; then
    # PostgreSQL runs as a user of its own, which must be able to reach its data.
    umask 022
    chmod 711 "$WORK"
    start_server postgres "$WORK/pg"
    parts=${PARTS:-create batch reads commands burst}
fi
for part in $parts; do "measure_$part"; done
python3 - "$RATIOS" <<'PYTHON'
import collections, statistics, sys
rows = collections.defaultdict(list)
for line in open(sys.argv[1]):
    what, better, *values = line.rstrip("\n").split("\t")
    rows[what, better].append(tuple(map(float, values)))
print("| what | old | new | new ÷ old | min – max | better is |\n|---|---|---|---|---|---|")
for (what, better), pairs in rows.items():
    ratios = [new / old for old, new in pairs]
    old, new = (statistics.median(values) for values in zip(*pairs))
    print(f"| {what} | {old:.4g} | {new:.4g} | {statistics.median(ratios):.3f} | {min(ratios):.2f} – {max(ratios):.2f} | {better} |")
PYTHON
