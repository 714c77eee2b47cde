#!/bin/sh
# Makes an environment from the lock, or does nothing when it is up to date.
#
#   scripts/setup.sh runtime              what `toolcrib` needs, in .venv
#   scripts/setup.sh dev                  and what its tests and checks need
#   scripts/setup.sh bench FOLDER         the rivals of the benchmark, in an environment of their own
#
# Any Python from 3.11 on will do: PYTHON names one, else the first that is found is taken. Packages come from
# wherever pip or uv is set up to look, and only as the hashes in requirements/ allow.
set -eu
cd "$(dirname "$0")/.."

kind=${1:-runtime}
folder=${2:-.venv}
python=$folder/bin/python

say() { printf '%s\n' "$*" >&2; }
fail() { say "$@"; exit 1; }

# What an environment was made from, and where.
fingerprint() { { pwd; cat "requirements/$1.txt" requirements/uv.txt pyproject.toml scripts/setup.sh; } | cksum; }
stamp() { printf '%s/.toolcrib-%s' "$folder" "$1"; }

new_enough() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; }

up_to_date() {
    [ -x "$folder/bin/toolcrib" ] && [ "$(cat "$(stamp "$kind")" 2>/dev/null)" = "$(fingerprint "$kind")" ] &&
        new_enough "$python"
}

# The scripts in an environment that was moved point nowhere.
was_moved() { [ -f "$folder/.toolcrib-place" ] && [ "$(cat "$folder/.toolcrib-place")" != "$(pwd)" ]; }

find_python() {
    for candidate in ${PYTHON:-python3 python3.14 python3.13 python3.12 python3.11 python}; do
        if new_enough "$candidate"; then
            printf '%s\n' "$candidate"
            return
        fi
    done
    say "Toolcrib needs Python 3.11 or newer and found none (tried ${PYTHON:-python3 and python3.14 to python3.11})."
    fail "Install one, or name it: make setup PYTHON=/path/to/python3"
}

# Debian and Ubuntu keep `venv` in a package of its own.
need_venv_module() {
    "$1" -c 'import ensurepip, venv' >/dev/null 2>&1 && return
    package=$("$1" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')
    scripts/system-packages.sh "$package" ||
        fail "Python's venv module is missing. Type: sudo apt-get install $package   then: make setup"
}

make_environment() {
    found=$(find_python)
    rm -rf "$folder"
    say "Making $folder with $("$found" --version)."
    if command -v uv >/dev/null 2>&1 && uv venv --quiet --seed --python "$found" "$folder"; then
        return
    fi
    need_venv_module "$found"
    "$found" -m venv "$folder"
}

with_pip() { "$python" -m pip install --quiet --disable-pip-version-check "$@"; }

# uv is much the faster. It comes into the environment itself, unless the machine has one.
find_uv() {
    if [ -x .venv/bin/uv ]; then
        uv=.venv/bin/uv
    elif command -v uv >/dev/null 2>&1; then
        uv=uv
    elif with_pip --require-hashes -r requirements/uv.txt; then
        uv=$folder/bin/uv
    else
        say "No uv for this machine; going on with pip."
        uv=
    fi
}

# uv does not read pip's settings, and a mirror named there is meant for us too.
share_pip_index() {
    [ -z "${UV_DEFAULT_INDEX:-}${UV_INDEX_URL:-}" ] || return 0
    index=${PIP_INDEX_URL:-$("$python" -m pip config get global.index-url 2>/dev/null || true)}
    [ -z "$index" ] || export UV_DEFAULT_INDEX="$index"
}

install() {
    if [ -n "$uv" ]; then
        # Compiled now, as pip does, and not at the first start; or at every one, where nothing may be written then.
        "$uv" pip install --quiet --compile-bytecode --python "$python" "$@" && return
        say "uv could not do it; trying pip."
    fi
    with_pip "$@"
}

# The page is built when it is missing or older than its sources. Without it everything else works, also `make test`.
build_page() {
    [ "$kind" = runtime ] || return 0
    ! "$python" scripts/build_page.py --check || return 0
    if ! "$python" scripts/build_page.py --node; then
        find_uv
        share_pip_index
        say "Fetching Node to build the page with."
        install --require-hashes -r requirements/node.txt || say "No Node for this machine."
    fi
    "$python" scripts/build_page.py ||
        say "The page could not be built; the browser will say so, and all else works. Try again with: make page"
}

# The same for the documentation, which takes a second.
build_docs() {
    [ "$kind" = bench ] || "$python" scripts/build_docs.py ||
        say "The documentation could not be built; all else works. Try again with: make docs"
}

[ -f "requirements/$kind.txt" ] || fail "There is no requirements/$kind.txt. Known: runtime, dev, bench."
if up_to_date; then
    build_page
    build_docs
    exit 0
fi

if was_moved || ! new_enough "$python"; then
    make_environment
fi
find_uv
share_pip_index
say "Installing what requirements/$kind.txt pins."
install --require-hashes -r "requirements/$kind.txt"
install --no-deps --no-build-isolation --editable .
"$python" -m compileall -q src
pwd >"$folder/.toolcrib-place"
fingerprint "$kind" >"$(stamp "$kind")"
# Everything of `runtime` is in `dev`, at the same versions.
[ "$kind" != dev ] || fingerprint runtime >"$(stamp runtime)"
build_page
build_docs
