"""Kinds of values on the command line that click does not have."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import click


class Seconds(click.FloatRange):
    """A number of seconds within bounds; `nan` and `inf` are no numbers here."""

    name = "seconds"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number."""
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a number of seconds.", param, ctx)
        return number


class Folder(click.Path):
    """The path of a folder; an empty one is a mistake, not the folder one happens to be in."""

    name = "folder"

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The path."""
        if value == "":
            self.fail("it is empty; name a folder.", param, ctx)
        return super().convert(value, param, ctx)
