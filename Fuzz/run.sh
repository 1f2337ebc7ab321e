#!/usr/bin/env bash
# Builds the fuzzers and runs each for some seconds: Fuzz/run.sh [SECONDS [TARGET...]]
#
# A target is a case of `Target`. Inputs of interest are kept in .build/fuzz/corpus, beside the seeds in Fuzz/corpus;
# Fuzz/TARGET.dict has words to insert. Failing inputs are kept in .build/fuzz/findings and can be run alone:
#   SWIFT_BACKTRACE=enable=no FUZZ_TARGET=json .build/fuzz/fuzz .build/fuzz/findings/json-crash-…
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-60}
targets=("${@:2}")
[[ ${#targets[@]} -gt 0 ]] || targets=(answer body cron definition duration http instant json record recurrence target webhook zone)
build=.build/fuzz
mkdir -p "$build/findings"
# libFuzzer prints stack traces; Swift's own printer would wait for a person at a debugger.
export SWIFT_BACKTRACE=enable=no LSAN_OPTIONS=suppressions=$PWD/Fuzz/leaks.supp:print_suppressions=0

# One module: its name, then further arguments of the compiler. Optimised, as the parsers ship; testable, as most of
# them are nobody else's business.
compile() {
    swiftc -O -whole-module-optimization -parse-as-library -swift-version 6 -strict-memory-safety -warnings-as-errors \
        -enable-upcoming-feature ExistentialAny -enable-upcoming-feature MemberImportVisibility \
        -enable-upcoming-feature InternalImportsByDefault -enable-testing -sanitize=fuzzer,address -package-name timerd \
        -I "$build" -I "$build/CLinux" -I "$build/CAssets" -I "$build/CTLS" -I Sources/CSQLite -I Sources/CCurl -I Sources/CCrypto \
        -I Sources/CMicroHTTPD -module-name "$1" -emit-module -emit-module-path "$build/$1.swiftmodule" -c -o "$build/$1.o" "${@:2}"
    touch "$build/$1.o"  # the compiler leaves it alone where it comes out the same
}

# Modules that do not import each other, side by side, where they or those before them changed since the last time.
compiled=()
compile_together() {
    local module changed files jobs=()
    for module in "$@"; do
        changed=$(find Fuzz/run.sh Sources/"$module" "${compiled[@]}" -newer "$build/$module.o" 2>&1 || true)
        [[ $changed ]] || continue
        mapfile -t files < <(find Sources/"$module" -name '*.swift' | sort)
        compile "$module" "${files[@]}" &
        jobs+=($!)
    done
    for job in "${jobs[@]}"; do wait "$job"; done
    for module in "$@"; do compiled+=("$build/$module.o"); done
}

# Everything is compiled from its sources: modules are not products of the package, and each needs the instructions that
# report its coverage to the fuzzer.
for module in CLinux CAssets CTLS; do
    mkdir -p "$build/$module"
    echo "module $module { header \"$PWD/Sources/$module/include/$module.h\" export * }" >"$build/$module/module.modulemap"
    clang -O2 -std=gnu2x -c -I "Sources/$module/include" -o "$build/$module.o" "Sources/$module/$module.c"
done
compile_together Primitives
compile_together WireJSON TimerCore
compile_together Platform TLS
compile_together TimerLog Curl
compile_together Webhooks HTTPServer
compile_together TimerService
compile_together TimerAPI
# Not optimised: failures then have their messages, and the compiler (6.3.1) crashes on the optimised end of a fold.
compile Fuzz -Onone Fuzz/*.swift
swiftc -sanitize=fuzzer,address -use-ld=lld -o "$build/fuzz" "$build"/*.o -lsqlite3 -lcurl -lssl -lcrypto -lmicrohttpd

# Inputs longer than libFuzzer takes by itself: the most a target's inputs may have, and one seed about as long for those
# whose limits lie beyond 4 KiB. They are made here, as seeds in the tree are small.
declare -A longest=([body]=131072 [definition]=131072 [http]=65536 [json]=16384 [record]=131072 [target]=16384)
repeat() { head -c "$2" < <(yes "$1" | tr -d '\n'); }
make_long_seeds() {
    local folder=$build/long/$1 line body
    mkdir -p "$folder"
    case $1 in
    body)
        printf '{"id":"a","after":"1h","payload":"%s"}' "$(repeat x 65500)" >"$folder/payload"
        line='{"id":"l","after":"1h","labels":{"k":"v"}}'
        for _ in {1..2000}; do echo "$line"; done >"$folder/batch"
        ;;
    http)
        printf 'GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Long: %s\r\n\r\n' "$(repeat y 8000)" >"$folder/head"
        { printf 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n'; printf 'X-%s: z\r\n' {1..97}; printf '\r\n'; } >"$folder/lines"
        body=$(for n in {1..800}; do echo "{\"id\":\"l$n\",\"after\":\"1h\"}"; done)
        printf 'POST /v1/timers/batch HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-ndjson\r\nContent-Length: %d\r\n\r\n%s' \
            "${#body}" "$body" >"$folder/batch"
        ;;
    json) printf '{"a":["%s",%s1]}' "$(repeat '\u00e9' 6000)" "$(repeat '1,' 6000)" >"$folder/long" ;;
    target) printf '/v1/timers?label=%s\nX-Long: %s' "$(repeat 'k%3Dv&label=' 3990)v" "$(repeat z 8000)" >"$folder/long" ;;
    esac
}

# Runs a fuzzer and says what came of it.
fuzz() {
    local target=$1 outcome="no findings" status=0 executions
    local corpus=$build/corpus/$target log=$build/$target.log options=()
    mkdir -p "$corpus"
    make_long_seeds "$target"
    [[ ! -f Fuzz/$target.dict ]] || options+=(-dict="Fuzz/$target.dict")
    # The server's threads allocate beside each input, which looks like a leak and stops them all to search for one.
    # `make leaks` finds what whole runs of the server leak.
    [[ $target != http ]] || options+=(-detect_leaks=0)
    FUZZ_TARGET=$target "$build/fuzz" -max_total_time="$seconds" -max_len="${longest[$target]:-4096}" -timeout=10 -rss_limit_mb=1024 \
        -print_final_stats=1 -artifact_prefix="$build/findings/$target-" "${options[@]}" \
        "$corpus" "Fuzz/corpus/$target" "$build/long/$target" >"$log" 2>&1 || status=$?
    ((status == 0)) || outcome="FAILED, see $log"
    executions=$(awk '/^stat::number_of_executed_units/ { print $2 }' "$log")
    printf '%-10s %12s executions  %s\n' "$target" "${executions:-?}" "$outcome"
    return "$status"
}

# As many at once as there are cores.
cores=$(nproc)
running=0
status=0
for target in "${targets[@]}"; do
    if ((running == cores)); then
        wait -n || status=1
        running=$((running - 1))
    fi
    fuzz "$target" &
    running=$((running + 1))
done
for ((; running > 0; running--)); do wait -n || status=1; done
exit "$status"
