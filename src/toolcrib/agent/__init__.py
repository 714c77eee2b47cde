"""The loop: asks a model, calls the tools it wants, and goes on until there is an answer."""

from toolcrib.agent.agent import Agent
from toolcrib.agent.events import AgentEvent, TurnEnded

__all__ = ["Agent", "AgentEvent", "TurnEnded"]
