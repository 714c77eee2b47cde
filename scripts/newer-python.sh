#!/bin/sh
# Puts a Python that this Debian does not have into .cache/python-VERSION, from the packages of Debian's next release, with the
# libraries that it needs: `make acceptance` tries the wheel on it. Nothing is installed into the system but patchelf.
# Fails where that is not possible: on other systems, without a network, or when no Debian has that version.
set -eu
cd "$(dirname "$0")/.."

version=$1
made=.cache/python-$version
[ ! -x "$made/usr/bin/python$version" ] || exit 0
command -v apt-get >/dev/null 2>&1 || exit 1
command -v patchelf >/dev/null 2>&1 || scripts/system-packages.sh patchelf

new=$PWD/$made.new
rm -rf "$new"
trap 'rm -rf "$new"' EXIT
mkdir -p "$new/lists/partial" "$new/cache/archives/partial" "$new/root"
: >"$new/status" # no package counts as installed, so each library comes along

# The place where this system's own packages come from.
place=$(apt-get indextargets --format '$(ORIGIN) $(LABEL) $(REPO_URI)' | sed -n 's/^Debian Debian //p' | head -n 1)
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $place unstable main" >"$new/sources"
apt() {
    apt-get -qq -o Dir::Etc::SourceList="$new/sources" -o Dir::Etc::SourceParts=- -o Dir::State::Lists="$new/lists" \
        -o Dir::State::Status="$new/status" -o Dir::Cache="$new/cache" -o APT::Sandbox::User=root \
        -o Debug::NoLocking=1 "$@" >/dev/null
}
apt update
apt install --yes --no-install-recommends --download-only "python$version-venv" libstdc++6
for package in "$new"/cache/archives/*.deb; do dpkg-deb --extract "$package" "$new/root"; done

mv "$new/root" "$made"
libraries=$(dirname "$(find "$PWD/$made/usr/lib" -name 'libc.so.6')")
patchelf --set-interpreter "$(find "$libraries" -name 'ld-linux*')" --force-rpath --set-rpath "$libraries" \
    "$made/usr/bin/python$version" || { rm -rf "$made"; exit 1; }
