# Rates of requests, of timerd and its peers. Sourced by run.sh.

# Starts the bare server, with and without a log, on the answers that timerd gives to a POST and to a GET of the timer
# that it made; GET_PATH is its path.
start_bare() {
    local body='{"after":"30d","payload":"'$(printf 'x%.0s' {1..254})'"}'
    curl -sSi -H 'Content-Type: application/json' -d "$body" "http://127.0.0.1:$PORT/v1/timers" >"$WORK/post-answer"
    GET_PATH=$(tr -d '\r' <"$WORK/post-answer" | sed -n 's/^[Ll]ocation: //p')
    curl -sSi "http://127.0.0.1:$PORT$GET_PATH" >"$WORK/get-answer"
    launch "$WORK/bare" "${PORTS[bare]}" "$WORK/get-answer" "$WORK/post-answer"
    PIDS[bare]=$PID
    launch "$WORK/bare" "${PORTS[bare-sync]}" "$WORK/get-answer" "$WORK/post-answer" "$WORK/bare-log"
    PIDS[bare-sync]=$PID
    wait_for_port "${PORTS[bare]}"
    wait_for_port "${PORTS[bare-sync]}"
}

# create_in_turns PREFIX CONNECTIONS…: a run of each server for each number of connections, ROUNDS times.
create_in_turns() {
    local round connections name
    local -a names
    for ((round = 0; round < ROUNDS; round++)); do
        for connections in "${@:2}"; do
            names=("${SERVERS[@]}")
            [[ $1-$connections != create-64 ]] || names+=(bare bare-sync)
            for name in "${names[@]}"; do run_load "$1-$connections-$name" "$name" "$connections" 1; done
        done
    done
}

# create_figures PREFIX CONNECTIONS…
create_figures() {
    local connections name what
    for connections in "${@:2}"; do
        what="$connections connections"
        ((connections > 1)) || what='1 connection'
        for name in timerd bare bare-sync redis beanstalkd postgres; do
            [[ $name != bare* || $1-$connections == create-64 ]] || continue
            figure "$what" "$(title "$name")" /s "$1-$connections-$name" \
                "$([[ $1-$connections != create-64 ]] || create_target "$name")"
        done
    done
}

create_target() {
    case $1 in
    bare) echo '≥ 0.6 ×' ;;
    redis) echo '≥ 1.0 ×' ;;
    beanstalkd | postgres) echo '≥ 2 ×' ;;
    esac
}

measure_create() {
    section 'Durable create, one request outstanding on each connection'
    start_servers "$WORK/create"
    start_bare
    create_in_turns create 1 8 64 512
    stop_servers
    rm -rf "$WORK/create"
    create_figures create 1 8 64 512
}

measure_slow() {
    section 'Durable create, each sync of every server 1 ms longer'
    THROUGH=(env LD_PRELOAD="$WORK/slowsync.so")
    start_servers "$WORK/slow"
    create_in_turns slow 1 8 64 512
    stop_servers
    THROUGH=()
    rm -rf "$WORK/slow"
    create_figures slow 1 8 64 512
}

measure_batch() {
    local round size name
    section 'Durable create by batches, 8 connections: timers'
    start_servers "$WORK/batch"
    for ((round = 0; round < ROUNDS; round++)); do
        for size in 100 1000; do
            for name in "${SERVERS[@]}"; do
                [[ $name == beanstalkd ]] || run_load "batch-$size-$name" "$name" 8 "$size"
            done
        done
    done
    stop_servers
    rm -rf "$WORK/batch"
    for size in 100 1000; do
        figure "$size a request" timerd /s "batch-$size-timerd" "$([[ $size != 100 ]] || echo '≥ 400 k/s')"
        figure "$size a request" 'Redis, pipelined' /s "batch-$size-redis" "$([[ $size != 100 ]] || echo '≥ 3 ×')"
        figure "$size a request" 'PostgreSQL, rows' /s "batch-$size-postgres"
    done
}

measure_reads() {
    local round
    section 'Reads, 64 connections, 100 k timers'
    start_server timerd "$WORK/reads"
    timers due "$PORT" 100000 $((30 * 86400))
    start_bare
    for ((round = 0; round < ROUNDS; round++)); do
        run_load get-timerd timerd 64 1 "$GET_PATH"
        run_load get-bare bare 64 1 "$GET_PATH"
        run_load list-any timerd 64 1 '/v1/timers?limit=100'
        run_load list-soonest timerd 64 1 '/v1/timers?limit=100&sort=nextFireAt'
    done
    stop_servers
    start_server timerd "$WORK/heap"
    timers fill "$PORT" 100000 >/dev/null
    for ((round = 0; round < ROUNDS; round++)); do
        run_load list-heap timerd 64 1 '/v1/timers?limit=100&sort=nextFireAt'
    done
    stop_servers
    rm -rf "$WORK/reads" "$WORK/heap"
    figure 'GET a timer' timerd /s get-timerd
    figure 'GET a timer' 'bare C' /s get-bare '≥ 0.85 ×'
    figure 'list page of 100' timerd /s list-any
    figure 'list page of 100, soonest due of a month' timerd /s list-soonest
    figure 'list page of 100, all due within a second' timerd /s list-heap
}

measure_commands() {
    local round mix
    section 'Commands on 6,400 watchdogs, 64 connections'
    start_server timerd "$WORK/commands"
    timers dogs "$PORT" 10000
    for ((round = 0; round < ROUNDS; round++)); do
        for mix in 'suspend resume' 'cancel activate' 'suspend resume cancel activate kick' kick get fire; do
            # shellcheck disable=SC2086
            run_load "command-${mix// /-}" timerd 64 1 $mix
        done
    done
    stop_servers
    figure 'suspend, resume in turn' timerd /s command-suspend-resume
    figure 'cancel, activate in turn' timerd /s command-cancel-activate
    figure 'suspend, resume, cancel, activate, kick' timerd /s command-suspend-resume-cancel-activate-kick
    figure 'kick' timerd /s command-kick
    figure 'kick' 'GET of the same' /s command-get
    figure 'kick' 'fire, with event' /s command-fire '≥ 1 ×'
    rm -rf "$WORK/commands"
}

measure_kicks() {
    local rate half end
    section 'Kicks of 10,000 watchdogs by batches of 1,000'
    start_server timerd "$WORK/kicks"
    timers dogs "$PORT" 10000
    read -r rate half end < <(timers kicks "$PORT" 10000 12)
    sample kicks "$rate"
    sample kicks-half "$half"
    sample kicks-end "$end"
    stop_servers
    rm -rf "$WORK/kicks"
    figure 'kicks' timerd /s kicks '≥ 50 k/s'
    figure 'log on disk after 6 s' timerd MB kicks-half
    figure 'log on disk after 12 s' timerd MB kicks-end 'no growth'
}
