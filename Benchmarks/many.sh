# Many timers: their fires, their memory and their recovery, of timerd and its peers. Sourced by run.sh.

# --- Fires

# take_fires PREFIX: the figures of fires.c on standard input, as samples.
take_fires() {
    local rate p50 p99 p999 cpu decided
    read -r rate p50 p99 p999 cpu decided
    sample "$1-rate" "$rate" "$cpu"
    sample "$1-p50" "$p50"
    sample "$1-p99" "$p99"
    sample "$1-p999" "$p999"
    [[ -n $decided ]] || return 0
    read -r p50 p99 p999 <<<"$decided"
    sample "$1-decided-p50" "$p50"
    sample "$1-decided-p99" "$p99"
    sample "$1-decided-p999" "$p999"
}

# timerd_fires PREFIX COUNT SPREAD: makes that many timers and reads their fires.
timerd_fires() {
    read_fires "$PORT" "$2" "$3"
    take_fires "$1" <"$WORK/fired"
}

measure_burst() {
    local name round percent
    section "$((BURST / 1000)) k timers due within 1 s: from the due instant to a client"
    # With -f0 it syncs for each deleted job, one after another; its own default costs it less.
    BEANSTALKD_SYNC=-f50
    start_servers "$WORK/burst"
    for ((round = 0; round < (ROUNDS + 1) / 2; round++)); do
        timerd_fires burst-timerd "$BURST" 1
        for name in redis beanstalkd; do
            has "$name" || continue
            "$WORK/fires" "$name" "${PORTS[$name]}" "$BURST" >"$WORK/fired"
            take_fires "burst-$name" <"$WORK/fired"
        done
    done
    stop_servers
    BEANSTALKD_SYNC=-f0
    rm -rf "$WORK/burst"
    for percent in rate p50 p99 p999; do
        local unit=ms what="lateness p${percent#p}"
        case $percent in
        rate) unit=/s what='fires' ;;
        p999) what='lateness p99.9' ;;
        esac
        figure "$what" timerd $unit "burst-timerd-$percent"
        figure "$what" 'Redis, polled' $unit "burst-redis-$percent"
        figure "$what" beanstalkd $unit "burst-beanstalkd-$percent"
    done
    figure 'lateness of the decision, p50' timerd ms burst-timerd-decided-p50 '≤ 200 ms'
    figure 'lateness of the decision, p99' timerd ms burst-timerd-decided-p99
}

# Measures the running server, and a raw timerfd at the same time.
steady_fires() {
    local count=$((STEADY_A_SECOND * STEADY_SECONDS)) timerfd
    (
        sleep 1
        exec "$WORK/fires" timerfd "$count" "$STEADY_SECONDS"
    ) >"$WORK/raw" &
    timerfd=$!
    STARTED+=("$timerfd")
    timerd_fires steady "$count" "$STEADY_SECONDS"
    wait "$timerfd" || fail "the timerfd was not measured"
    take_fires raw <"$WORK/raw"
}

steady_figures() {
    section "$STEADY_A_SECOND fires/s beside $(millions "$MANY") armed: lateness"
    local percent
    for percent in p50 p99 p999; do
        local target='' what="${percent/999/99.9}"
        case $percent in
        p50) target='≤ 0.1 ms + a commit' ;;
        p99) target='≤ 2 ms + a commit' ;;
        esac
        figure "$what" 'timerd, decision' ms "steady-decided-$percent" "$target"
        figure "$what" 'timerd, at a client' ms "steady-$percent"
        figure "$what" 'raw timerfd' ms "raw-$percent"
    done
}

# --- Many timers

# fill NAME COUNT: fills it as fast as it can; takes the sample fill-NAME-COUNT.
fill() {
    if [[ $1 == timerd ]]; then
        timers fill "$PORT" "$2" >>"$SAMPLES/fill-$1-$2"
    else
        "$WORK/load" make "$2" "$1" "${PORTS[$1]}" 8 1000 >>"$SAMPLES/fill-$1-$2"
    fi
}

# fill_and_weigh NAME COUNT DATA: starts it, fills it, takes the samples memory-…, and log-…, and kills it.
fill_and_weigh() {
    local empty
    start_server "$1" "$3"
    empty=$(resident_kib "${PIDS[$1]}")
    fill "$1" "$2"
    # Waits until it is idle: timerd then gives back the memory that only a load needs.
    sleep 7
    sample "memory-$1-$2" "$(calc '%.1f' "($(resident_kib "${PIDS[$1]}") - $empty) * 1024 / $2")"
    sample "log-$1-$2" "$(calc '%.1f' "$(bytes_of "$3") / $2")"
    sample "empty-$1" "$empty"
    stop_server "$1" -KILL
}

