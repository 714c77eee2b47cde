"""The gate's state for each session: its mode, who is asked, what was granted until it ends, and what
untrusted or private data it has read. Limits the number of sessions and grants kept.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from toolcrib.approvals.known_addresses import KnownAddresses
from toolcrib.approvals.question import Asker
from toolcrib.approvals.verdict import FLOW, OUTGOING
from toolcrib.schema.approvals import CallScope, FlowException, Judgement, Mode
from toolcrib.schema.tools import Principal, Tool

if TYPE_CHECKING:
    from toolcrib.approvals.rule import Rule

RULE = "granted"
"""The name under which calls that a grant allows are recorded."""
MOST_KEPT = 1_000
_UNKNOWN = "What it would act on could not be read."

MOST_SESSIONS = 10_000
"""A gateway has many sessions; the least recently used one is dropped."""

_MOST_NAMED = 8
_MOST_SHOWN = 3


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


@dataclass(eq=False)
class SessionState:
    mode: Mode | None = None
    """The session's own mode; None for the one in the settings."""
    granted: str | None = None
    """Why calls run without questions until the turn ends, if so."""
    asker: Asker | None = None
    project: str = ""
    lifted: FlowException | None = None
    """Untrusted content may cause calls until the turn or the session ends."""
    lifted_tools: frozenset[str] = frozenset()
    """Hashes of tools that untrusted content may call."""
    untrusted: tuple[str, ...] = ()
    private: tuple[str, ...] = ()
    private_from: frozenset[str] = frozenset()
    read: tuple[str, ...] = ()
    """What was read of the private data last, for questions."""
    addresses: KnownAddresses = field(default_factory=KnownAddresses)
    wrote: bool = False
    """A call may have changed files, so that an address in a file may be the model's."""
    grants: Grants = field(default_factory=Grants)
    """Scopes that were allowed until the session ends."""
    rules: tuple[Rule, ...] = ()
    """Rules that end with the session and are never stored."""
    recalled: bool = False
    """Whether the calls before this process were added."""
    asking: asyncio.Lock = field(default_factory=asyncio.Lock)
    """One question at a time: the answer to the first may apply to the second."""

    def lift(self, how_far: FlowException | None, tool: Tool) -> None:
        """The user lets untrusted content cause calls of this tool or of all."""
        if how_far == "tool":
            self.lifted_tools |= {tool.hash}
        elif how_far is not None and self.lifted != "session":
            self.lifted = how_far

    def end_turn(self) -> None:
        """End everything granted for one turn."""
        self.granted = self.asker = None
        if self.lifted == "turn":
            self.lifted = None

    def saw(self, tool: str, *, untrusted: bool, private_from: str = "", read: str = "") -> None:
        """Note that the result of an allowed call is part of the session.

        `private_from` names its source if it may be private, and `read` what was read.
        """
        if untrusted:
            self.untrusted = _with(self.untrusted, tool)
        if private_from:
            self.private = _with(self.private, tool)
            self.private_from |= {private_from}
            label = read or tool
            self.read = (*[other for other in self.read if other != label], label)[-_MOST_SHOWN:]


class SessionStates:
    def __init__(self) -> None:
        self._sessions: OrderedDict[tuple[str, str | None], SessionState] = OrderedDict()

    def of(self, principal: Principal) -> SessionState:
        """The principal's session, created if missing."""
        key = (principal.name, principal.session)
        session = self._sessions.get(key)
        if session is None:
            session = self._sessions[key] = SessionState()
            if len(self._sessions) > MOST_SESSIONS:
                self._sessions.popitem(last=False)
        else:
            self._sessions.move_to_end(key)
        return session

    def project(self, session_id: str | None) -> str:
        """The working folder of the session with this id; empty if unknown."""
        if session_id is None:
            return ""
        found = (session.project for (_, known), session in self._sessions.items() if known == session_id)
        return next(found, "")

    def results(self, session_id: str | None) -> tuple[str, ...]:
        """The tools whose untrusted or private results the session with this id has."""
        if session_id is None:
            return ()
        found = (session for (_, known), session in self._sessions.items() if known == session_id)
        return tuple({name for session in found for name in (*session.untrusted, *session.private)})

    def end(self, principal: Principal) -> None:
        self._sessions.pop((principal.name, principal.session), None)


def _with(names: tuple[str, ...], name: str) -> tuple[str, ...]:
    return names if name in names or len(names) >= _MOST_NAMED else (*names, name)
