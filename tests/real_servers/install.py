"""Installs the servers of the catalogue into `.cache/real-servers`, each once, exactly as pinned.

python -m tests.real_servers.install           all of them
python -m tests.real_servers.install --lock    write the pins anew from the catalogue and `npm/*/package.json`
"""

from __future__ import annotations

import argparse
from pathlib import Path

from tests.real_servers.catalogue import SERVERS, Npm, Python, RealServer
from tests.real_servers.node import ROOT, find_node
from tests.real_servers.npm_tree import install_tree, lock_tree
from tests.real_servers.python_tree import install_environment, lock_environment

HERE = Path(__file__).parent
CACHE = ROOT / ".cache" / "real-servers"


def install(server: RealServer) -> tuple[str, ...]:
    """Put the server in place where it is not yet, and give the command that starts it."""
    source = server.source
    if isinstance(source, Npm):
        return _npm_command(source, install_tree(HERE / "npm" / source.tree, CACHE / f"npm-{source.tree}"))
    environment = install_environment(HERE / "python" / f"{server.name}.txt", CACHE / f"py-{server.name}")
    return (str(environment / "bin" / source.script),)


def _npm_command(source: Npm, folder: Path) -> tuple[str, ...]:
    node = str(find_node().program)
    entry = str(folder / "node_modules" / source.package / source.entry)
    if source.offline_answer is None:
        return node, entry
    return node, "--require", str(HERE / "offline.cjs"), entry


def lock() -> None:
    """Resolve every server again; no pin says where it was fetched."""
    for package in (HERE / "npm").glob("*/package.json"):
        lock_tree(package.parent)
    for server in SERVERS:
        if isinstance(server.source, Python):
            pins = HERE / "python" / f"{server.name}.txt"
            lock_environment(server.source.requirements, pins, CACHE / "wanted")


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
