"""The result of a search: the tools always on, the best matches and those just used (at most five), in this
order, each with its reasons.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from toolcrib.schema.tools import Reason, Tool

Kind = Literal["always on", "match", "just used"]
"""Why a tool was selected."""


MOST_RECENT = 5


@dataclass(frozen=True, kw_only=True)
class Pick:
    tool: Tool
    score: float
    """Comparable within one selection; 0 for tools that were not selected by score."""
    kind: Kind = "match"
    reasons: tuple[Reason, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Selection:
    """The tools for a question: those always on, then the best, then those just used."""

    picks: tuple[Pick, ...] = ()
    note: str = ""
    """A note for the user about the search, mostly empty."""

    @property
    def tools(self) -> tuple[Tool, ...]:
        return tuple(pick.tool for pick in self.picks)

    @property
    def matches(self) -> tuple[Pick, ...]:
        """The tools selected for the question."""
        return tuple(pick for pick in self.picks if pick.kind == "match")

    def __iter__(self) -> Iterator[Pick]:
        return iter(self.picks)

    def __len__(self) -> int:
        return len(self.picks)


def assemble(
    always_on: Sequence[Tool], best: Sequence[Pick], recent: Sequence[Tool], note: str = ""
) -> Selection:
    """The three groups in order, without duplicates."""
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
