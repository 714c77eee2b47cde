"""Requests to xdg-desktop-portal: a method call whose result arrives later as a signal. Has the timeouts, and
the errors when the portal is missing or the user refuses.

The signal's path is known before the call, so it is listened to first; only signals of the portal's own
connection count.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import Callable, Mapping
from typing import Any

from dbus_fast import DBusError, Message, MessageType, Variant
from dbus_fast.aio import MessageBus

from toolcrib.serverkit.context import ToolFailure

NAME = "org.freedesktop.portal.Desktop"
PATH = "/org/freedesktop/portal/desktop"
REQUEST = "org.freedesktop.portal.Request"
SESSION = "org.freedesktop.portal.Session"
PROPERTIES = "org.freedesktop.DBus.Properties"
DBUS = ("org.freedesktop.DBus", "/org/freedesktop/DBus")
PATIENCE = 5.0
"""Seconds for an answer that needs no user."""
START_PATIENCE = 25.0
"""Seconds for the bus to start the portal."""
DONE, CANCELLED = 0, 1
INSTEAD = "Install xdg-desktop-portal, or use a display of its own: --headless 1280x800."


class PortalRefused(ToolFailure):
    """The user did not allow it, or closed the dialog."""

    kind = "portal_refused"


class Portal:
    """One connection to the session bus; open it with `connect`."""

    def __init__(self, bus: MessageBus) -> None:
        self._bus = bus
        self._owner = ""
        self._waiting: dict[str, asyncio.Future[tuple[int, Mapping[str, Any]]]] = {}
        self._on_closed: dict[str, Callable[[], None]] = {}
        bus.add_message_handler(self._receive)

    @classmethod
    async def connect(cls, address: str) -> Portal:
        """Raises `ToolFailure` if there is no portal."""
        try:
            async with asyncio.timeout(START_PATIENCE):
                bus = await MessageBus(bus_address=address).connect()
                portal = cls(bus)
                await portal._find()
                return portal
        except (OSError, TimeoutError, ValueError, DBusError) as error:
            reason = str(error) or "it did not answer"
            raise ToolFailure(f"xdg-desktop-portal cannot be reached: {reason}.", INSTEAD) from None

    @property
    def connected(self) -> bool:
        return bool(self._bus.connected)

    async def version(self, interface: str) -> int:
        """Of one of its interfaces; 0 if the desktop does not offer it."""
        found = await self._property(interface, "version")
        return int(found) if found is not None else 0

    async def request(
        self,
        interface: str,
        member: str,
        signature: str,
        *arguments: Any,
        options: Mapping[str, Variant],
        patience: float,
    ) -> Mapping[str, Any]:
        """The results; raises `PortalRefused` if the user says no, `ToolFailure` if it fails otherwise."""
        token = f"toolcrib{secrets.token_hex(8)}"
        expected = f"{PATH}/request/{(self._bus.unique_name or ':').lstrip(':').replace('.', '_')}/{token}"
        future = self._listen(expected)
        try:
            async with asyncio.timeout(patience):
                chosen = {**options, "handle_token": Variant("s", token)}
                handle = await self.call(interface, member, f"{signature}a{{sv}}", *arguments, chosen)
                if handle and handle[0] != expected:  # versions before 0.9 choose their own path
                    self._waiting[handle[0]] = future
                code, results = await future
        except TimeoutError:
            await self._cancel(expected)
            raise PortalRefused(
                f"The desktop's question was not answered within {patience:g} s.",
                "Answer the dialog on the screen and try again.",
            ) from None
        finally:
            self._waiting = {path: other for path, other in self._waiting.items() if other is not future}
        if code == DONE:
            return results
        if code == CANCELLED:
            raise PortalRefused("The user did not allow this in the desktop's dialog.", "Ask the user first.")
        raise ToolFailure(f"The desktop's portal could not do this ({member}).", INSTEAD)

    async def call(self, interface: str, member: str, signature: str, *arguments: Any) -> list[Any]:
        """A method that answers at once; raises `ToolFailure`."""
        message = Message(NAME, PATH, interface, member, signature=signature, body=list(arguments))
        return await self._send(message)

    def on_closed(self, session: str, function: Callable[[], None]) -> None:
        """Call it when the desktop ends this session."""
        self._on_closed[session] = function

    async def close_session(self, session: str) -> None:
        self._on_closed.pop(session, None)
        with contextlib.suppress(ToolFailure):
            await self._send(Message(NAME, session, SESSION, "Close"))

    def close(self) -> None:
        """Sessions end with the connection."""
        with contextlib.suppress(RuntimeError):  # the loop is closed
            self._bus.disconnect()

    async def _find(self) -> None:
        """Start the portal if necessary, and remember its connection."""
        try:
            self._owner = await self._ask_owner()
        except ToolFailure:
            await self._start_service()
            self._owner = await self._ask_owner()
        for interface in (REQUEST, SESSION):
            rule = f"type='signal',sender='{NAME}',interface='{interface}'"
            await self._send(Message(*DBUS, DBUS[0], "AddMatch", signature="s", body=[rule]))

    async def _start_service(self) -> None:
        try:
            await self._send(Message(*DBUS, DBUS[0], "StartServiceByName", signature="su", body=[NAME, 0]))
        except ToolFailure:
            raise ToolFailure("xdg-desktop-portal is not installed, or does not start.", INSTEAD) from None

    async def _ask_owner(self) -> str:
        found = await self._send(Message(*DBUS, DBUS[0], "GetNameOwner", signature="s", body=[NAME]))
        return str(found[0])

    async def _property(self, interface: str, name: str) -> Any:
        message = Message(NAME, PATH, PROPERTIES, "Get", signature="ss", body=[interface, name])
        with contextlib.suppress(ToolFailure):
            return (await self._send(message))[0].value
        return None

    async def _send(self, message: Message) -> list[Any]:
        try:
            async with asyncio.timeout(START_PATIENCE if message.destination == DBUS[0] else PATIENCE):
                reply = await self._bus.call(message)
        except (TimeoutError, OSError, EOFError):
            raise ToolFailure("The desktop's portal does not answer.", "Try again later.") from None
        if reply is None or reply.message_type is MessageType.ERROR:
            said = reply.body[0] if reply is not None and reply.body else "no reason given"
            raise ToolFailure(f"The desktop's portal refused {message.member}: {said}", INSTEAD)
        return list(reply.body)

    def _listen(self, path: str) -> asyncio.Future[tuple[int, Mapping[str, Any]]]:
        future: asyncio.Future[tuple[int, Mapping[str, Any]]] = asyncio.get_running_loop().create_future()
        self._waiting[path] = future
        return future

    async def _cancel(self, request: str) -> None:
        """Close the dialog."""
        with contextlib.suppress(ToolFailure):
            await self._send(Message(NAME, request, REQUEST, "Close"))

    def _receive(self, message: Message) -> None:
        if message.message_type is not MessageType.SIGNAL or message.sender != self._owner:
            return
        path = message.path or ""
        if (message.interface, message.member) == (REQUEST, "Response"):
            future = self._waiting.get(path)
            if future is not None and not future.done():
                future.set_result((message.body[0], _plain(message.body[1])))
        elif (message.interface, message.member) == (SESSION, "Closed"):
            self._on_closed.pop(path, lambda: None)()


def _plain(results: Mapping[str, Variant]) -> dict[str, Any]:
    return {name: value.value for name, value in results.items()}


class Portals:
    """The portal, connected when it is first needed and again after it was lost."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._portal: Portal | None = None
        self._connecting = asyncio.Lock()

    async def get(self) -> Portal:
        """Raises `ToolFailure` if there is none."""
        async with self._connecting:
            if self._portal is None or not self._portal.connected:
                if not self._address:
                    raise ToolFailure("There is no session bus, so there is no portal.", INSTEAD)
                self._portal = await Portal.connect(self._address)
            return self._portal

    def close(self) -> None:
        if self._portal is not None:
            self._portal.close()
