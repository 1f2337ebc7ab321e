#!/usr/bin/env bash
# Runs every test: the Swift tests beside the black-box tests, as most of these wait more than they work, then those that
# nothing may run beside. Of the Swift tests only the end is shown, or all at last if one failed. They are two processes, as a
# process has a thread a core, which a test that waits for a socket holds: those that wait, and those that compute.
#
# A black-box test, or a suite of Swift tests, that fails beside the others runs once more, alone. If it passes then, the run is
# green, and the last lines name it; the first output of black-box tests is in .build/black-box.txt, and the failures of Swift
# tests are shown. More than MAY_REPEAT such tests or suites, or one that fails twice, fail the run.
#
# BUILD has the arguments of `swift build` for what is tested; without it, a build of all tests in debug.
#
# WORKERS says how many black-box tests run at once, EXAMPLES how many requests each operation of openapi.yaml gets, and SEEDS
# how many random histories are run instead of the usual ones, LONG_SEEDS how many of those that take seconds. With THOROUGH=no
# the black-box tests with that mark are left out. Those marked `heavy` always are: `make test-heavy` runs them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
readonly WORKERS=${WORKERS:-5} EXAMPLES=${EXAMPLES:-10} MAY_REPEAT=2
chosen='not heavy'
[[ ${THOROUGH:-yes} == yes ]] || chosen+=' and not thorough'
readonly chosen
# Modules of Swift tests that wait for sockets and other processes.
readonly WAITING='HTTPClientTests|HTTPServerTests|PeerHTTPTests|PostgresLogTests|TimerForwardingTests|TimerdCommandTests|WebhooksTests'
read -ra BUILD <<<"${BUILD:---build-tests}"
BUILT=$(swift build "${BUILD[@]}" --show-bin-path)
readonly BUILD BUILT
# The program of the Swift tests itself, as only one `swift test` runs at a time. A test that hangs must not hold it for ever.
readonly SWIFT_TESTS=(timeout 40m "$BUILT/timerdPackageTests.xctest" --testing-library swift-testing)
readonly FIRST_OUTPUT=$PWD/.build/black-box.txt
export TIMERD_BINARY=$BUILT/timerd
# Where it is set, each of a dozen Python processes compiles all tests anew.
unset PYTHONDONTWRITEBYTECODE

said=$(mktemp -d)
readonly said
declare -A running=()
failed=() suites=() passed_only_alone=()
clean() {
    for process in "${running[@]}"; do kill -- "-$process" 2>/dev/null || true; done
    rm -rf "$said"
}
trap clean EXIT

part() { printf '\n== %s (%d s so far)\n' "$1" "$SECONDS"; }

# Starts a command in a group of its own, so that all of it can be ended: begin NAME COMMAND…
begin() {
    setsid "${@:2}" </dev/null &
    running[$1]=$!
}

# As begin, and what it says is kept.
begin_quietly() { begin "$@" >"$said/$1" 2>&1; }

# As begin_quietly, for Swift tests; their results are kept too: begin_swift NAME ARGUMENT…
begin_swift() { begin_quietly "$1" "${SWIFT_TESTS[@]}" --xunit-output "$said/$1.xml" "${@:2}"; }

# As begin, and what it says is both shown and kept in a file: begin_recorded NAME FILE COMMAND…
begin_recorded() { begin "$1" bash -o pipefail -c '"$@" 2>&1 | tee "$0"' "${@:2}"; }

# Waits for it, and sets `status` to its exit status.
wait_for() {
    status=0
    wait "${running[$1]}" || status=$?
    unset "running[$1]"
}

# Waits for it. Shows the last line that was kept, if all is well.
finish() {
    local status
    wait_for "$1"
    if ((status > 0)); then
        failed+=("$1")
    elif [[ -e $said/$1 ]]; then
        printf '%s: %s\n' "$1" "$(tail -n 1 "$said/$1")"
    fi
}

# Shows the failures among what Swift tests said: they stand among thousands of lines, and often the last lines of a run are
# all that is kept of it.
show_failures() { grep -aE '^✘' "$said/$1" | head -n 40 | cut -c -1000 || true; }

