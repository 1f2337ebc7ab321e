# Latencies at constant rates, of timerd and its peers: an open loop asks whether answers come or not, and a latency counts
# from the instant at which the request was to be sent. Sourced by run.sh; latency.py makes tables and curves of it.

readonly LATENCIES=$WORK/latencies OPEN_CONNECTIONS=128 OPEN_SECONDS=${OPEN_SECONDS:-3}
read -ra RATES <<<"${RATES:-1000 5000 20000 40000}"
readonly RATES

# latency WHAT WHO LABEL RATE P50 P99 P99.9 MOST
latency() { printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$@" | tee -a "$LATENCIES" >&2; }

# open_loop WHAT NAME [COMMAND…]: finds the server's peak in a closed loop of 64 connections, then runs it at each of RATES
# that is below nine tenths of that, and at a half and four fifths of it.
open_loop() {
    local peak rate label protocol=$2 reached p50 p99 p999 most
    [[ $2 != bare* ]] || protocol=timerd
    read -r peak _ < <("$WORK/load" for "$LOAD_SECONDS" "$protocol" "${PORTS[$2]}" 64 1 "${@:3}")
    for label in "${RATES[@]}" 'half of peak' 'four fifths of peak'; do
        case $label in
        half*) rate=$(calc '%.0f' "$peak * 0.5") ;;
        four*) rate=$(calc '%.0f' "$peak * 0.8") ;;
        *) rate=$label ;;
        esac
        (($(calc '%d' "$rate < 0.9 * $peak"))) || continue
        read -r reached _ p50 p99 p999 most < <(
            "$WORK/load" at "$rate" "$OPEN_SECONDS" "$protocol" "${PORTS[$2]}" "$OPEN_CONNECTIONS" "${@:3}"
        )
        latency "$1" "$(title "$2")" "$label" "$reached" "$p50" "$p99" "$p999" "$most"
    done
}

measure_latency_create() {
    local round name
    start_servers "$WORK/create"
    start_bare
    for ((round = 0; round < ROUNDS; round++)); do
        for name in "${SERVERS[@]}" bare-sync; do open_loop 'Durable create' "$name"; done
    done
    stop_servers
    rm -rf "$WORK/create"
}

measure_latency_get() {
    local round
    start_server timerd "$WORK/reads"
    timers due "$PORT" 100000 $((30 * 86400))
    start_bare
    for ((round = 0; round < ROUNDS; round++)); do
        open_loop 'GET a timer' timerd "$GET_PATH"
        open_loop 'GET a timer' bare "$GET_PATH"
    done
    stop_servers
    rm -rf "$WORK/reads"
}

measure_latency_commands() {
    local round
    start_server timerd "$WORK/commands"
    timers dogs "$PORT" $((OPEN_CONNECTIONS * 100))
    for ((round = 0; round < ROUNDS; round++)); do
        open_loop 'suspend, resume in turn' timerd suspend resume
        open_loop 'kick' timerd kick
    done
    stop_servers
    rm -rf "$WORK/commands"
}

# fires_at NAME RATE: of timers that are due within OPEN_SECONDS, or, of a peer's, within one second.
fires_at() {
    local reached p50 p99 p999
    if [[ $1 == timerd ]]; then
        timerd_fires "fires-$2" $(($2 * OPEN_SECONDS)) "$OPEN_SECONDS"
    else
        "$WORK/fires" "$1" "${PORTS[$1]}" "$2" >"$WORK/fired"
    fi
    read -r reached p50 p99 p999 _ <"$WORK/fired"
    latency 'Fire, to a client' "$(title "$1")" "$2" "$reached" "$p50" "$p99" "$p999" ''
}

# Not beside beanstalkd: its jobs become ready at whole seconds, so all of them at once.
measure_latency_stream() {
    local round name rate
    start_servers "$WORK/fires-at"
    for ((round = 0; round < ROUNDS; round++)); do
        for name in timerd redis; do
            has "$name" || [[ $name == timerd ]] || continue
            for rate in "${RATES[@]}"; do fires_at "$name" "$rate"; done
        done
    done
    stop_servers
    rm -rf "$WORK/fires-at"
}

# From the instant of the fire to the first byte; `make bench-more` has the peak.
measure_latency_webhook() {
    local round rate reached p50 p99
    allow_files 8192 webhooks || return 0
    gcc -O2 -o "$WORK/receiver" Benchmarks/receiver.c
    for ((round = 0; round < ROUNDS; round++)); do
        for rate in "${RATES[@]}"; do
            ((rate <= 10000)) || continue
            deliver "paced-$rate" $((rate * OPEN_SECONDS)) $((rate * OPEN_SECONDS)) "$OPEN_SECONDS" 1
            read -r reached p50 p99 <"$WORK/delivered"
            latency 'Fire, to a webhook' timerd "$rate" "$reached" "$p50" "$p99" '' ''
        done
    done
}
