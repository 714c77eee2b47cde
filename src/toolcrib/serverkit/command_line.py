"""Reads the command line of a server."""

from __future__ import annotations

import argparse
from typing import NoReturn

from toolcrib.errors import UsageError


class ServerArguments(argparse.ArgumentParser):
    """Raises `UsageError` with the first line of the usage text; options are never abbreviated."""

    def __init__(self, server: str, usage: str) -> None:
        super().__init__(server, add_help=False, allow_abbrev=False)
        self._hint = usage.strip().splitlines()[0]

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{self.prog}: {message}.", hint=self._hint)
