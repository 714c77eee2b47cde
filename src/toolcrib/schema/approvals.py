"""Approval terms: the modes and when each asks, effects (allow, ask, deny), scopes of an answer, and results
of rules.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Effect = Literal["allow", "ask", "deny"]
Mode = Literal["always", "on_miss", "on_rule", "plan", "session", "off"]
"""When the user is asked: always; unless a rule allows the call; only if a rule asks; plan (read-only,
nothing else runs); session (not until the turn ends); off (never)."""
Scope = Literal["once", "chat", "project", "always"]
SCOPES: tuple[Scope, ...] = ("once", "chat", "project", "always")
FlowException = Literal["tool", "turn", "session"]
"""How far untrusted content may cause calls: of this tool, until the turn ends, or in the whole session."""
FLOW_EXCEPTIONS: tuple[FlowException, ...] = ("tool", "turn", "session")


@dataclass(frozen=True, kw_only=True)
class CallScope:
    """What a call acts on, as its tool says; one approval can cover all calls of a scope."""

    key: str
    """Equal keys are the same question; empty if each call needs its own."""
    label: str
    """What an approval allows: `Control the window “Notes” (gedit)`."""
    reason: str = ""
    """Why each call needs its own approval."""
    refusal: str = ""
    """Why the call would fail anyway, so that nobody needs to be asked."""


@dataclass(frozen=True, kw_only=True)
class RuleResult:
    """One rule's result for a call."""

    effect: Effect
    rule: str
    """The rule's name, or the id of a user's rule."""
    reason: str
    final: bool = False
    """An ask that no user's rule overrides, or an allow that no mode turns into a question."""
    reads: bool = False
    """An allow because the call is read-only."""
    overridable: bool = False
    """An ask that a user's rule for the tool answers."""
    once: bool = False
    """An ask whose yes is for this one call: what runs may be something else the next time."""
    on_rule: bool = True
    """Counts in the mode `on_rule` too."""


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """The gate's verdict before anyone is asked."""

    decision: Effect
    rule: str | None
    """The rule that decided; None if the mode did."""
    reasons: tuple[str, ...]
    flow: bool = False
    """Asks because untrusted content could have caused the call."""
    once: bool = False
    """A yes is for this one call; No is the main answer."""
