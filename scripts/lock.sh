#!/bin/sh
# Writes requirements/*.txt: pins with hashes, for every supported Python and system, and no word of where they
# were fetched. Keeps the pins that still fit; `make lock UPGRADE=1` moves all of them to the newest that do.
set -eu
cd "$(dirname "$0")/.."

uv=.venv/bin/uv
[ -x "$uv" ] || uv=uv

compile() {
    target=requirements/$1.txt
    shift
    "$uv" pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --no-header \
        --no-emit-index-url --no-emit-find-links ${UPGRADE:+--upgrade} -o "$target" "$@" >/dev/null
    if grep -n '://' "$target"; then
        echo "$target names an address; a lock must not." >&2
        exit 1
    fi
}

# The extras of bundled servers, which users install when they need them.
extras="--extra browser --extra calendar --extra canvas --extra desktop --extra desktop-grpc --extra desktop-ocr --extra mail --extra postgres --extra web --extra workflows"

mkdir -p requirements
compile uv --group installer
compile runtime pyproject.toml --group build -c requirements/uv.txt
compile dev pyproject.toml $extras --group build --group dev -c requirements/runtime.txt -c requirements/uv.txt
compile node --group node
compile bench pyproject.toml --group build --group bench -c requirements/runtime.txt
