#!/usr/bin/env bash
# Measures TLS beside plain connections and beside nginx in front of them on this machine, in turns, in about two minutes, and
# writes the figures into docs/PERFORMANCE.md. Server and clients share the cores. lib.sh has the settings.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source Benchmarks/lib.sh

readonly SECURE=$((PORT + 1)) NGINX_PORT=$((PORT + 2)) OPENSSL_PORT=$((PORT + 3)) STREAMS=5000
# Handshakes that are under way at once.
readonly CLIENTS=2
readonly CERTIFICATE=$WORK/cert.pem KEY=$WORK/key.pem

start_nginx() {
    local nginx
    nginx=$(PATH=.build/recipes/usr/sbin:$PATH:/usr/sbin type -P nginx) || fail "there is no nginx" "Get it: make setup-tests"
    mkdir "$WORK/nginx"
    cat >"$WORK/nginx.conf" <<EOF
daemon off;
error_log stderr;
pid $WORK/nginx/pid;
worker_processes auto;
events { worker_connections 1024; }
http {
    access_log off;
    keepalive_requests 1000000000;
    client_body_temp_path $WORK/nginx/body;
    proxy_temp_path $WORK/nginx/proxy;
    fastcgi_temp_path $WORK/nginx/fastcgi;
    uwsgi_temp_path $WORK/nginx/uwsgi;
    scgi_temp_path $WORK/nginx/scgi;
    upstream timerd { server 127.0.0.1:$PORT; keepalive $CONNECTIONS; keepalive_requests 1000000000; }
    server {
        listen 127.0.0.1:$NGINX_PORT ssl;
        ssl_certificate $CERTIFICATE;
        ssl_certificate_key $KEY;
        ssl_protocols TLSv1.2 TLSv1.3;
        location / {
            proxy_pass http://timerd;
            proxy_http_version 1.1;
            proxy_set_header Connection "";
            proxy_set_header Host \$host;
        }
    }
}
EOF
    launch "$nginx" -c "$WORK/nginx.conf"
    wait_for_port $NGINX_PORT
}

# handshakes PORT: full ones a second, by clients that each begin the next as one ends.
handshakes() {
    local client
    local -a clients=()
    for ((client = 0; client < CLIENTS; client++)); do
        openssl s_time -connect "127.0.0.1:$1" -new -time "$SECONDS_A_RUN" >"$WORK/s_time-$client" 2>&1 &
        clients+=("$!")
    done
    wait "${clients[@]}"
    awk '/real seconds/ { sum += $1 / $4 } END { if (!sum) exit 1; printf "%.0f\n", sum }' "$WORK"/s_time-* ||
        fail "$(cat "$WORK"/s_time-*)"
}

# ratio OVER UNDER: the median of the ratios of the rounds.
ratio() { paste "$WORK/$1" "$WORK/$2" | awk '{ print $1 / $(NF / 2 + 1) }' | median; }

rate() { thousands "$(median <"$WORK/$1")"; }

# measure_streams PID
measure_streams() {
    local before
    before=$(resident_kib "$1")
    coproc STREAMERS { exec python3 Benchmarks/timers.py secure $SECURE $STREAMS; }
    STARTED+=("$STREAMERS_PID")
    read -r <&"${STREAMERS[0]}" || fail "the streams could not be opened"
    row "5,000 event streams with TLS 1.3: memory each" \
        "$(calc '%.1f KiB' "($(resident_kib "$1") - $before) / $STREAMS")" "≤ 40 KiB"
    stop "$STREAMERS_PID"
    until [[ $(timers metric $PORT timerd_streams) == 0 ]]; do sleep 0.1; done
}

measure_requests() {
    local round path=/v1/timers/dog-0
    timers dogs $PORT 1
    start_nginx
    launch openssl s_server -accept "127.0.0.1:$OPENSSL_PORT" -cert "$CERTIFICATE" -key "$KEY" -quiet
    wait_for_port $OPENSSL_PORT
    for ((round = 0; round < ROUNDS; round++)); do
        wrk_rate $PORT $path >>"$WORK/plain"
        SCHEME=https wrk_rate $SECURE $path >>"$WORK/tls"
        SCHEME=https wrk_rate $NGINX_PORT $path >>"$WORK/nginx-rate"
        handshakes $SECURE >>"$WORK/shaken"
        handshakes $OPENSSL_PORT >>"$WORK/openssl"
    done
    row "GET a timer, $CONNECTIONS kept connections, plain" "$(rate plain)/s" ""
    row "– with TLS 1.3 ($(rate tls)/s), over plain" "$(calc '%.2f ×' "$(ratio tls plain)")" "≥ 0.35 ×"
    row "– over nginx with TLS in front of plain ($(rate nginx-rate)/s)" "$(calc '%.2f ×' "$(ratio tls nginx-rate)")" "≥ 1.3 ×"
    row "full handshakes by $CLIENTS × \`openssl s_time\`" "$(median <"$WORK/shaken")/s" ""
    row "– over those of \`openssl s_server\` ($(median <"$WORK/openssl")/s), one after the other" \
        "$(calc '%.2f ×' "$(ratio shaken openssl)")" "≥ 0.5 ×"
}

main() {
    require_ports "timerd=$PORT" "timerd with TLS=$SECURE" "nginx=$NGINX_PORT" "openssl=$OPENSSL_PORT"
    install_tools
    # A connection has up to three, and its place is kept for it once it is a stream.
    allow_files $((4 * STREAMS)) streams || exit 0
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost \
        -keyout "$KEY" -out "$CERTIFICATE" 2>/dev/null
    printf '| what | measured | target |\n|---|---|---|\n' >"$FIGURES"
    start_timerd memory "" --listen "https://127.0.0.1:$SECURE" --tls-certificate "$CERTIFICATE" --tls-key "$KEY"
    measure_streams "$PID"
    measure_requests
    publish tls 'make bench-tls'
}

main "$@"
