"""Installs the official conformance suite into `.cache/conformance`, once, exactly as pinned.

python -m tests.conformance.install           install it and say how it is started
python -m tests.conformance.install --lock    write the pins anew from `npm/package.json`
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
import subprocess
from functools import cache
from pathlib import Path

from tests.real_servers.node import ROOT, find_node

PINS = Path(__file__).parent / "npm"
CACHE = ROOT / ".cache" / "conformance"
ENTRY = "node_modules/@modelcontextprotocol/conformance/dist/index.js"
OLDEST_NODE = 22
QUIET_NPM = ("--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
INSTALL_DEADLINE = 540.0


class InstallFailed(RuntimeError):
    """The suite could not be installed; the message holds what npm said."""


@cache
def install() -> tuple[str, ...]:
    """Put the suite in place where it is not yet, and give the command that starts it."""
    node = find_node(OLDEST_NODE)
    mark = CACHE / ".installed"
    if not mark.exists() or mark.read_text() != _fingerprint():
        shutil.rmtree(CACHE, ignore_errors=True)
        CACHE.mkdir(parents=True)
        for pin in PINS.iterdir():
            shutil.copy(pin, CACHE)
        _npm("ci", "--prefix", str(CACHE))
        mark.write_text(_fingerprint())
    return str(node.program), str(CACHE / ENTRY)


def lock() -> None:
    """Resolve the suite again; no pin says where it was fetched."""
    _npm("install", "--prefix", str(PINS), "--package-lock-only", "--omit-lockfile-registry-resolved")


def _npm(*arguments: str) -> None:
    command = [*find_node(OLDEST_NODE).npm, *arguments, *QUIET_NPM]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
        timeout=INSTALL_DEADLINE,
    )
    if done.returncode:
        raise InstallFailed(f"{' '.join(command)} failed:\n{done.stdout[-2000:]}{done.stderr[-4000:]}")


def _fingerprint() -> str:
    told = [str(find_node(OLDEST_NODE).program), *(pin.read_text() for pin in sorted(PINS.iterdir()))]
    return hashlib.sha256("\n".join(told).encode()).hexdigest()


def main() -> None:
    """Install or lock."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lock", action="store_true")
    if parser.parse_args().lock:
        lock()
    else:
        print(*install())


if __name__ == "__main__":
    main()
