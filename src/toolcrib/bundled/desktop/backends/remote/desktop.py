"""The remote backend: all groups over one connection."""

from __future__ import annotations

import asyncio

from toolcrib.bundled.desktop.backends.remote.accessibility import RemoteAccessibility
from toolcrib.bundled.desktop.backends.remote.connection import GrpcConnection
from toolcrib.bundled.desktop.backends.remote.content import RemoteCapture, RemoteClipboard
from toolcrib.bundled.desktop.backends.remote.input import RemoteInput
from toolcrib.bundled.desktop.backends.remote.target import RemoteTarget
from toolcrib.bundled.desktop.backends.remote.windows import (
    RemoteApplications,
    RemoteDisplays,
    RemoteWindows,
)
from toolcrib.bundled.desktop.changes import Changes


class RemoteBackend:
    """It stays usable while its server is away: each call says so, until the server is back."""

    name = "remote"

    def __init__(self, target: RemoteTarget) -> None:
        self._connection = GrpcConnection(target)
        self._closed = False
        # Reports nothing: the server itself waits until an action has settled, and waits look again anyway.
        self.events = Changes(asyncio.get_running_loop())
        self.windows = RemoteWindows(self._connection)
        self.applications = RemoteApplications(self._connection, self.windows)
        self.displays = RemoteDisplays(self._connection)
        self.input = RemoteInput(self._connection, self.windows)
        self.capture = RemoteCapture(self._connection, self.windows)
        self.accessibility = RemoteAccessibility(self._connection)
        self.clipboard = RemoteClipboard(self._connection)

    @property
    def alive(self) -> bool:
        return not self._closed

    def close(self) -> None:
        self._closed = True
        self._connection.close()
