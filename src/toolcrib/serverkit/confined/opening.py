"""The seam between the two ways to open something beneath a folder, and the choice between them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import reduce
from operator import or_
from typing import Protocol


def _flags(*names: str) -> int:
    """Those of the names that the system knows; Windows, which is refused later, lacks most."""
    return reduce(or_, (getattr(os, name, 0) for name in names))


FOLDER = _flags("O_DIRECTORY", "O_CLOEXEC", "O_PATH")
"""Enough to resolve names in a folder; needs no right to list it where the system knows `O_PATH`."""
LISTING = _flags("O_RDONLY", "O_DIRECTORY", "O_CLOEXEC")
READING = _flags("O_RDONLY", "O_NONBLOCK", "O_NOCTTY", "O_CLOEXEC")
"""Never waits: a pipe that nobody writes to opens at once and is then refused by its type."""


class Escape(Exception):
    """The path leads out of the folder."""


class Opener(Protocol):
    """Opens what lies beneath a folder.

    `parts` are names without a slash; `..` is allowed as long as it stays inside. Relative links are followed
    inside the folder. Raises `Escape` for anything that leads out, else the usual `OSError`.
    """

    def open(self, root: int, parts: Sequence[str], flags: int) -> tuple[int, tuple[str, ...]]:
        """A descriptor of an existing file or folder, and the names that lead to it without any link."""


def best_opener() -> Opener:
    """The kernel's own where it has one, else the walk."""
    from toolcrib.serverkit.confined import kernel
    from toolcrib.serverkit.confined.walk import WalkOpener

    return kernel.KernelOpener() if kernel.available() else WalkOpener()
