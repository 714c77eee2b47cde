#!/bin/sh
# Brings what `make acceptance` needs beyond Python packages: git, Chromium, zsh, fish, socat, bubblewrap, dovecot, PostgreSQL, a display, and Node 20 or newer with npm.
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

# The same browser without windows; the tests of the page take less time with it, and do not need it.
[ "$(uname)" != Linux ] || command -v chromium-headless-shell >/dev/null 2>&1 ||
    scripts/system-packages.sh chromium-headless-shell >/dev/null 2>&1 || true

[ "$(uname)" != Linux ] || command -v bwrap >/dev/null 2>&1 || scripts/system-packages.sh bubblewrap || {
    echo "The tests of sandboxes need bubblewrap. Install it with your system's package manager." >&2
    exit 1
}

# For completion with Tab, and for what the container runs.
for program in zsh fish socat; do
    command -v "$program" >/dev/null 2>&1 || scripts/system-packages.sh "$program" || {
        echo "The tests need $program. Install it with your system's package manager." >&2
        exit 1
    }
done

# Tests that need root run in a user namespace, in which newuidmap provides other users.
[ "$(uname)" != Linux ] || [ "$(id -u)" = 0 ] || command -v newuidmap >/dev/null 2>&1 ||
    scripts/system-packages.sh uidmap || {
    echo "Some tests give files to other users. Install newuidmap (Debian: uidmap), or run the tests as root." >&2
    exit 1
}

# The desktop server is tested on a display of its own, with programs of several toolkits.
desktop="Xvfb openbox dbus-daemon setxkbmap xterm mousepad zenity featherpad gnome-calculator qpdfview xclip xprop wmctrl xdotool"
missing=
for program in $desktop; do command -v "$program" >/dev/null 2>&1 || missing=yes; done
[ "$(uname)" != Linux ] || [ -z "$missing" ] || scripts/system-packages.sh xvfb openbox at-spi2-core dbus \
    fonts-dejavu-core libxcb1 libxcb-shm0 libxcb-randr0 x11-xkb-utils xterm mousepad zenity featherpad \
    gnome-calculator qpdfview xclip x11-utils wmctrl xdotool || {
    echo "The tests of the desktop need Xvfb, openbox, at-spi2-core and some programs; see scripts/test-needs.sh." >&2
    exit 1
}

command -v dovecot >/dev/null 2>&1 || [ -x /usr/sbin/dovecot ] || scripts/system-packages.sh dovecot-imapd || {
    echo "The tests of mail need dovecot. Install it with your system's package manager." >&2
    exit 1
}

[ -n "$(find /usr/lib/postgresql -name initdb 2>/dev/null)" ] || command -v initdb >/dev/null 2>&1 ||
    scripts/system-packages.sh postgresql || {
    echo "The tests of the shared database need PostgreSQL. Install it with your system's package manager." >&2
    exit 1
}

# The wheel is tried on this one too. Where it cannot be had, the tests only see that all packages exist for it.
command -v python3.14 >/dev/null 2>&1 || scripts/newer-python.sh 3.14 || true

# The official suite and the inspector want 22; found or put in place here, before several processes look for it.
.venv/bin/python -m tests.real_servers.node --at-least 20 >/dev/null
.venv/bin/python -m tests.real_servers.node --at-least 22 >/dev/null
