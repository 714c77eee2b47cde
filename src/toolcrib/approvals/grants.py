"""Approvals of a session for everything that one scope covers, such as one window; never stored."""

from __future__ import annotations

from dataclasses import dataclass, field

from toolcrib.approvals.verdict import FLOW, OUTGOING
from toolcrib.schema.approvals import CallScope, Judgement, Mode

RULE = "granted"
"""The name under which calls that a grant allows are recorded."""
MOST_KEPT = 1_000
_UNKNOWN = "What it would act on could not be read."


@dataclass
class Grants:
    """The scopes that the user has allowed, by key."""

    _kept: dict[str, bool] = field(default_factory=dict)
    """Whether untrusted content may cause calls of the scope too."""

    def add(self, scope: CallScope, *, untrusted: bool) -> None:
        """Allow a scope; `untrusted` if the user decided knowing of untrusted content."""
        if not scope.key:
            return
        known = self._kept.pop(scope.key, False)
        self._kept[scope.key] = untrusted or known
        if len(self._kept) > MOST_KEPT:
            self._kept.pop(next(iter(self._kept)))

    def cover(self, scope: CallScope, judgement: Judgement, mode: Mode) -> bool:
        """Whether a call that would be asked about was allowed with its scope.

        Other rules that ask, and the mode that always asks, still do.
        """
        if mode == "always" or scope.key not in self._kept:
            return False
        if judgement.flow:
            return self._kept[scope.key]
        return judgement.rule in (None, FLOW, OUTGOING)


def unknown_scope(name: str) -> CallScope:
    """For a call whose tool could not say what it acts on: each one needs its own approval."""
    return CallScope(key="", label=f"Run {name}", reason=_UNKNOWN)
