"""One path of an address: a gateway, the clients it has, and the token that they need.

When a view ends, so do its sessions and streams; a request under way is answered with an error.
"""

from __future__ import annotations

from toolcrib.config.tokens import fits
from toolcrib.gateway.client import Front
from toolcrib.gateway.gateway import Gateway
from toolcrib.gateway.http.answers import BUSY
from toolcrib.gateway.http.limits import Load
from toolcrib.gateway.http.sessions import HttpSession, Outbox, Sessions
from toolcrib.gateway.wire import Wire
from toolcrib.schema.tools import Principal
from toolcrib.serverkit.protocol import Message, Refusal, refuse

LISTEN = "subscriptions/listen"
ENDED = Refusal(
    BUSY, "The gateway ended before there was an answer; what was asked for may or may not have been done."
)


class View:
    """A gateway as its clients reach it. `closed` lets nobody in who has no token, even where none is set."""

    def __init__(self, gateway: Gateway, load: Load, *, token_hash: str = "", closed: bool = False) -> None:
        self.gateway = gateway
        self.token_hash = token_hash
        self.load = load
        self.sessions = Sessions(gateway, load)
        self._closed = closed
        self._standing: dict[Front, bool] = {}
        """Modern requests under way; true for those that only listen."""
        self._nobody = Outbox()
        self._ended = False
        name = gateway.profile.name
        self.principal = Principal(name=f"gateway:{name}" if name else "gateway")

    def admits(self, authorization: str | None) -> bool:
        """True for whoever has the token of this view, and for everybody where none is needed."""
        if not self.token_hash:
            return not self._closed
        scheme, _, token = (authorization or "").partition(" ")
        return scheme.lower() == "bearer" and fits(token.strip(), self.token_hash)

    def modern_front(self) -> Front:
        """A client for one request of the modern era."""
        return Front(self.gateway, self._nobody, self.principal)

    async def respond(
        self, front: Front, message: Message, wire: Wire, session: HttpSession | None = None
    ) -> Message | None:
        """The answer to one message, counted while it is under way."""
        if "id" not in message:
            return await front.respond(message, wire)
        if message.get("method") == LISTEN:
            return await self._listen(front, message, wire)
        load = self.load
        load.calls += 1
        if session is None:
            self._standing[front] = False
        else:
            session.calls += 1
        try:
            answer = await front.respond(message, wire)
        finally:
            if session is None:
                self._standing.pop(front, None)
            else:
                session.calls -= 1
            load.calls -= 1
            if load.awaited:
                load.look()
        if answer is None and self._ended:
            return refuse(message["id"], ENDED)
        return answer

    async def _listen(self, front: Front, message: Message, wire: Wire) -> Message | None:
        """A request that lasts until the client goes: it counts as a client."""
        self.load.clients += 1
        self._standing[front] = True
        try:
            return await front.respond(message, wire)
        finally:
            self._standing.pop(front, None)
            self.load.clients -= 1

    def stop_streams(self) -> None:
        """End what would never end by itself; requests go on."""
        self.sessions.end_streams()
        for front in [front for front, listens in self._standing.items() if listens]:
            front.close()

    def end(self) -> None:
        """Forget every client; whoever waits for an answer gets an error."""
        self._ended = True
        self.sessions.close_all()
        for front in list(self._standing):
            front.close()

    async def close(self) -> None:
        """End, and let go of what was begun for clients."""
        self.end()
        await self.gateway.close()
