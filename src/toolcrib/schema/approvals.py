"""The words in which calls are approved: effects, modes, scopes, and what a judgement says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Effect = Literal["allow", "ask", "deny"]
Mode = Literal["always", "on_miss", "on_rule", "plan", "session", "off"]
"""When a person is asked: each time; where no rule allows; only where a rule asks; never, for only reading is
allowed; never, for a while and a reason; never."""
Scope = Literal["once", "chat", "project", "always"]
SCOPES: tuple[Scope, ...] = ("once", "chat", "project", "always")
Lift = Literal["tool", "turn", "session"]
"""How far content from outside may act: by this tool, until the turn ends, or in the whole session."""
LIFTS: tuple[Lift, ...] = ("tool", "turn", "session")


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What one rule says of a call."""

    effect: Effect
    rule: str
    """The rule's name, or the id of a person's rule."""
    reason: str
    firm: bool = False
    """An ask that no rule of a person lifts, or an allow that no mode turns into a question."""
    reads: bool = False
    """An allow that is given because the call only reads."""
    vouchable: bool = False
    """An ask that comes no more once a person's rule allows the call."""


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """The gate's opinion before anybody is asked."""

    decision: Effect
    rule: str | None
    """Which rule decided; None where the mode did."""
    reasons: tuple[str, ...]
    flow: bool = False
    """It asks because untrusted content could have caused the call."""
