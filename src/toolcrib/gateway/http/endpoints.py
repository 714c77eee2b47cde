"""The endpoints of an address (`/mcp`, `/mcp/PROFILE`): each is a gateway with its clients and their token.
Which changes of the config end one, the health report, and the refusal of public addresses without a token.

They follow the config file. An endpoint whose profile changed stays, and its clients are notified; one that
was removed, or whose token changed, ends with its sessions, and running requests are answered with an error.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import quote

from toolcrib.config.contents import Config
from toolcrib.config.tokens import fits
from toolcrib.errors import UsageError
from toolcrib.gateway.client import GatewayClient
from toolcrib.gateway.gateway import Gateway
from toolcrib.gateway.http.request import BUSY
from toolcrib.gateway.http.sessions import HttpSession, Load, Outbox, Sessions
from toolcrib.gateway.identity import SessionlessClients
from toolcrib.gateway.profile import Offer, OfferedProfile, Profile
from toolcrib.gateway.wire import Wire
from toolcrib.host import Host
from toolcrib.schema.events import CallFinished
from toolcrib.serverkit.protocol import Message, Refusal, refuse
from toolcrib.tasks import TaskSet, in_background

logger = logging.getLogger(__name__)

ENDPOINT = "/mcp"
PAUSE = 0.5
"""Seconds between two checks of the config and of idle sessions."""
LISTEN = "subscriptions/listen"
ENDED = Refusal(
    BUSY, "The gateway shut down before the request finished; it may or may not have taken effect."
)


class ProfileEndpoint:
    """A gateway at one path. `closed` admits no client without a token, even if none is set."""

    def __init__(self, gateway: Gateway, load: Load, *, token_hash: str = "", closed: bool = False) -> None:
        self.gateway = gateway
        self.token_hash = token_hash
        self.load = load
        self.sessions = Sessions(gateway, load)
        self._sessionless = SessionlessClients(gateway.profile.name, token_hash)
        self._closed = closed
        self._clients: dict[GatewayClient, bool] = {}
        """Of running modern requests; true for those that only listen."""
        self._no_outbox = Outbox()
        self._ended = False

    def admits(self, authorization: str | None) -> bool:
        """True for the token of this endpoint, and for every client if none is needed."""
        if not self.token_hash:
            return not self._closed
        scheme, _, token = (authorization or "").partition(" ")
        return scheme.lower() == "bearer" and fits(token.strip(), self.token_hash)

    async def respond(
        self, message: Message, wire: Wire, session: HttpSession | None = None
    ) -> Message | None:
        """The response to one message, counted while it runs. Without a session, it is of the modern era."""
        if session is None:
            client = GatewayClient(self.gateway, self._no_outbox, self._sessionless.of(message))
        else:
            client = session.client
        if "id" not in message:
            return await client.respond(message, wire)
        if message.get("method") == LISTEN:
            return await self._listen(client, message, wire)
        load = self.load
        load.calls += 1
        if session is None:
            self._clients[client] = False
        else:
            session.calls += 1
        try:
            answer = await client.respond(message, wire)
        finally:
            if session is None:
                self._clients.pop(client, None)
            else:
                session.calls -= 1
            load.calls -= 1
            if load.draining:
                load.check_idle()
        if answer is None and self._ended:
            return refuse(message["id"], ENDED)
        return answer

    async def _listen(self, client: GatewayClient, message: Message, wire: Wire) -> Message | None:
        """A request that lasts until the client disconnects counts as a client."""
        self.load.clients += 1
        self.sessions.streams += 1
        self._clients[client] = True
        try:
            return await client.respond(message, wire)
        finally:
            self._clients.pop(client, None)
            self.sessions.streams -= 1
            self.load.clients -= 1

    def sweep(self) -> None:
        """End what belongs to clients that are idle for too long."""
        self.sessions.sweep()
        for principal in self._sessionless.idle(self.load.session_idle):
            self.gateway.end_instances(principal)

    def stop_streams(self) -> None:
        """End streams, which would never end by themselves; requests continue."""
        self.sessions.end_streams()
        for client in [client for client, listens in self._clients.items() if listens]:
            client.close()

    def end(self) -> None:
        """Close every session; running requests are answered with an error."""
        self._ended = True
        self.sessions.close_all()
        for client in list(self._clients):
            client.close()

    async def close(self) -> None:
        """End, and release what was started for clients."""
        self.end()
        await self.gateway.close()


class ProfileEndpoints:
    """The endpoints that `offer` names. `public` admits no client without a token, whatever the file says."""

    def __init__(self, host: Host, offer: Offer, *, public: bool = False) -> None:
        self.load = Load(host.settings.gateway)
        self.host = host
        self._offer = offer
        self._public = public
        self._endpoints: dict[str, ProfileEndpoint] = {}
        self._config: Config | None = None
        self._closing = TaskSet()

    def find(self, path: str) -> ProfileEndpoint | None:
        """The endpoint at this path, as the config is at this moment."""
        if self.host.config is not self._config:
            self._apply()
        place = path.rstrip("/")
        if place == ENDPOINT:
            return self._endpoints.get("")
        name = place.removeprefix(f"{ENDPOINT}/")
        return None if name == place else self._endpoints.get(name)

    @property
    def names(self) -> tuple[str, ...]:
        """Of the endpoints that are served now."""
        return tuple(self._endpoints)

    @property
    def profiles(self) -> list[Profile]:
        """Of the endpoints that are served now."""
        return [endpoint.gateway.profile for endpoint in self._endpoints.values()]

    def health(self, authorization: str | None) -> dict[str, Any]:
        """`status`, and the servers that this client may see counted by state.

        A client without a token that is needed learns neither names nor numbers.
        """
        if self.host.config is not self._config:
            self._apply()
        status: dict[str, Any] = {"status": "ending" if self.load.ending else "ok"}
        admitting = [endpoint for endpoint in self._endpoints.values() if endpoint.admits(authorization)]
        if not admitting:
            return status
        visible = {
            server.name: server.state.value
            for endpoint in admitting
            for server in endpoint.gateway.host.servers.statuses()
            if endpoint.gateway.shows_server(server.name)
        }
        return {**status, "servers": dict(sorted(Counter(visible.values()).items()))}

    def check(self) -> None:
        """Refuse to be public while an endpoint needs no token; raises `UsageError`."""
        offered = self._offer(self.host.settings)
        open_ones = [name for name, profile in offered.items() if not profile.token_hash]
        if self._public and open_ones:
            which = ", ".join(name or ENDPOINT for name in open_ones)
            commands = " and ".join(f"toolcrib profiles token {name}".strip() for name in open_ones[:3])
            raise UsageError(
                f"These views need no token, so other machines could use them: {which}.",
                hint=f"Create one first: {commands}. Or serve one profile with --profile.",
            )

    @asynccontextmanager
    async def following(self) -> AsyncIterator[None]:
        """Follow the config file, and forward events of the host, while the block runs."""
        self._apply()
        try:
            async with (
                in_background(self._check(), "gateway endpoints"),
                in_background(self._listen(), "gateway changes"),
            ):
                yield
        finally:
            await asyncio.gather(*(endpoint.close() for endpoint in self._endpoints.values()), *self._closing)

    async def drain(self, grace: float) -> None:
        """Accept nothing new, let requests finish for so many seconds, then answer them with an error."""
        self.load.ending = True
        for endpoint in self._endpoints.values():
            endpoint.stop_streams()
        try:
            async with asyncio.timeout(grace):
                await self.load.until_idle()
        except TimeoutError:
            logger.warning("calls were cut short", extra={"calls": self.load.calls})
        for endpoint in self._endpoints.values():
            endpoint.end()

    async def _check(self) -> None:
        while True:
            await asyncio.sleep(PAUSE)
            if self.host.config is not self._config:
                self._apply()
            for endpoint in self._endpoints.values():
                endpoint.sweep()

    async def _listen(self) -> None:
        """One subscriber for all endpoints, which does not wake for every call."""
        with self.host.events.subscribe(without=CallFinished) as events:
            async for event in events:
                for endpoint in self._endpoints.values():
                    endpoint.gateway.handle(event)

    def _apply(self) -> None:
        self._config = self.host.config
        self.load.update(self.host.settings.gateway)
        offered = self._offer(self.host.settings)
        for name, endpoint in tuple(self._endpoints.items()):
            if _is_outdated(endpoint, offered.get(name)):
                self._end(self._endpoints.pop(name))
        for name, wanted in offered.items():
            if name in self._endpoints:
                self._endpoints[name].gateway.change(wanted.profile)
            else:
                self._endpoints[name] = self._make(name, wanted)

    def _end(self, endpoint: ProfileEndpoint) -> None:
        endpoint.end()
        self._closing.start(endpoint.close(), name="gateway endpoint ends")

    def _make(self, name: str, offered: OfferedProfile) -> ProfileEndpoint:
        if self._public and not offered.token_hash:
            logger.warning(
                "a view without a token is not served on a public address", extra={"profile": name}
            )
        gateway = Gateway(self.host, offered.profile)
        return ProfileEndpoint(gateway, self.load, token_hash=offered.token_hash, closed=self._public)


def _is_outdated(endpoint: ProfileEndpoint, offered: OfferedProfile | None) -> bool:
    """True for an endpoint that has to end: its clients must reconnect."""
    if offered is None or offered.token_hash != endpoint.token_hash:
        return True
    return offered.profile.plain_names != endpoint.gateway.profile.plain_names


def path_of(name: str) -> str:
    return f"{ENDPOINT}/{quote(name, safe='')}" if name else ENDPOINT
