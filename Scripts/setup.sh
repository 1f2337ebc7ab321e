#!/usr/bin/env bash
# Makes this machine able to build timerd; with --tests also able to run the black-box tests, with --deploy also the tests of
# deploy/, which need Prometheus, with --clients also to compile the clients that generators make from openapi.yaml.
#
# Installs what is missing, and says nothing when nothing is. Before it uses sudo it asks; without a terminal it only says which
# command it runs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly SWIFT_MAJOR=6 SWIFT_MINOR=3
readonly REQUIREMENTS=Tests/BlackBox/requirements.txt
readonly STAMP=.venv/requirements.installed
readonly PROMETHEUS=.build/prometheus RECIPES=.build/recipes
# Says whether an installation of PostgreSQL's server makes a database, and starts it.
readonly CREATE_CLUSTER=/etc/postgresql-common/createcluster.conf
# How long another apt may hold its locks.
readonly LOCK_SECONDS=120

fail() {
    printf 'timerd: %s\n' "$@" >&2
    exit 1
}

check_swift() {
    command -v swift >/dev/null ||
        fail "Swift $SWIFT_MAJOR.$SWIFT_MINOR or later is needed and there is no swift in PATH." \
            "Install it from https://www.swift.org/install/linux/, or use the Dockerfile."
    local version major minor
    version=$(swift --version 2>/dev/null | sed -n 's/.*Swift version \([0-9]*\.[0-9]*\).*/\1/p' | head -n 1)
    major=${version%%.*} minor=${version#*.}
    if [[ -z $version ]] || ((major < SWIFT_MAJOR || (major == SWIFT_MAJOR && minor < SWIFT_MINOR))); then
        fail "Swift $SWIFT_MAJOR.$SWIFT_MINOR or later is needed, this is ${version:-unknown} ($(command -v swift))." \
            "Install a newer one from https://www.swift.org/install/linux/, or use the Dockerfile."
    fi
}

# Prints the Debian packages that are missing. It looks for what they contain, so that other systems pass too.
missing_packages() {
    command -v curl >/dev/null || echo curl
    [[ -e /usr/share/zoneinfo/Europe/Berlin ]] || echo tzdata
    if command -v pkg-config >/dev/null; then
        pkg-config --exists libmicrohttpd || echo libmicrohttpd-dev
        pkg-config --exists sqlite3 || echo libsqlite3-dev
        pkg-config --exists libcurl || echo libcurl4-openssl-dev
        pkg-config --exists libcrypto || echo libssl-dev
        pkg-config --exists tomlplusplus || echo libtomlplusplus-dev
        pkg-config --exists libpq || echo libpq-dev
        pkg-config --exists libzstd || echo libzstd-dev
        pkg-config --exists libnghttp2 || echo libnghttp2-dev
    else
        printf '%s\n' pkg-config libmicrohttpd-dev libsqlite3-dev libcurl4-openssl-dev libssl-dev \
            libtomlplusplus-dev libpq-dev libzstd-dev libnghttp2-dev
    fi
    if [[ $1 != build ]]; then
        command -v openssl >/dev/null || echo openssl
        command -v jq >/dev/null || echo jq
        command -v python3 >/dev/null || echo python3
        python3 -c 'import venv, ensurepip' 2>/dev/null || echo python3-venv
        command -v gcc clang >/dev/null || printf '%s\n' gcc libc6-dev
        command -v strip >/dev/null || echo binutils
        command -v ip >/dev/null || echo iproute2
        command -v valgrind >/dev/null || echo valgrind
        compgen -G '/usr/lib*/faketime/libfaketime.so.1' >/dev/null ||
            compgen -G '/usr/lib/*/faketime/libfaketime.so.1' >/dev/null || echo libfaketime
        # Chromium's own program without windows starts a page in a third of the time that the whole browser takes.
        command -v chromium-headless-shell chromium chromium-browser google-chrome >/dev/null || echo chromium-headless-shell
        command -v chromedriver chromium.chromedriver >/dev/null || echo chromium-driver
        command -v java >/dev/null || echo default-jre-headless
        compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null || command -v initdb >/dev/null || echo postgresql
        [[ -x /usr/sbin/pgbouncer ]] || command -v pgbouncer >/dev/null || echo pgbouncer
    fi
    if [[ $1 == clients ]]; then
        command -v go >/dev/null || echo golang-go
        [[ -e /usr/share/gocode/src/gopkg.in/validator.v2 ]] || echo golang-gopkg-validator.v2-dev
        command -v tsc >/dev/null || echo node-typescript
    fi
}

# Installs packages by apt, after a question where that takes sudo and there is somebody to ask.
install_packages() {
    command -v apt-get >/dev/null ||
        fail "These are missing and there is no apt here to install them: $*" \
            "Install what your system calls them, then try again."
    local as_root=()
    ((EUID == 0)) || as_root=(sudo)
    local command="${as_root[*]:+sudo }apt-get install --no-install-recommends $*"
    if ((EUID != 0)); then
        command -v sudo >/dev/null || fail "These are missing: $*" "There is no sudo; as root run: $command"
        ask "These packages are missing. This would install them: $command" ||
            fail "Nothing was installed. Once you have installed them, try again."
    fi
    echo "timerd: running $command" >&2
    # The tests start servers of their own: Debian's package is kept from making and starting one.
    if [[ " $* " == *' postgresql '* && ! -e $CREATE_CLUSTER ]]; then
        "${as_root[@]}" mkdir -p "${CREATE_CLUSTER%/*}"
        echo 'create_main_cluster = false' | "${as_root[@]}" tee "$CREATE_CLUSTER" >/dev/null
    fi
    apt_get update
    apt_get install -y --no-install-recommends "$@"
}

# Asks for a yes where there is a terminal; where there is none, what was started is meant.
ask() {
    [[ -t 0 && -t 2 ]] || return 0
    local answer
    read -r -p "timerd: $1"$'\n'"timerd: go on? [y/N] " answer
    [[ $answer == [yY]* ]]
}

# Runs apt-get quietly as root and passes on all that it says where it fails. Another apt may hold the locks: apt-get waits for
# dpkg's by itself, but not for that of its lists, so it is tried again.
apt_get() {
    local said tries
    for ((tries = LOCK_SECONDS / 2; ; tries--)); do
        said=$("${as_root[@]}" env LC_ALL=C DEBIAN_FRONTEND=noninteractive \
            apt-get -qq -o "DPkg::Lock::Timeout=$LOCK_SECONDS" "$@" 2>&1) && return
        [[ $said == *'Could not get lock'* ]] && ((tries > 0)) || break
        sleep 2
    done
    printf '%s\n' "$said" >&2
    fail "apt-get $* failed; what it said is above."
}

# The tests' Python packages, installed again only when their list has changed.
make_venv() {
    cmp -s "$REQUIREMENTS" "$STAMP" && .venv/bin/python -c '' 2>/dev/null && return
    echo "timerd: installing the tests' Python packages into .venv" >&2
    python3 -m venv --clear .venv
    .venv/bin/python -m pip install --quiet --disable-pip-version-check -r "$REQUIREMENTS"
    cp "$REQUIREMENTS" "$STAMP"
}

# Prometheus and promtool, for the tests of deploy/.
get_prometheus() {
    [[ -x $PROMETHEUS/usr/bin/prometheus && -x $PROMETHEUS/usr/bin/promtool ]] && return
    command -v prometheus >/dev/null && command -v promtool >/dev/null && return
    unpack "$PROMETHEUS" prometheus
}

# nginx, Caddy, hitch and logrotate, for the tests of the documents' recipes; the last two with the library that they need.
get_recipes() {
    local name missing=no
    for name in nginx caddy hitch logrotate; do
        PATH=$PATH:/usr/sbin:$RECIPES/usr/sbin:$RECIPES/usr/bin command -v "$name" >/dev/null || missing=yes
    done
    [[ $missing == no ]] || unpack "$RECIPES" nginx caddy hitch libev4 logrotate libpopt0
}

# Unpacks Debian packages into a folder. They are not installed, as their installation starts services.
unpack() {
    local target=$1 folder package
    shift
    command -v apt-get >/dev/null ||
        fail "These are missing and there is no apt here to get them: $*" "Install them, then try again."
    local as_root=()
    ((EUID == 0)) || as_root=(sudo)
    ((EUID == 0)) || ask "The tests need these Debian packages, unpacked into $target: $*. Apt takes sudo." ||
        fail "Nothing was downloaded. Install $*, then try again."
    echo "timerd: unpacking Debian's $* into $target" >&2
    folder=$(mktemp -d)
    apt_get update
    (cd "$folder" && apt_get -o APT::Sandbox::User=root download "$@")
    mkdir -p "$target"
    for package in "$folder"/*.deb; do dpkg-deb --extract "$package" "$target"; done
    rm -rf "$folder"
}

main() {
    local purpose=build
    case ${1-} in
        --tests | --deploy) purpose=tests ;;
        --clients) purpose=clients ;;
    esac
    check_swift
    local -a missing
    mapfile -t missing < <(missing_packages "$purpose")
    ((${#missing[@]} == 0)) || install_packages "${missing[@]}"
    if [[ $purpose != build ]]; then make_venv; fi
    if [[ ${1-} == --tests ]]; then get_recipes; fi
    if [[ ${1-} == --deploy ]]; then get_prometheus; fi
}

main "$@"
