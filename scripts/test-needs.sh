#!/bin/sh
# Brings what the tests need beyond Python packages: git, Chromium, and Node 20 or newer with npm.
# Bubblewrap is one of the terminal's sandboxes; where it cannot be had, the others are tested alone.
# Node comes from the system where it is new enough, else from PyPI into .venv.
set -eu
cd "$(dirname "$0")/.."

command -v git >/dev/null 2>&1 || scripts/system-packages.sh git || {
    echo "The tests need git. Install it with your system's package manager." >&2
    exit 1
}

command -v chromium >/dev/null 2>&1 || command -v google-chrome >/dev/null 2>&1 ||
    scripts/system-packages.sh chromium || {
    echo "The tests of the page need Chromium. Install it with your system's package manager." >&2
    exit 1
}

[ "$(uname)" != Linux ] || command -v bwrap >/dev/null 2>&1 || scripts/system-packages.sh bubblewrap ||
    echo "Without bubblewrap, the terminal is tested in its other sandboxes alone." >&2

# The official suite and the inspector want 22; found or put in place here, before several processes look for it.
.venv/bin/python -m tests.real_servers.node --at-least 20 >/dev/null
.venv/bin/python -m tests.real_servers.node --at-least 22 >/dev/null
