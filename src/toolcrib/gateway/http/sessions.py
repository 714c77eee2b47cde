"""The clients of the legacy era, by session: remembered between requests, forgotten when idle for long."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import time
from collections.abc import Callable

from toolcrib.gateway.client import Front
from toolcrib.gateway.gateway import Gateway
from toolcrib.gateway.http.limits import Load
from toolcrib.gateway.http.replay import SINCE, KeptStream, KeptStreams
from toolcrib.gateway.questions import Questions
from toolcrib.schema.tools import Principal
from toolcrib.serverkit.protocol import Message

MAX_UNHEARD = 1000

Unheard = asyncio.Queue[Message | None]


class Outbox:
    """What a client is told outside its requests; kept only while it listens."""

    def __init__(self) -> None:
        self.queue: Unheard | None = None

    def push(self, message: Message) -> None:
        """Tell the client, if it listens; one that does not read loses the newest."""
        if self.queue is not None and not self.queue.full():
            self.queue.put_nowait(message)

    def end(self) -> None:
        """There is no more to come: the stream ends."""
        if self.queue is None:
            return
        if self.queue.full():
            with contextlib.suppress(asyncio.QueueEmpty):
                self.queue.get_nowait()
        self.queue.put_nowait(None)


class HttpSession:
    """One legacy client."""

    def __init__(self, gateway: Gateway, principal: Principal) -> None:
        self.id = secrets.token_urlsafe(24)
        self.outbox = Outbox()
        self.front = Front(gateway, self.outbox, principal)
        self.questions = Questions()
        """What servers asked the client."""
        self.kept = KeptStreams()
        """Answers that the client may ask for again."""
        self.keep: Callable[[], KeptStream] | None = None
        """Begins such an answer; None where the client cannot come back for the rest of one."""
        self.last_used = time.monotonic()
        self.calls = 0
        """Requests under way."""

    def opened(self) -> None:
        """The client's version is agreed on."""
        self.keep = self.kept.open if (self.front.version or "") >= SINCE else None

    @property
    def is_connected(self) -> bool:
        """True while the client has a request or a stream open."""
        return self.calls > 0 or self.outbox.queue is not None

    def is_idle(self, now: float, limit: float) -> bool:
        """True when nothing has connected the client with us for so many seconds."""
        return not self.is_connected and now - self.last_used > limit


class Sessions:
    """Those of one view. At the limit, the one that has been idle longest makes room for a new one."""

    def __init__(self, gateway: Gateway, load: Load) -> None:
        self._gateway = gateway
        self._load = load
        self._sessions: dict[str, HttpSession] = {}
        load.join(self)

    def __len__(self) -> int:
        return len(self._sessions)

    def open(self, principal: Principal) -> HttpSession | None:
        """A new session, or None when too many clients are connected."""
        if not self._load.make_room_for_client():
            return None
        session = HttpSession(self._gateway, principal)
        self._sessions[session.id] = session
        self._load.clients += 1
        return session

    def find(self, session_id: str | None) -> HttpSession | None:
        """The session of this id, if there is one, which is now in use."""
        session = self._sessions.get(session_id) if session_id is not None else None
        if session is not None:
            session.last_used = time.monotonic()
        return session

    def close(self, session: HttpSession) -> None:
        """Forget a session; what it asked for is cancelled, and its stream ends."""
        if self._sessions.pop(session.id, None) is None:
            return
        self._load.clients -= 1
        session.questions.give_up()
        session.front.close()
        session.outbox.end()

    def evict(self) -> bool:
        """Close the session that has been idle longest; False when every client is connected."""
        idle = [session for session in self._sessions.values() if not session.is_connected]
        if not idle:
            return False
        self.close(min(idle, key=lambda session: session.last_used))
        return True

    def close_all(self) -> None:
        """Forget everybody; the view ended."""
        self._load.leave(self)
        for session in list(self._sessions.values()):
            self.close(session)

    def end_streams(self) -> None:
        """Nobody is told of changes any more; requests go on."""
        for session in self._sessions.values():
            session.outbox.end()

    def sweep(self) -> None:
        """Forget those that are idle for too long."""
        now, limit = time.monotonic(), self._load.session_idle
        for session in [one for one in self._sessions.values() if one.is_idle(now, limit)]:
            self.close(session)
