"""What was corrected or assumed when a workflow was made, for the user to check."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Doubt:
    node: str | None
    """The id of the node; None for the workflow as a whole."""
    message: str
