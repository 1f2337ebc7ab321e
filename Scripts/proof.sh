#!/usr/bin/env bash
# Runs the parts of the heavy proof that are named, or all of them, one after the other. Goes on after a failure, and prints a
# table of part, result and time at the end. Each part's output is kept in .build/proof.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# A part and the targets that it is made of.
readonly -A TARGETS=(
    [fuzz]='make fuzz SECONDS=5'
    [heavy]='make test-heavy'
    [sanitize]='make sanitize'
    [leaks]='make leaks'
    [instructions]='make instructions'
    [simulate]='make simulate SEEDS=1000'
    [soak]='make soak MINUTES=2'
    [postgres]='make test-postgres'
    [forwarded]='make test-forwarded'
    [secrets]='make test-secrets'
    [tls]='make test-tls'
    [torture]='make torture MINUTES=5'
    [torture-postgres]='make torture STORE=postgres KILLS=60 MINUTES=6'
    [torture-forwarding]='make torture STORE=postgres FORWARDING=yes KILLS=60 MINUTES=6'
    [cluster-torture]='make cluster-torture KILLS=60 MINUTES=6'
)
readonly ORDER=(fuzz heavy sanitize leaks instructions simulate soak postgres forwarded tls secrets torture torture-postgres
    torture-forwarding cluster-torture)
readonly KEPT=.build/proof

parts=("$@")
((${#parts[@]} > 0)) || parts=("${ORDER[@]}")
for part in "${parts[@]}"; do
    if [[ -z ${TARGETS[$part]-} ]]; then
        printf 'proof: there is no part %s; there are: %s\n' "$part" "${ORDER[*]}" >&2
        exit 64
    fi
done

mkdir -p "$KEPT"
table=() failures=0
for part in "${parts[@]}"; do
    printf '\n== %s: %s\n' "$part" "${TARGETS[$part]}"
    began=$SECONDS result=passed
    # The targets have neither spaces nor patterns in their words.
    # shellcheck disable=SC2086
    ${TARGETS[$part]} 2>&1 </dev/null | tee "$KEPT/$part.txt" || { result=FAILED; ((failures += 1)); }
    table+=("$(printf '%-20s %-8s %6d s' "$part" "$result" "$((SECONDS - began))")")
done
printf '\n%-20s %-8s %8s\n' part result time
printf '%s\n' "${table[@]}"
((failures == 0))
