"""Installs the servers of the catalogue into `.cache/real-servers`, each once, exactly as pinned.

python -m tests.real_servers.install           all of them
python -m tests.real_servers.install --lock    write the pins anew from the catalogue and `npm/*/package.json`
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

from tests.real_servers.catalogue import SERVERS, Npm, Python, RealServer
from tests.real_servers.node import ROOT, find_node

HERE = Path(__file__).parent
CACHE = ROOT / ".cache" / "real-servers"
QUIET_NPM = ("--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
INSTALL_DEADLINE = 540.0


class InstallFailed(RuntimeError):
    """A server could not be installed; the message holds what the installer said."""


def install(server: RealServer) -> tuple[str, ...]:
    """Put the server in place where it is not yet, and give the command that starts it."""
    if isinstance(server.source, Npm):
        return _npm_command(server.source, _install_npm(server.source.tree))
    return _python_command(server.source, _install_python(server.name))


@cache
def _install_npm(tree: str) -> Path:
    """All servers of one tree at once."""
    folder = CACHE / f"npm-{tree}"
    pins = [HERE / "npm" / tree / "package.json", HERE / "npm" / tree / "package-lock.json"]
    if _is_current(folder, pins):
        return folder
    _empty(folder)
    for pin in pins:
        shutil.copy(pin, folder)
    _run([*find_node().npm, "ci", "--prefix", str(folder), *QUIET_NPM])
    _mark_current(folder, pins)
    return folder


@cache
def _install_python(name: str) -> Path:
    folder = CACHE / f"py-{name}"
    pins = [HERE / "python" / f"{name}.txt"]
    if _is_current(folder, pins):
        return folder
    _empty(folder)
    uv = _uv()
    _run([uv, "venv", "--quiet", "--clear", "--python", sys.executable, str(folder)])
    _run([uv, "pip", "sync", "--quiet", "--python", str(folder / "bin/python"), str(pins[0])])
    _mark_current(folder, pins)
    return folder


def _npm_command(source: Npm, folder: Path) -> tuple[str, ...]:
    node = str(find_node().program)
    entry = str(folder / "node_modules" / source.package / source.entry)
    if source.offline_answer is None:
        return node, entry
    return node, "--require", str(HERE / "offline.cjs"), entry


def _python_command(source: Python, folder: Path) -> tuple[str, ...]:
    return (str(folder / "bin" / source.script),)


def _uv() -> str:
    """The one beside this Python, which `make setup` put there, before one of the system's."""
    found = shutil.which("uv", path=str(Path(sys.executable).parent)) or shutil.which("uv")
    if found is None:
        raise InstallFailed("There is no uv. Run `make setup`.")
    return found


def _run(command: list[str]) -> None:
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
            timeout=INSTALL_DEADLINE,
        )
    except subprocess.TimeoutExpired as late:
        raise InstallFailed(f"{' '.join(command)} took longer than {INSTALL_DEADLINE:.0f} s.") from late
    if done.returncode:
        raise InstallFailed(f"{' '.join(command)} failed:\n{done.stdout[-2000:]}{done.stderr[-4000:]}")


def _fingerprint(pins: list[Path]) -> str:
    """What was installed, for which Python and Node, and where: environments cannot be moved."""
    told = [str(CACHE), sys.version, str(find_node().program), *(pin.read_text() for pin in pins)]
    return hashlib.sha256("\n".join(told).encode()).hexdigest()


def _is_current(folder: Path, pins: list[Path]) -> bool:
    mark = folder / ".installed"
    return mark.exists() and mark.read_text() == _fingerprint(pins)


def _mark_current(folder: Path, pins: list[Path]) -> None:
    (folder / ".installed").write_text(_fingerprint(pins))


def _empty(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)


def lock() -> None:
    """Resolve every server again; no pin says where it was fetched."""
    form = ["--package-lock-only", "--omit-lockfile-registry-resolved", *QUIET_NPM]
    for package in (HERE / "npm").glob("*/package.json"):
        _run([*find_node().npm, "install", "--prefix", str(package.parent), *form])
    for server in SERVERS:
        if isinstance(server.source, Python):
            _lock_python(server.name, server.source)


def _lock_python(name: str, source: Python) -> None:
    wanted = CACHE / f"{name}.in"
    wanted.parent.mkdir(parents=True, exist_ok=True)
    wanted.write_text("\n".join(source.requirements))
    target = HERE / "python" / f"{name}.txt"
    form = ["--universal", "--python-version", "3.11", "--no-header", "--no-annotate", "--no-emit-index-url"]
    _run([_uv(), "pip", "compile", "--quiet", *form, "--output-file", str(target), str(wanted)])


def main() -> None:
    """Install or lock, saying what is done."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lock", action="store_true")
    if parser.parse_args().lock:
        return lock()
    for server in SERVERS:
        print(server.name, *install(server))
    return None


if __name__ == "__main__":
    main()
