"""The folder that files are saved to and taken from."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from toolcrib.serverkit.confined import Roots
from toolcrib.serverkit.context import ToolFailure


@contextmanager
def allowed(folder: Path) -> Iterator[Roots]:
    """The folder, opened; it is made if it is missing."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise ToolFailure(
            f"The folder {folder} cannot be made: {error.strerror}.",
            "The user can choose another one with --folder in the server's arguments.",
        ) from error
    roots = Roots([folder])
    try:
        yield roots
    finally:
        roots.close()
