"""Every view that an address serves, by name, kept in line with the config file while it runs.

A view whose profile changed stays, and its clients are told; one that is gone, or whose token is another
now, ends with its sessions.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import quote

from toolcrib.config.contents import Config
from toolcrib.errors import UsageError
from toolcrib.gateway.gateway import Gateway
from toolcrib.gateway.http.limits import Load
from toolcrib.gateway.http.view import View
from toolcrib.gateway.offer import Offer, Offered
from toolcrib.host import Host
from toolcrib.schema.events import CallFinished

logger = logging.getLogger(__name__)

ENDPOINT = "/mcp"
PAUSE = 0.5
"""Seconds between two looks at the config and at idle sessions."""


class Views:
    """The views that `offer` names. `public` lets nobody in without a token, whatever the file says."""

    def __init__(self, host: Host, offer: Offer, *, public: bool = False) -> None:
        self.load = Load(host.settings.gateway)
        self.host = host
        self._offer = offer
        self._public = public
        self._views: dict[str, View] = {}
        self._config: Config | None = None
        self._closing: set[asyncio.Task[None]] = set()

    def find(self, path: str) -> View | None:
        """The view at this path, as the config is at this moment."""
        if self.host.config is not self._config:
            self._apply()
        place = path.rstrip("/")
        if place == ENDPOINT:
            return self._views.get("")
        name = place.removeprefix(f"{ENDPOINT}/")
        return None if name == place else self._views.get(name)

    @property
    def names(self) -> tuple[str, ...]:
        """Those that are served now."""
        return tuple(self._views)

    def check(self) -> None:
        """Refuse to be public while a view needs no token; raises `UsageError`."""
        offered = self._offer(self.host.settings)
        open_ones = [name for name, one in offered.items() if not one.token_hash]
        if self._public and open_ones:
            which = ", ".join(name or ENDPOINT for name in open_ones)
            commands = " and ".join(f"toolcrib profiles token {name}".strip() for name in open_ones[:3])
            raise UsageError(
                f"Others could use what needs no token: {which}.",
                hint=f"Make one first: {commands}. Or serve one profile alone with --profile.",
            )

    @asynccontextmanager
    async def following(self) -> AsyncIterator[None]:
        """Serve while the block runs; follow the config file, and pass on what happens in the host."""
        self._apply()
        tasks = [
            asyncio.create_task(self._look(), name="gateway views"),
            asyncio.create_task(self._listen(), name="gateway changes"),
        ]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await asyncio.gather(*(view.close() for view in self._views.values()), *self._closing)

    async def drain(self, grace: float) -> None:
        """Take nothing new, let requests finish for so many seconds, then answer them with an error."""
        self.load.ending = True
        for view in self._views.values():
            view.stop_streams()
        try:
            async with asyncio.timeout(grace):
                await self.load.quiet()
        except TimeoutError:
            logger.warning("calls were cut short", extra={"calls": self.load.calls})
        for view in self._views.values():
            view.end()

    async def _look(self) -> None:
        while True:
            await asyncio.sleep(PAUSE)
            if self.host.config is not self._config:
                self._apply()
            for view in self._views.values():
                view.sessions.sweep()

    async def _listen(self) -> None:
        """One listener for all views, which does not wake for every call."""
        with self.host.events.subscribe(without=CallFinished) as events:
            async for event in events:
                for view in self._views.values():
                    view.gateway.take(event)

    def _apply(self) -> None:
        self._config = self.host.config
        self.load.adopt(self.host.settings.gateway)
        offered = self._offer(self.host.settings)
        for name, view in tuple(self._views.items()):
            if _is_outdated(view, offered.get(name)):
                self._end(self._views.pop(name))
        for name, one in offered.items():
            if name in self._views:
                self._views[name].gateway.change(one.profile)
            else:
                self._views[name] = self._made(name, one)

    def _end(self, view: View) -> None:
        view.end()
        closing = asyncio.create_task(view.close(), name="gateway view ends")
        self._closing.add(closing)
        closing.add_done_callback(self._closing.discard)

    def _made(self, name: str, one: Offered) -> View:
        if self._public and not one.token_hash:
            logger.warning("a view without a token is served to nobody", extra={"profile": name})
        gateway = Gateway(self.host, one.profile)
        return View(gateway, self.load, token_hash=one.token_hash, closed=self._public)


def _is_outdated(view: View, offered: Offered | None) -> bool:
    """True for a view that cannot go on as it is: its clients have to come again."""
    if offered is None or offered.token_hash != view.token_hash:
        return True
    return offered.profile.plain_names != view.gateway.profile.plain_names


def path_of(name: str) -> str:
    """Where a view is."""
    return f"{ENDPOINT}/{quote(name, safe='')}" if name else ENDPOINT
