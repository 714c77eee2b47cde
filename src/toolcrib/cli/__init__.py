"""Words into calls, results into text: the command line."""

from __future__ import annotations


def main() -> None:
    """The program `toolcrib`."""
    import sys

    from toolcrib.cli.entry import run

    sys.exit(run(sys.argv[1:]))
