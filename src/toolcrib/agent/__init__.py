"""The agent loop: asks a model, calls the tools it wants, and repeats until there is an answer.

Loaded on first use: a host without chats does not need it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolcrib.loading import lazy_names

if TYPE_CHECKING:
    from toolcrib.agent.agent import Agent
    from toolcrib.agent.events import AgentEvent, TurnEnded

_MODULES = {"Agent": "agent", "AgentEvent": "events", "TurnEnded": "events"}

__all__ = ["Agent", "AgentEvent", "TurnEnded"]

__getattr__ = lazy_names(__name__, _MODULES)
