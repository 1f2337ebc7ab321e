#!/usr/bin/env bash
# What each change should pass, in some minutes: the format, the Swift tests, and the black-box tests, side by side as far as they
# bear it. `make test` runs the same tests one after another, and asks more of openapi.yaml.
#
# WORKERS says how many run at once: most of them wait more than they work. EXAMPLES says how many requests each operation of
# openapi.yaml gets.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
readonly WORKERS=${WORKERS:-4} EXAMPLES=${EXAMPLES:-8}
export TIMERD_BINARY=$PWD/.build/debug/timerd

said=$(mktemp)
readonly said
openapi=
trap '[[ -z $openapi ]] || kill "$openapi" 2>/dev/null || true; rm -f "$said"' EXIT

black_box() { .venv/bin/pytest -q "$@"; }

part() { printf '\n== %s (%d s so far)\n' "$1" "$SECONDS"; }

part 'format'
make --no-print-directory lint
part 'build'
swift build --build-tests
# A process takes half a minute to read openapi.yaml, so one alone does, and it finds a core to itself beside the Swift tests.
TIMERD_TEST_EXAMPLES=$EXAMPLES black_box --timeout 300 Tests/BlackBox/test_openapi.py >"$said" 2>&1 &
openapi=$!
part 'Swift tests'
swift test --skip-build --disable-xctest --quiet
part "black-box tests, $WORKERS at once"
black_box Tests/BlackBox --ignore Tests/BlackBox/test_leaks.py --ignore Tests/BlackBox/test_openapi.py \
    -m 'not alone' -n "$WORKERS" --dist loadgroup
part 'openapi.yaml'
wait "$openapi" || {
    cat "$said"
    exit 1
}
openapi=
tail -n 1 "$said"
part 'black-box tests that nothing may run beside'
mapfile -t alone < <(grep -l 'pytest.mark.alone' Tests/BlackBox/test_*.py)
black_box "${alone[@]}" -m alone
part 'all is well'
