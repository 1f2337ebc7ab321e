# timerd on PostgreSQL beside SQLite's store and beside plain INSERTs into the same PostgreSQL. Sourced by run.sh; what
# ends servers or looks into the database is cluster.py.
#
# MINUTES is the length of the measurements that show a slope, TIMES how often a server is killed or
# restarted, IDLE_NODE_SECONDS how long one is left alone.

readonly MINUTES=${MINUTES:-10} TIMES=${TIMES:-10} IDLE_NODE_SECONDS=${IDLE_NODE_SECONDS:-30}
readonly MARGIN_MS=1000

# cluster MEASUREMENT ARGUMENT…: takes the samples that cluster.py prints.
cluster() {
    local name values
    TIMERD_BINARY=$TIMERD .venv/bin/python Benchmarks/cluster.py "$@" >"$WORK/cluster" || fail "cluster.py $* failed"
    while read -r name values; do
        # shellcheck disable=SC2086
        sample "$name" $values
    done <"$WORK/cluster"
}

# servers_ms NAME: the CPU of the servers that take part when NAME is measured.
servers_ms() {
    local sum=0
    [[ $1 != timerd* ]] || sum=$(family_ms "${PIDS[$1]}")
    [[ $1 != *postgres ]] || sum=$((sum + $(family_ms "${PIDS[postgres]}")))
    echo "$sum"
}

# load_and_weigh SAMPLES NAME CONNECTIONS BATCH: run_load, and in the samples cpu-… the microseconds of CPU that each timer took
# of the servers: that ratio hardly depends on who else uses the machine.
load_and_weigh() {
    local before rate
    before=$(servers_ms "$2")
    run_load "$@"
    # Connections that the load has closed are still ending.
    sleep 0.3
    read -r rate _ < <(tail -n 1 "$SAMPLES/$1")
    sample "cpu-$1" "$(calc '%.3f' "($(servers_ms "$2") - $before) * 1000 / ($rate * $LOAD_SECONDS)")"
}

measure_pg_create() {
    local round name
    section 'Durable create on PostgreSQL'
    start_server postgres "$WORK/pg"
    start_server timerd-postgres "$WORK/pg-none"
    start_server timerd "$WORK/pg-sqlite"
    for ((round = 0; round < ROUNDS; round++)); do
        for name in timerd-postgres postgres timerd; do load_and_weigh "pg-create-$name" "$name" 64 1; done
        for name in timerd-postgres postgres timerd; do load_and_weigh "pg-batch-$name" "$name" 8 100; done
    done
    stop_servers
    rm -rf "$WORK/pg" "$WORK/pg-sqlite"
    figure 'one a request, 64 connections' 'timerd on PostgreSQL' /s pg-create-timerd-postgres
    figure 'one a request, 64 connections' 'INSERT of a row' /s pg-create-postgres '≥ 1.5 ×'
    figure 'one a request, 64 connections' 'timerd on SQLite' /s pg-create-timerd '≥ 0.6 ×'
    figure '– CPU of the servers for each' 'timerd on PostgreSQL' µs cpu-pg-create-timerd-postgres
    figure '– CPU of the servers for each' 'INSERT of a row' µs cpu-pg-create-postgres
    figure '– CPU of the servers for each' 'timerd on SQLite' µs cpu-pg-create-timerd
    figure '100 a request, 8 connections: timers' 'timerd on PostgreSQL' /s pg-batch-timerd-postgres
    figure '100 a request, 8 connections: timers' 'INSERT of 100 rows' /s pg-batch-postgres '≥ 0.8 ×'
    figure '100 a request, 8 connections: timers' 'timerd on SQLite' /s pg-batch-timerd
    figure '– CPU of the servers for each timer' 'timerd on PostgreSQL' µs cpu-pg-batch-timerd-postgres
    figure '– CPU of the servers for each timer' 'INSERT of 100 rows' µs cpu-pg-batch-postgres
    figure '– CPU of the servers for each timer' 'timerd on SQLite' µs cpu-pg-batch-timerd
}

