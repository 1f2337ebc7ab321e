#!/usr/bin/env bash
# The Swift tests under ThreadSanitizer, then under AddressSanitizer. What these report goes to files, which are shown last:
# among the lines of a thousand tests nobody would find it.
set -euo pipefail
cd "$(dirname "$0")/.."

# A random history takes 4 s under a sanitizer: twelve of them, where `make test` runs 68, and none under ThreadSanitizer, as
# they have one thread. What a partition costs in memory is not measured: sanitizers add theirs.
run() {
    local kind=$1 build=$2 variable=$3 status=0
    shift 3
    rm -f "$build"/report.*
    mkdir -p "$build"
    env SEEDS=12 "$variable=log_path=$PWD/$build/report" \
        swift test --disable-xctest --skip PartitionCostTests "$@" --sanitize="$kind" --scratch-path "$build" || status=$?
    for report in "$build"/report.*; do
        [ ! -e "$report" ] || cat "$report"
    done
    return "$status"
}

run thread .build-tsan TSAN_OPTIONS --skip SimulationTests
run address .build-asan ASAN_OPTIONS
