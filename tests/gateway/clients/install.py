"""Installs the clients that the gateway is tested with into `.cache/gateway-clients`, each once, as pinned.

python -m tests.gateway.clients.install           all of them
python -m tests.gateway.clients.install --lock    write the pins anew from `npm/*/package.json` and from here

The Inspector is installed without the builder of its web pages, which is most of its size: `overrides` in its
`package.json` put a small package in the builder's place. Its command line does not need it.
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

from tests.real_servers.node import ROOT, find_node
from tests.real_servers.npm_tree import install_tree, lock_tree
from tests.real_servers.python_tree import install_environment, lock_environment

HERE = Path(__file__).parent
CACHE = ROOT / ".cache" / "gateway-clients"
OLDEST_NODE = 22
"""The Inspector's; the others are content with 20."""
FASTMCP = "fastmcp==4.1.2"
TREES = ("inspector", "typescript")
INSPECTOR = "node_modules/@modelcontextprotocol/inspector/clients"


def node() -> str:
    """The Node that runs them."""
    return str(find_node(OLDEST_NODE).program)


def typescript(program: str) -> tuple[str, str]:
    """The command of a program of ours, which finds both TypeScript SDKs because it is copied beside them."""
    folder = install_tree(HERE / "npm" / "typescript", CACHE / "npm-typescript", OLDEST_NODE)
    for file in HERE.glob("*/*.mjs"):
        shutil.copy(file, folder)
    return node(), str(folder / program)


def inspector(program: str = "launcher/build/index.js") -> tuple[str, str]:
    """The command of the Inspector."""
    folder = install_tree(HERE / "npm" / "inspector", CACHE / "npm-inspector", OLDEST_NODE)
    return node(), str(folder / INSPECTOR / program)


def fastmcp() -> str:
    """The Python that has fastmcp."""
    return str(install_environment(HERE / "python" / "fastmcp.txt", CACHE / "py-fastmcp") / "bin" / "python")


def lock() -> None:
    """Resolve every client again; no pin says where it was fetched."""
    for tree in TREES:
        lock_tree(HERE / "npm" / tree, OLDEST_NODE)
    lock_environment((FASTMCP,), HERE / "python" / "fastmcp.txt", CACHE / "wanted")


def main() -> None:
    """Install or lock."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lock", action="store_true")
    if parser.parse_args().lock:
        lock()
        return
    print(*typescript("typescript_1.mjs"), *inspector(), fastmcp(), sep="\n")


if __name__ == "__main__":
    main()
