#!/usr/bin/env bash
# Builds the fuzzers and runs each for some seconds: Fuzz/run.sh [SECONDS [TARGET...]]
#
# A target is a case of `Target`. Inputs of interest are kept in .build/fuzz/corpus, beside the seeds in Fuzz/corpus;
# what fails is kept in .build/fuzz/findings and can be run alone:
#   FUZZ_TARGET=json .build/fuzz/fuzz .build/fuzz/findings/json-crash-…
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-60}
targets=("${@:2}")
[[ ${#targets[@]} -gt 0 ]] || targets=(answer cron definition duration instant json record webhook zone)
build=.build/fuzz
mkdir -p "$build/findings"
# Stack traces are libFuzzer's to print; Swift's own printer would wait for a debugger's user.
export SWIFT_BACKTRACE=enable=no

# One module: its name, then what else the compiler needs to know. Optimised, as the parsers ship.
compile() {
    swiftc -O -whole-module-optimization -parse-as-library -swift-version 6 -strict-memory-safety -warnings-as-errors \
        -enable-upcoming-feature ExistentialAny -enable-upcoming-feature MemberImportVisibility \
        -enable-upcoming-feature InternalImportsByDefault -sanitize=fuzzer,address \
        -I "$build" -I Sources/CSQLite -I Sources/CCurl -I Sources/CCrypto -I "$build/CLinux" -module-name "$1" -emit-module \
        -emit-module-path "$build/$1.swiftmodule" -c -o "$build/$1.o" "${@:2}"
}

# The parsers are compiled from their sources: they are no products of the package, and need its C only in part.
mkdir -p "$build/CLinux"
echo 'module CLinux { header "'"$PWD"'/Sources/CLinux/include/CLinux.h" export * }' >"$build/CLinux/module.modulemap"
clang -O2 -std=gnu2x -c -I Sources/CLinux/include -o "$build/CLinux.o" Sources/CLinux/CLinux.c
for module in WireJSON TimerCore Platform TimerLog Webhooks; do
    compile "$module" Sources/"$module"/*.swift
done
# Not optimised: failures say what they are, and the compiler (6.3.1) breaks on the optimised end of a fold.
compile Fuzz -Onone Fuzz/*.swift
swiftc -sanitize=fuzzer,address -use-ld=lld -o "$build/fuzz" "$build"/*.o -lsqlite3 -lcurl -lcrypto

failed=()
for target in "${targets[@]}"; do
    corpus=$build/corpus/$target
    mkdir -p "$corpus"
    log=$build/$target.log
    if FUZZ_TARGET=$target "$build/fuzz" -max_total_time="$seconds" -max_len=4096 -timeout=10 -rss_limit_mb=1024 \
        -print_final_stats=1 -artifact_prefix="$build/findings/$target-" "$corpus" "Fuzz/corpus/$target" >"$log" 2>&1
    then
        outcome="no findings"
    else
        outcome="FAILED, see $log"
        failed+=("$target")
    fi
    executions=$(awk '/^stat::number_of_executed_units/ { print $2 }' "$log")
    printf '%-10s %12s executions  %s\n' "$target" "${executions:-?}" "$outcome"
done
[[ ${#failed[@]} -eq 0 ]]
