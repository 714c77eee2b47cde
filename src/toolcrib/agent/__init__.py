"""The loop: asks a model, calls the tools it wants, and goes on until there is an answer.

The loop itself is loaded on first use: a host that nobody asks anything needs only what waits beside it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from toolcrib.agent.agent import Agent
    from toolcrib.agent.events import AgentEvent, TurnEnded

_HOMES = {"Agent": "agent", "AgentEvent": "events", "TurnEnded": "events"}

__all__ = ["Agent", "AgentEvent", "TurnEnded"]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{home}"), name)
