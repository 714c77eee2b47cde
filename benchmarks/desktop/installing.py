"""Puts the peers in place, each in an environment of its own under `.cache/bench/desktop`, exactly as pinned.

python -m benchmarks.desktop.installing --lock     write the pins anew from `pins/*.in`
"""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks.desktop.contract import HERE
from tests.real_servers.node import ROOT
from tests.real_servers.npm_tree import InstallFailed, run_installer
from tests.real_servers.python_tree import FORM, find_uv, install_environment

CACHE = ROOT / ".cache" / "bench" / "desktop"
PINS = HERE / "pins"

__all__ = ["InstallFailed", "environment_of"]


def environment_of(name: str) -> Path:
    """The folder of programs of an environment with what `pins/NAME.txt` says."""
    return install_environment(PINS / f"{name}.txt", CACHE / name) / "bin"


def lock() -> None:
    """Resolve everything again; no pin says where it was fetched."""
    for wanted in sorted(PINS.glob("*.in")):
        target = ("--output-file", str(wanted.with_suffix(".txt")))
        run_installer([find_uv(), "pip", "compile", "--quiet", *FORM, *target, str(wanted)])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lock", action="store_true", required=True)
    parser.parse_args()
    lock()
