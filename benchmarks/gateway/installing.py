"""Puts the gateways in place, each in a folder of its own under `.cache/bench/gateways`, exactly as pinned.

python -m benchmarks.gateway.installing --lock     write the pins anew from `*.in` and `package.json`
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

from benchmarks.gateway.contract import HERE
from tests.real_servers.node import ROOT, find_node
from tests.real_servers.npm_tree import InstallFailed, install_tree, lock_tree, run_installer
from tests.real_servers.python_tree import FORM, find_uv, install_environment

CACHE = ROOT / ".cache" / "bench" / "gateways"
PINS = HERE / "pins"

__all__ = ["InstallFailed", "node_program", "npm_package", "python_environment"]


def python_environment(name: str) -> Path:
    """The folder of programs of an environment with what `pins/python/NAME.txt` says."""
    return install_environment(PINS / "python" / f"{name}.txt", CACHE / name) / "bin"


def npm_package(name: str, package: str) -> Path:
    """The folder of a package of the tree that `pins/npm/NAME` describes."""
    pins = PINS / "npm" / name
    if not (pins / "package-lock.json").exists():
        pins = _locked_here(pins)
    return install_tree(pins, CACHE / name) / "node_modules" / package


def _locked_here(pins: Path) -> Path:
    """A copy of the pins with a lock, for a package that was not to be had where the others were locked."""
    folder = CACHE / "pins" / pins.name
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(pins / "package.json", folder)
    if not (folder / "package-lock.json").exists():
        lock_tree(folder)
    return folder


def node_program(script: Path) -> list[str]:
    """What runs a script of a package, kept on loopback."""
    return [str(find_node().program), "--require", str(HERE / "loopback.cjs"), str(script)]


def lock() -> None:
    """Resolve everything again that has a lock; no pin says where it was fetched."""
    for locked in (PINS / "npm").glob("*/package-lock.json"):
        lock_tree(locked.parent)
    for wanted in (PINS / "python").glob("*.in"):
        target = wanted.with_suffix(".txt")
        run_installer(
            [find_uv(), "pip", "compile", "--quiet", *FORM, "--output-file", str(target), str(wanted)]
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lock", action="store_true", required=True)
    parser.parse_args()
    lock()
