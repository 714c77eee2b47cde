"""The clients of the legacy era, by session: remembered between requests, forgotten when idle for long."""

from __future__ import annotations

import asyncio
import secrets
import time

from toolcrib.gateway.front import Front
from toolcrib.gateway.gateway import Gateway
from toolcrib.gateway.questions import Questions
from toolcrib.schema.tools import Principal
from toolcrib.serverkit.protocol import Message

MAX_SESSIONS = 1000
IDLE_LIMIT = 1800.0
MAX_UNHEARD = 1000


class Outbox:
    """What a client is told outside its requests; kept only while it listens."""

    def __init__(self) -> None:
        self.queue: asyncio.Queue[Message] | None = None

    def push(self, message: Message) -> None:
        """Tell the client, if it listens; one that does not read loses the newest."""
        if self.queue is not None and not self.queue.full():
            self.queue.put_nowait(message)


class HttpSession:
    """One legacy client."""

    def __init__(self, gateway: Gateway, principal: Principal) -> None:
        self.id = secrets.token_urlsafe(24)
        self.outbox = Outbox()
        self.front = Front(gateway, self.outbox, principal)
        self.questions = Questions()
        """What servers asked the client."""
        self.last_used = time.monotonic()


class Sessions:
    """All of them; too many are refused."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._sessions: dict[str, HttpSession] = {}

    def open(self, principal: Principal) -> HttpSession | None:
        """A new session, or None when there are too many."""
        self._sweep()
        if len(self._sessions) >= MAX_SESSIONS:
            return None
        session = HttpSession(self._gateway, principal)
        self._sessions[session.id] = session
        return session

    def find(self, session_id: str) -> HttpSession | None:
        """The session of this id, which is now in use."""
        session = self._sessions.get(session_id)
        if session is not None:
            session.last_used = time.monotonic()
        return session

    def close(self, session: HttpSession) -> None:
        """Forget a session; what it asked for is cancelled."""
        self._sessions.pop(session.id, None)
        session.questions.give_up()
        session.front.close()

    def close_all(self) -> None:
        """Forget everybody."""
        for session in list(self._sessions.values()):
            self.close(session)

    def _sweep(self) -> None:
        oldest = time.monotonic() - IDLE_LIMIT
        for session in [s for s in self._sessions.values() if s.last_used < oldest]:
            self.close(session)
