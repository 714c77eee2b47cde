"""What the gate remembers of each session while it lasts: its mode, who is asked, and what it has read."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from dataclasses import dataclass, field

from toolcrib.approvals.question import Asker
from toolcrib.schema.approvals import Lift, Mode
from toolcrib.schema.tools import Principal, Tool

MOST_SESSIONS = 10_000
"""A gateway sees many; the one that was quiet the longest is forgotten."""

_MOST_NAMED = 8


@dataclass(eq=False)
class Session:
    """One conversation's standing."""

    mode: Mode | None = None
    """Chosen for this session; None for that of the settings."""
    granted: str | None = None
    """The reason for which steps run unasked until the turn ends."""
    asker: Asker | None = None
    project: str = ""
    lifted: Lift | None = None
    """Until the turn or the session ends, content from outside may cause calls."""
    lifted_tools: frozenset[str] = frozenset()
    """The definitions of those tools that it may cause calls of, by their hashes."""
    untrusted: tuple[str, ...] = ()
    private: tuple[str, ...] = ()
    private_from: frozenset[str] = frozenset()
    recalled: bool = False
    """Whether it is known what the session did before this process."""
    asking: asyncio.Lock = field(default_factory=asyncio.Lock)
    """One question at a time: after the answer to the first, the second may need none."""

    def lift(self, how_far: Lift | None, tool: Tool) -> None:
        """The person lets content from outside cause calls, of this tool or of all."""
        if how_far == "tool":
            self.lifted_tools |= {tool.hash}
        elif how_far is not None and self.lifted != "session":
            self.lifted = how_far

    def is_lifted(self, tool: Tool) -> bool:
        """Whether content from outside may cause calls of this tool."""
        return self.lifted is not None or tool.hash in self.lifted_tools

    def end_turn(self) -> None:
        """What was granted for one turn ends, and nobody is there to be asked."""
        self.granted = self.asker = None
        if self.lifted == "turn":
            self.lifted = None

    def saw(self, tool: str, *, untrusted: bool, private_from: str = "") -> None:
        """A call was let through, and what it returns is part of the session.

        `private_from` says who has seen it already, where it may be private.
        """
        if untrusted:
            self.untrusted = _with(self.untrusted, tool)
        if private_from:
            self.private = _with(self.private, tool)
            self.private_from |= {private_from}


class Sessions:
    """All of them, by principal."""

    def __init__(self) -> None:
        self._sessions: OrderedDict[tuple[str, str | None], Session] = OrderedDict()

    def of(self, principal: Principal) -> Session:
        """The session of a principal, begun if need be."""
        key = (principal.name, principal.session)
        session = self._sessions.get(key)
        if session is None:
            session = self._sessions[key] = Session()
            if len(self._sessions) > MOST_SESSIONS:
                self._sessions.popitem(last=False)
        else:
            self._sessions.move_to_end(key)
        return session

    def project(self, session_id: str | None) -> str:
        """The folder of whatever session has this id; empty when none has."""
        if session_id is None:
            return ""
        found = (one.project for (_, known), one in self._sessions.items() if known == session_id)
        return next(found, "")

    def end(self, principal: Principal) -> None:
        """Forget it."""
        self._sessions.pop((principal.name, principal.session), None)


def _with(names: tuple[str, ...], name: str) -> tuple[str, ...]:
    return names if name in names or len(names) >= _MOST_NAMED else (*names, name)
