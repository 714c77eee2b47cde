#!/bin/sh
# Installs Debian packages by name where that is possible without asking anyone: as root, or with a sudo that
# wants no password. Fails quietly otherwise, so that the caller can say what to type.
set -eu

command -v apt-get >/dev/null 2>&1 || exit 1
if [ "$(id -u)" = 0 ]; then
    as_root=
elif sudo -n true 2>/dev/null; then
    as_root="sudo -n"
else
    exit 1
fi

export DEBIAN_FRONTEND=noninteractive
echo "Installing the system packages: $*" >&2
$as_root apt-get install -qq -y --no-install-recommends "$@" >/dev/null 2>&1 && exit 0
# The package lists may be missing or old.
$as_root apt-get update -qq >/dev/null 2>&1 || true
$as_root apt-get install -qq -y --no-install-recommends "$@" >/dev/null