# Servers are stopped by SIGTERM: of one that is killed the session has to be ended first, see measure_pg_takeover.
measure_pg_recovery() {
    local round name
    section "$(millions "$MANY") timers with a payload of 256 bytes: start to ready"
    start_server postgres "$WORK/pg"
    for name in timerd-postgres timerd; do
        start_server "$name" "$WORK/pg-$name"
        timers fill "${PORTS[$name]}" "$MANY" >/dev/null
        stop_server "$name"
    done
    for ((round = 0; round < ROUNDS; round++)); do
        for name in timerd-postgres timerd; do
            start_server "$name" "$WORK/pg-$name"
            sample "pg-recovery-$name" "$READY"
            stop_server "$name"
        done
    done
    stop_servers
    rm -rf "$WORK"/pg*
    figure 'start after a stop' 'timerd on PostgreSQL' s pg-recovery-timerd-postgres
    figure 'start after a stop' 'timerd on SQLite' s pg-recovery-timerd '≤ 2 ×'
}

measure_pg_takeover() {
    local count kind
    section 'kill -9 of the owner: until the standby answers a change'
    for count in 1000 "$MANY"; do
        cluster takeover "$count" "$TIMES"
        for kind in warm cold; do
            figure "$(millions "$count") timers, $kind standby" timerd s "takeover-$count-$kind-whole" '≤ 5 s'
            figure '– until the session is ended' timerd s "takeover-$count-$kind-noticed"
            figure '– from then until the log is taken' timerd s "takeover-$count-$kind-taken"
            figure '– from then until it is folded and answers' timerd s "takeover-$count-$kind-folded"
        done
    done
}

measure_pg_starts() {
    section 'Three servers start at once on an empty, migrated database: until each is ready and answers a list'
    cluster starts $((TIMES * 20))
    figure 'the whole' timerd s starts '≤ 3 s'
}

measure_pg_restart() {
    local how
    section 'PostgreSQL restarts under 8 clients that create timers: longest pause'
    for how in fast immediate; do
        cluster restart "$how" "$TIMES"
        figure "$how" clients ms "restart-$how-clients"
        figure "$how" 'a plain INSERT' ms "restart-$how-database"
        figure "$how: pause of clients less that of an INSERT" timerd ms "restart-$how-more" "≤ $MARGIN_MS ms"
        figure "$how: logs folded anew" timerd '' "restart-$how-folded" 0
    done
}

measure_pg_idle() {
    section 'An idle node'
    cluster idle "$IDLE_NODE_SECONDS"
    figure 'statements' timerd /s idle-statements '≤ 2.5'
    figure 'transactions of the database, all in all' timerd /s idle-transactions
}

measure_pg_kicks() {
    section "Kicks of 10,000 watchdogs by batches of 1,000, for $MINUTES minutes"
    cluster kicks "$MINUTES"
    figure 'kicks' timerd /s kicks-rate
    figure 'table and index: each tenth of the time' timerd MB kicks-size
    figure 'stored bytes of the rows' timerd MB kicks-bytes
    figure '– live at the begin' timerd MB kicks-live
    figure 'table and index ÷ stored bytes, each tenth' timerd '' kicks-size-ratio '≤ 1.6'
    figure '– at the end' timerd '' kicks-size-end '≤ 1.6'
    figure 'stored bytes ÷ (3 × live + slack of 4 MiB), each tenth' timerd '' kicks-bytes-ratio '≤ 1'
}

measure_pg_foreign() {
    section "Creates of timers of 1 s beside a foreign transaction of $MINUTES minutes, in turns"
    cluster foreign "$MINUTES" "$WORK/load"
    figure 'creates' 'beside it' /s foreign-beside
    figure 'creates' without /s foreign-without '≥ 0.9 ×'
    figure 'creates in the last fifth' 'beside it' /s foreign-beside-last
    figure 'creates in the last fifth' without /s foreign-without-last '≥ 0.9 ×'
    figure 'table and index: each tenth of the time' 'beside it' MB foreign-beside-size
    figure 'table and index: each tenth of the time' without MB foreign-without-size
}

measure_pg_forwarded() {
    local name
    local -A called=([create]='creates, 64 connections' [get]='reads, 64 connections' [batch]='batches of 100, 8 connections: timers'
        [one]='reads, one connection')
    section 'Forwarded beside asked at the owner'
    cluster forwarded "$ROUNDS" "$WORK/load"
    for name in create get batch one; do
        figure "${called[$name]}" forwarded /s "forward-$name-entry"
        figure "${called[$name]}" 'at the owner' /s "forward-$name-owner" '≥ 0.5 ×'
        figure '– CPU of both servers for each' forwarded µs "cpu-forward-$name-entry"
        figure '– CPU of both servers for each' 'at the owner' µs "cpu-forward-$name-owner" '≤ 2.2 ×'
        figure '– bytes between the servers for each request' forwarded B "wire-forward-$name"
    done
}
