"""Installs the servers of the catalogue into `.cache/real-servers`, each once, exactly as pinned.

python -m tests.real_servers.install           all of them
python -m tests.real_servers.install --lock    write the pins anew from the catalogue and `npm/*/package.json`
"""

from __future__ import annotations

import argparse
import shutil
import sys
from functools import cache
from pathlib import Path

from tests.real_servers.catalogue import SERVERS, Npm, Python, RealServer
from tests.real_servers.node import ROOT, find_node
from tests.real_servers.npm_tree import InstallFailed, Mark, install_tree, lock_tree, run_installer

HERE = Path(__file__).parent
CACHE = ROOT / ".cache" / "real-servers"


def install(server: RealServer) -> tuple[str, ...]:
    """Put the server in place where it is not yet, and give the command that starts it."""
    source = server.source
    if isinstance(source, Npm):
        return _npm_command(source, install_tree(HERE / "npm" / source.tree, CACHE / f"npm-{source.tree}"))
    return (str(_install_python(server.name) / "bin" / source.script),)


def _npm_command(source: Npm, folder: Path) -> tuple[str, ...]:
    node = str(find_node().program)
    entry = str(folder / "node_modules" / source.package / source.entry)
    if source.offline_answer is None:
        return node, entry
    return node, "--require", str(HERE / "offline.cjs"), entry


@cache
def _install_python(name: str) -> Path:
    folder, pins = CACHE / f"py-{name}", HERE / "python" / f"{name}.txt"
    mark = Mark(folder, sys.version, [pins])
    if mark.is_current():
        return folder
    uv = _uv()
    run_installer([uv, "venv", "--quiet", "--clear", "--python", sys.executable, str(folder)])
    run_installer([uv, "pip", "sync", "--quiet", "--python", str(folder / "bin/python"), str(pins)])
    mark.set()
    return folder


def _uv() -> str:
    """The one beside this Python, which `make setup` put there, before one of the system's."""
    found = shutil.which("uv", path=str(Path(sys.executable).parent)) or shutil.which("uv")
    if found is None:
        raise InstallFailed("There is no uv. Run `make setup`.")
    return found


def lock() -> None:
    """Resolve every server again; no pin says where it was fetched."""
    for package in (HERE / "npm").glob("*/package.json"):
        lock_tree(package.parent)
    for server in SERVERS:
        if isinstance(server.source, Python):
            _lock_python(server.name, server.source)


def _lock_python(name: str, source: Python) -> None:
    wanted = CACHE / "wanted" / f"{name}.in"
    wanted.parent.mkdir(parents=True, exist_ok=True)
    wanted.write_text("\n".join(source.requirements))
    target = HERE / "python" / f"{name}.txt"
    form = ["--universal", "--python-version", "3.11", "--no-header", "--no-annotate", "--no-emit-index-url"]
    run_installer([_uv(), "pip", "compile", "--quiet", *form, "--output-file", str(target), str(wanted)])


def main() -> None:
    """Install or lock, saying what is done."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lock", action="store_true")
    if parser.parse_args().lock:
        lock()
        return
    for server in SERVERS:
        print(server.name, *install(server))


if __name__ == "__main__":
    main()
