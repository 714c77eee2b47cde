"""What a search comes back with: the tools it picked, and why each of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from toolcrib.schema.tools import Tool

Kind = Literal["always on", "match", "just used"]
"""How a tool came to be picked."""


MOST_RECENT = 5


@dataclass(frozen=True, kw_only=True)
class Reason:
    """One part of a tool that speaks for it."""

    field: str
    """name, server, description, parameters, parameter descriptions; `exact name` for a name given whole,
    `meaning` for what the model sees beyond the words."""
    terms: tuple[str, ...]
    """Words of the question, as they stand in it."""
    score: float
    """What this adds to the tool's score."""


@dataclass(frozen=True, kw_only=True)
class Pick:
    """A tool that was picked."""

    tool: Tool
    score: float
    """How well it fits; comparable within one selection, and 0 for one that is not here for its fit."""
    kind: Kind = "match"
    reasons: tuple[Reason, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Selection:
    """The tools for a question: those always on, then the best, then those just used."""

    picks: tuple[Pick, ...] = ()
    note: str = ""
    """What a person should know of how it was made, such as evidence that was not to be had; mostly empty."""

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools alone."""
        return tuple(pick.tool for pick in self.picks)

    @property
    def matches(self) -> tuple[Pick, ...]:
        """Those that are here because they fit the question."""
        return tuple(pick for pick in self.picks if pick.kind == "match")

    def __iter__(self) -> Iterator[Pick]:
        return iter(self.picks)

    def __len__(self) -> int:
        return len(self.picks)


def assemble(
    always_on: Sequence[Tool], best: Sequence[Pick], recent: Sequence[Tool], note: str = ""
) -> Selection:
    """The three groups in their order; nothing is picked twice."""
    taken = {tool.name for tool in always_on} | {pick.tool.name for pick in best}
    last = [tool for tool in recent[:MOST_RECENT] if tool.name not in taken]
    return Selection(
        picks=(
            *(Pick(tool=tool, score=0.0, kind="always on") for tool in always_on),
            *best,
            *(Pick(tool=tool, score=0.0, kind="just used") for tool in last),
        ),
        note=note,
    )