# Waits for Swift tests, and adds the suites that failed to `suites`.
finish_swift() {
    local status
    local -a found=()
    wait_for "$1"
    # 1: tests failed. Anything else is a crash or a hang.
    ((status != 1)) || mapfile -t found < <(awk -F '"' '/<testcase /{suite = $2} /<failure /{print suite}' "$said/$1.xml" | sort -u)
    if ((status == 0)); then
        printf '%s: %s\n' "$1" "$(tail -n 1 "$said/$1")"
    elif ((${#found[@]} == 0 || ${#found[@]} > MAY_REPEAT)); then
        failed+=("$1")
    else
        part "$1: failed"
        show_failures "$1"
        suites+=("${found[@]}")
    fi
}

# Runs the suites of Swift tests that failed once more, alone.
repeat_suites() {
    ((${#suites[@]} > 0)) || return 0
    part 'suites of Swift tests that failed, once more and alone'
    local filter
    filter=$(printf '|%s' "${suites[@]}")
    if "${SWIFT_TESTS[@]}" --filter "^(${filter:1})/"; then
        passed_only_alone+=("${suites[@]}")
    else
        failed+=('Swift tests, also alone')
    fi
}

# Waits for the black-box tests, and runs once more, alone, what failed among them.
finish_black_box() {
    local status
    wait_for 'black-box tests'
    ((status > 0)) || return 0
    # 1: tests failed. Anything else is no failure of a test, so nothing is to be repeated.
    local -a tests=()
    # The name of a group behind the name of a test is of the run in parallel only.
    ((status > 1)) || mapfile -t tests < <(jq -r 'keys[] | sub("@[^\\]]*$"; "")' "$said/cache/v/cache/lastfailed")
    if ((${#tests[@]} == 0 || ${#tests[@]} > MAY_REPEAT)); then
        failed+=('black-box tests')
        return 0
    fi
    part 'black-box tests that failed, once more and alone'
    if .venv/bin/pytest -q "${tests[@]/#/Tests/BlackBox/}"; then
        passed_only_alone+=("${tests[@]}")
    else
        failed+=('black-box tests, also alone')
    fi
}

# Ends the run if something failed, and shows what was kept of that.
stop_if_failed() {
    ((${#failed[@]} > 0)) || return 0
    for name in "${failed[@]}"; do
        [[ ! -e $said/$name ]] || { part "$name"; cat "$said/$name"; }
    done
    for name in "${failed[@]}"; do
        printf '\n== failed: %s\n' "$name"
        [[ ! -e $said/$name ]] || show_failures "$name"
    done
    exit 1
}

part 'build'
swift build "${BUILD[@]}"
# Swift Testing waits for the children of exit tests on a thread that spins while an ended child has nobody who asks for it; and
# with two cores nobody may for minutes, as other tests hold the pool's threads. So those tests run by themselves.
exit_tests=$(grep -rl processExitsWith Tests --include='*.swift' | xargs -n 1 basename -s .swift | paste -sd '|')
readonly exit_tests
part 'Swift tests that end processes of their own'
"${SWIFT_TESTS[@]}" --filter "\.($exit_tests)/"
part "Swift tests beside black-box tests, $WORKERS of these at once"
# A process takes half a minute to make requests of openapi.yaml, so one does it for all operations.
begin_quietly 'openapi.yaml' env "TIMERD_TEST_EXAMPLES=$EXAMPLES" .venv/bin/pytest -q --timeout 300 Tests/BlackBox/test_openapi.py
begin_swift 'Swift tests that wait' --skip "\.($exit_tests)/" --filter "^($WAITING)\."
begin_swift 'Swift tests that compute' --skip "\.($exit_tests)/" --skip "^($WAITING)\."
begin_recorded 'black-box tests' "$FIRST_OUTPUT" .venv/bin/pytest -q Tests/BlackBox --ignore Tests/BlackBox/test_leaks.py \
    --ignore Tests/BlackBox/test_openapi.py -m "not alone and $chosen" -n "$WORKERS" --dist loadgroup -o "cache_dir=$said/cache"
finish 'openapi.yaml'
finish_swift 'Swift tests that wait'
finish_swift 'Swift tests that compute'
finish_black_box
repeat_suites
stop_if_failed
part 'black-box tests that nothing may run beside'
mapfile -t alone < <(grep -l 'pytest.mark.alone' Tests/BlackBox/test_*.py)
.venv/bin/pytest -q "${alone[@]}" -m "timely and $chosen" -n 4
.venv/bin/pytest -q "${alone[@]}" -m "alone and not timely and $chosen"
part 'tests of what tests and measures'
.venv/bin/pytest -q -c Tests/BlackBox/pytest.ini --rootdir . Tests/Torture Tests/Soak Benchmarks
part 'all is well'
if ((${#passed_only_alone[@]} > 0)); then
    printf '== passed only alone (what they said first is in %s)\n' "$FIRST_OUTPUT"
    printf '%s\n' "${passed_only_alone[@]}"
fi