# recover NAME COUNT DATA: starts it on the data it was killed with; takes the samples recovery-… and recovered-….
recover() {
    start_server "$1" "$3"
    local empty
    empty=$(tail -n 1 "$SAMPLES/empty-$1")
    sample "recovery-$1-$2" "$READY"
    sample "recovered-$1-$2" "$(calc '%.1f' "($(resident_kib "${PIDS[$1]}") - $empty) * 1024 / $2")"
}

# many_figures COUNT MEMORY RECOVERY NAME…: with these targets.
many_figures() {
    local name
    for name in "${@:4}"; do
        figure 'memory a timer' "$(title "$name")" B "memory-$name-$1" "$(if_timerd "$name" "$2")"
    done
    figure 'memory a timer after recovery' timerd B "recovered-timerd-$1" "$2"
    for name in "${@:4}"; do
        figure 'recovery after kill -9' "$(title "$name")" s "recovery-$name-$1" "$(if_timerd "$name" "$3")"
    done
    for name in "${@:4}"; do
        figure 'log on disk, a timer' "$(title "$name")" B "log-$name-$1"
    done
}

# idle_cost NAME…: of servers that have nothing to do, all at the same time.
idle_cost() {
    local name
    local -A woken=() cpu=()
    for name; do woken[$name]=$(wakeups "${PIDS[$name]}") cpu[$name]=$(thread_ms "${PIDS[$name]}"); done
    sleep "$IDLE_SECONDS"
    for name; do
        sample "idle-wakeups-$name" "$(calc '%.2f' "($(wakeups "${PIDS[$name]}") - ${woken[$name]}) / $IDLE_SECONDS")"
        sample "idle-cpu-$name" "$(calc '%.4f' "($(thread_ms "${PIDS[$name]}") - ${cpu[$name]}) / $IDLE_SECONDS")"
    done
}

measure_many() {
    local name round
    local -a names=(timerd)
    # With a sync for each job it would take minutes.
    BEANSTALKD_SYNC=-F
    for name in redis beanstalkd; do ! has "$name" || names+=("$name"); done
    for name in "${names[@]}"; do fill_and_weigh "$name" "$MANY" "$WORK/many/$name"; done
    for ((round = 0; round < ROUNDS; round++)); do
        for name in "${names[@]}"; do
            recover "$name" "$MANY" "$WORK/many/$name"
            ((round + 1 == ROUNDS)) || stop_server "$name" -KILL
        done
    done
    sleep 3
    idle_cost "${names[@]}"
    for name in "${names[@]:1}"; do stop_server "$name" -KILL; done
    steady_fires
    stop_servers
    BEANSTALKD_SYNC=-f0
    rm -rf "$WORK/many"
    section "$(millions "$MANY") timers with a payload of 256 bytes"
    many_figures "$MANY" '≤ 420 B' '≤ 0.5 s' timerd redis beanstalkd
    figure 'made by batches of 10,000' timerd /s "fill-timerd-$MANY"
    for name in timerd redis beanstalkd; do
        figure 'idle: wake-ups a second' "$(title "$name")" '' "idle-wakeups-$name" "$(if_timerd "$name" '~ 0')"
    done
    for name in timerd redis beanstalkd; do
        figure 'idle: CPU' "$(title "$name")" 'ms a second' "idle-cpu-$name" "$(if_timerd "$name" '~ 0')"
    done
    steady_figures
}

# very_many NAME…: once each, as it takes minutes.
very_many() {
    local name
    BEANSTALKD_SYNC=-F
    for name; do
        [[ $name == timerd ]] || has "$name" || continue
        fill_and_weigh "$name" "$VERY_MANY" "$WORK/very-many"
        recover "$name" "$VERY_MANY" "$WORK/very-many"
        stop_servers
        rm -rf "$WORK/very-many"
    done
    BEANSTALKD_SYNC=-f0
    section "$(millions "$VERY_MANY") timers with a payload of 256 bytes"
    many_figures "$VERY_MANY" '' '' "$@"
}

measure_10m() { very_many timerd; }

measure_10m_peers() { very_many timerd redis beanstalkd; }
