#!/usr/bin/env bash
# How late timers fire by each alarm of `timerd serve --alarm`: two servers run at once, each with its own data, and are measured
# in turn, so that other work of the machine affects both alike. Prints medians over the rounds, and the least and the most.
#
#   Benchmarks/alarms.sh [BINARY]       the release build unless named
#
# ROUNDS says how often; RATE how many timers are due a second, for RUN_SECONDS: at 200 a second nearly each timer has a waking of
# its own. TIMERS says how many more are armed, due in 30 days.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
ROUNDS=${ROUNDS:-9} TIMERD=${1:-.build/release/timerd}
source Benchmarks/lib.sh
readonly RATE=${RATE:-200} RUN_SECONDS=${RUN_SECONDS:-5} TIMERS=${TIMERS:-100000}
readonly -A AT=([timerfd]=$PORT [dispatch]=$((PORT + 1)))

# start_alarm NAME: a server that is woken by it.
start_alarm() {
    local started
    mkdir -p "$WORK/$1"
    started=$(timers start "${AT[$1]}" "$WORK/servers.log" \
        "$TIMERD" serve --listen "127.0.0.1:${AT[$1]}" --data "$WORK/$1" --alarm "$1") || fail "$(tail "$WORK/servers.log")"
    read -r PID _ <<<"$started"
    STARTED+=("$PID")
    timers fill "${AT[$1]}" "$TIMERS" >/dev/null
}

# measure NAME: notes how late its fires are at a client and how late they were decided.
measure() {
    local count=$((RATE * RUN_SECONDS)) client
    "$WORK/fires" timerd "${AT[$1]}" "$count" >"$WORK/fired" &
    client=$!
    STARTED+=("$client")
    timers due "${AT[$1]}" "$count" "$RUN_SECONDS"
    wait "$client" || fail "fires were not read"
    echo "$1 $(tr '\n' ' ' <"$WORK/fired")" >>"$WORK/rounds"
}

require_ports "timerd with timerfd=${AT[timerfd]}" "timerd with dispatch=${AT[dispatch]}"
install_tools
gcc -O2 -o "$WORK/fires" Benchmarks/fires.c Benchmarks/protocol.c Benchmarks/stream.c
for name in timerfd dispatch; do start_alarm "$name"; done
for ((round = 0; round < ROUNDS; round++)); do
    if ((round % 2)); then order='dispatch timerfd'; else order='timerfd dispatch'; fi
    for name in $order; do measure "$name"; done
done
echo "$RATE fires/s for $RUN_SECONDS s, $ROUNDS rounds, $TIMERS timers more; load of the machine before: $LOAD"
python3 - "$WORK/rounds" <<'PYTHON'
import collections, statistics, sys
rounds = collections.defaultdict(list)
for line in open(sys.argv[1]):
    name, _, *rest = line.split()
    p50, p99, p999, _, *decided = map(float, rest)
    for what, figures in (("decision", decided), ("at a client", (p50, p99, p999))):
        for percentile, figure in zip(("p50", "p99", "p99.9"), figures):
            rounds[what, percentile, name].append(figure)
print("| lateness | timerfd | dispatch |\n|---|---|---|")
for what, percentile in dict.fromkeys(key[:2] for key in rounds):
    cells = [rounds[what, percentile, name] for name in ("timerfd", "dispatch")]
    shown = (f"{statistics.median(cell):.3f} ms ({min(cell):.3f} – {max(cell):.3f})" for cell in cells)
    print(f"| {what}, {percentile} | {' | '.join(shown)} |")
PYTHON
