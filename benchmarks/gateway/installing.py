"""Puts the gateways in place, each in a folder of its own under `.cache/bench/gateways`, exactly as pinned.

python -m benchmarks.gateway.installing --lock     write the pins anew from `*.in` and `package.json`
"""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

from benchmarks.gateway.contract import HERE
from tests.real_servers.node import ROOT, find_node
from tests.real_servers.npm_tree import InstallFailed, Mark, install_tree, lock_tree, run_installer

CACHE = ROOT / ".cache" / "bench" / "gateways"
PINS = HERE / "pins"

__all__ = ["InstallFailed", "node_program", "npm_package", "python_environment"]


def python_environment(name: str) -> Path:
    """The folder of programs of an environment with what `pins/python/NAME.txt` says."""
    folder, pins = CACHE / name, PINS / "python" / f"{name}.txt"
    mark = Mark(folder, sys.version, [pins])
    if not mark.is_current():
        uv = _uv()
        run_installer([uv, "venv", "--quiet", "--clear", "--python", sys.executable, str(folder)])
        run_installer([uv, "pip", "sync", "--quiet", "--python", str(folder / "bin/python"), str(pins)])
        mark.set()
    return folder / "bin"


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


def _uv() -> str:
    beside = (str(Path(sys.executable).parent), str(ROOT / ".venv" / "bin"), None)
    found = next((uv for place in beside if (uv := shutil.which("uv", path=place))), None)
    if found is None:
        raise InstallFailed("There is no uv. Run `make setup`.")
    return found


def lock() -> None:
    """Resolve everything again that has a lock; no pin says where it was fetched."""
    for locked in (PINS / "npm").glob("*/package-lock.json"):
        lock_tree(locked.parent)
    form = ["--universal", "--python-version", "3.11", "--no-header", "--no-annotate", "--no-emit-index-url"]
    for wanted in (PINS / "python").glob("*.in"):
        target = wanted.with_suffix(".txt")
        run_installer([_uv(), "pip", "compile", "--quiet", *form, "--output-file", str(target), str(wanted)])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lock", action="store_true", required=True)
    parser.parse_args()
    lock()
