#!/usr/bin/env bash
# The Swift tests under ThreadSanitizer and under AddressSanitizer, side by side, as neither run keeps a second core busy. What the
# sanitizers report goes to files, which are shown last: among the lines of a thousand tests nobody would find it.
set -euo pipefail
cd "$(dirname "$0")/.."

# Not optimised, unlike other debug builds: those compile file by file, and Swift 6.3 optimises away the deinit of storage in
# another file, which would be reported as a leak. Programs are built by whole modules.
readonly PLAIN=(-Xswiftc -Onone)

build() { swift build --build-tests "${PLAIN[@]}" --sanitize="$1" --scratch-path "$2"; }

# A random history takes 4 s under a sanitizer: twelve of them, where `make test` runs 68, and none under ThreadSanitizer, as
# they have one thread. Histories of several processes and the model of a cluster run the same code and take longest: they are
# left out.
run() {
    local kind=$1 build=$2 variable=$3
    shift 3
    rm -f "$build"/report.*
    env SEEDS=12 LSAN_OPTIONS="suppressions=$PWD/Scripts/leaks.supp:print_suppressions=0" "$variable=log_path=$PWD/$build/report" swift test --skip-build "${PLAIN[@]}" --disable-xctest --quiet \
        --skip ClusterHistoryTests --skip ClusterModelTests "$@" --sanitize="$kind" --scratch-path "$build"
}

build thread .build-tsan
build address .build-asan
status=0
said=$(mktemp)
run thread .build-tsan TSAN_OPTIONS --skip SimulationTests >"$said" 2>&1 &
echo '== under AddressSanitizer'
run address .build-asan ASAN_OPTIONS || status=$?
wait "$!" || status=$?
echo '== under ThreadSanitizer'
cat "$said"
rm -f "$said"
for report in .build-tsan/report.* .build-asan/report.*; do
    [[ ! -e $report ]] || cat "$report"
done
exit "$status"
