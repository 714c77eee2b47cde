"""Installs the official conformance suite into `.cache/conformance`, once, exactly as pinned.

python -m tests.conformance.install           install it and say how it is started
python -m tests.conformance.install --lock    write the pins anew from `npm/package.json`
"""

from __future__ import annotations

import argparse
from pathlib import Path

from tests.real_servers.node import ROOT, find_node
from tests.real_servers.npm_tree import install_tree, lock_tree

PINS = Path(__file__).parent / "npm"
ENTRY = "node_modules/@modelcontextprotocol/conformance/dist/index.js"
OLDEST_NODE = 22


def install() -> tuple[str, ...]:
    """Put the suite in place where it is not yet, and give the command that starts it."""
    folder = install_tree(PINS, ROOT / ".cache" / "conformance", OLDEST_NODE)
    return str(find_node(OLDEST_NODE).program), str(folder / ENTRY)


def main() -> None:
    """Install or lock."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lock", action="store_true")
    if parser.parse_args().lock:
        lock_tree(PINS, OLDEST_NODE)
    else:
        print(*install())


if __name__ == "__main__":
    main()
