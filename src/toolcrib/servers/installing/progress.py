"""What an installation tells on its way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Literal

Stage = Literal["runtime", "resolve", "fetch", "copy", "scripts", "build", "activate"]


@dataclass(frozen=True)
class Step:
    """One thing that is under way; `total` is 0 where nobody knows how much there is."""

    stage: Stage
    detail: str
    done: int = 0
    total: int = 0

    def as_json(self) -> dict[str, Any]:
        """The form that surfaces are told."""
        return asdict(self)


Progress = Callable[[Step], None]
"""A plain call: it never waits."""


def unheard(step: Step) -> None:
    """Nobody listens."""
