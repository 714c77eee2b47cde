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


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """The gate's opinion before anybody is asked."""

    decision: Effect
    rule: str | None
    """Which rule decided; None where the mode did."""
    reasons: tuple[str, ...]
    flow: bool = False
    """It asks because untrusted content could have caused the call."""
