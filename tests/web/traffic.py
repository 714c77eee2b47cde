"""What a page loads over the network: bytes on the wire, chains of requests, operations; and a slow line."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from math import inf
from typing import Any

from playwright.sync_api import Page

UNLIMITED = -1
REST = 1.0
"""Seconds without a new request after which a page has what it wants."""


@dataclass
class Loaded:
    """One request of the page."""

    url: str
    body: str
    began: float
    ended: float | None = None
    bytes: int = 0
    is_stream: bool = False
    parts: list[tuple[float, int]] = field(default_factory=list)
    """Bytes, and when they came."""

    @property
    def path(self) -> str:
        return "/" + self.url.split("/", 3)[3].partition("#")[0]

    def bytes_until(self, moment: float) -> int:
        if self.ended is not None and self.ended <= moment:
            return self.bytes
        return sum(size for came, size in self.parts if came <= moment)

    def add(self, size: int, came: float) -> None:
        self.bytes += size
        self.parts.append((came, size))


@dataclass
class Traffic:
    """Every request of a page from now on, with an empty cache."""

    page: Page
    loaded: dict[str, Loaded] = field(default_factory=dict)
    _heard: float = field(default_factory=time.monotonic)
    _since_1970: float = 0.0
    """What the browser's times lack."""

    def __post_init__(self) -> None:
        session = self.page.context.new_cdp_session(self.page)
        session.on("Network.requestWillBeSent", self._began)
        session.on("Network.dataReceived", self._received)
        session.on("Network.responseReceived", self._answered)
        session.on("Network.loadingFinished", self._ended)
        session.send("Network.enable")
        session.send("Network.setCacheDisabled", {"cacheDisabled": True})
        self._session = session

    def slow_down(self, latency_ms: int, bytes_per_second: int = UNLIMITED) -> None:
        """Let each answer begin so much later, and come no faster than this."""
        line = {"latency": latency_ms, "downloadThroughput": bytes_per_second}
        self._session.send(
            "Network.emulateNetworkConditions", {**line, "uploadThroughput": UNLIMITED, "offline": False}
        )

    def close(self) -> None:
        """Of a page that is used on: it has its cache again, and a fast line."""
        self._session.detach()

    @property
    def is_quiet(self) -> bool:
        """Whether everything is there but streams, and nothing new was asked for."""
        self.page.evaluate("1")  # Takes in what the browser has told.
        ends = [one.ended for one in self.loaded.values() if not one.is_stream]
        return None not in ends and time.monotonic() - self._heard > REST

    def bytes(self, until: float = inf) -> int:
        """On the wire, heads of answers included; `until` is a time of the page, in seconds since 1970."""
        return sum(one.bytes_until(until - self._since_1970) for one in self.loaded.values())

    @property
    def operations(self) -> list[tuple[str, str]]:
        """Those the page ran, with their parameters."""
        return [(one.path, one.body) for one in self.loaded.values() if one.path.startswith("/api/")]

    def longest_chain(self, until: float = inf) -> list[str]:
        """Finished requests, each begun after the end of the last; only a slow line tells them apart."""
        chains: list[tuple[Loaded, list[str]]] = []
        moment = until - self._since_1970
        finished = [one for one in self.loaded.values() if one.ended is not None and one.ended <= moment]
        for one in sorted(finished, key=lambda each: each.began):
            before = [chain for last, chain in chains if last.ended is not None and last.ended <= one.began]
            chains.append((one, [*max(before, key=len, default=[]), one.path]))
        return max((chain for _, chain in chains), key=len, default=[])

    def _began(self, event: dict[str, Any]) -> None:
        self._heard = time.monotonic()
        self._since_1970 = event["wallTime"] - event["timestamp"]
        sent = event["request"]
        if sent["url"].startswith("http"):
            one = Loaded(sent["url"], sent.get("postData", ""), event["timestamp"])
            self.loaded[event["requestId"]] = one

    def _answered(self, event: dict[str, Any]) -> None:
        if one := self.loaded.get(event["requestId"]):
            one.add(event["response"]["encodedDataLength"], event["timestamp"])
            one.is_stream = event["response"]["mimeType"] == "text/event-stream"

    def _received(self, event: dict[str, Any]) -> None:
        if one := self.loaded.get(event["requestId"]):
            one.add(event["encodedDataLength"], event["timestamp"])

    def _ended(self, event: dict[str, Any]) -> None:
        if one := self.loaded.get(event["requestId"]):
            one.ended = event["timestamp"]
            one.bytes = event["encodedDataLength"]
