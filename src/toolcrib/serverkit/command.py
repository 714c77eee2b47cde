"""A bundled server as a program: `python -m toolcrib.bundled.NAME [ARGUMENTS]`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import NoReturn

from toolcrib.errors import ToolcribError
from toolcrib.serverkit.server import ToolServer
from toolcrib.serverkit.stdio import run


def serve(create: Callable[[Sequence[str]], ToolServer], usage: str) -> NoReturn:
    """Make the server from the command line and serve it over stdio; wrong use ends with 2."""
    arguments = sys.argv[1:]
    if "--help" in arguments or "-h" in arguments:
        sys.stdout.write(f"{usage.strip()}\n")
        raise SystemExit(0)
    try:
        server = create(arguments)
    except ToolcribError as error:
        sys.stderr.write("\n".join(filter(None, (f"error: {error.message}", error.hint))) + "\n")
        raise SystemExit(error.exit_code) from None
    run(server)
