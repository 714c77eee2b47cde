"""Words into calls, results into text: the command line."""

from __future__ import annotations


def main() -> None:
    """The program `toolcrib`."""
    import gc
    import sys

    # Look for unreachable cycles every 10,000 new objects instead of 700: what is loaded stays,
    # and with calls under way that many are alive at any time. It took a tenth of the CPU of both.
    gc.set_threshold(10_000, *gc.get_threshold()[1:])

    try:
        from toolcrib.cli.entry import run

        code = run(sys.argv[1:])
    except KeyboardInterrupt:  # While modules are loaded, or while the end is told.
        code = 130
    sys.exit(code)
