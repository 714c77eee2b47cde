"""A portal on a private bus that speaks the documented interfaces, with a user who answers as the test says.

The signatures are those of the interface descriptions in xdg-desktop-portal. A call with another one, or to
a session that was not started, is an error, as it is there.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import cv2
import numpy
from dbus_fast import Message, MessageType, Variant
from dbus_fast.aio import MessageBus

NAME = "org.freedesktop.portal.Desktop"
PATH = "/org/freedesktop/portal/desktop"
SCREENSHOT = "org.freedesktop.portal.Screenshot"
SCREEN_CAST = "org.freedesktop.portal.ScreenCast"
REMOTE_DESKTOP = "org.freedesktop.portal.RemoteDesktop"
REQUESTS = {
    (SCREENSHOT, "Screenshot"): "sa{sv}",
    (REMOTE_DESKTOP, "CreateSession"): "a{sv}",
    (REMOTE_DESKTOP, "SelectDevices"): "oa{sv}",
    (REMOTE_DESKTOP, "Start"): "osa{sv}",
    (SCREEN_CAST, "SelectSources"): "oa{sv}",
}
NOTIFICATIONS = {
    "NotifyPointerMotion": ("oa{sv}dd", 2),
    "NotifyPointerMotionAbsolute": ("oa{sv}udd", 2),
    "NotifyPointerButton": ("oa{sv}iu", 2),
    "NotifyPointerAxis": ("oa{sv}dd", 2),
    "NotifyPointerAxisDiscrete": ("oa{sv}ui", 2),
    "NotifyKeyboardKeycode": ("oa{sv}iu", 1),
    "NotifyKeyboardKeysym": ("oa{sv}iu", 1),
}
ALLOWED, CANCELLED, ENDED = 0, 1, 2


@dataclass
class PortalService:
    """What the user sees and says, and what arrived."""

    folder: Path
    picture_size: tuple[int, int] = (640, 400)
    answer: int | None = ALLOWED
    """The user's answer to each question; None for a dialog that stays open."""
    devices: int = 3
    streams: list[tuple[int, tuple[int, int], tuple[int, int]]] = field(default_factory=list)
    """Node, position and size of each shared display."""
    interfaces: dict[str, int] = field(
        default_factory=lambda: {SCREENSHOT: 2, REMOTE_DESKTOP: 2, SCREEN_CAST: 5}
    )
    events: list[tuple[Any, ...]] = field(default_factory=list)
    questions: list[str] = field(default_factory=list)
    closed: list[str] = field(default_factory=list)
    pictures: list[Path] = field(default_factory=list)
    started: set[str] = field(default_factory=set)
    bus: MessageBus | None = None

    async def serve(self, address: str) -> None:
        self.bus = await MessageBus(bus_address=address).connect()
        self.bus.add_message_handler(self._handle)
        await self.bus.request_name(NAME)

    def stop(self) -> None:
        assert self.bus is not None
        self.bus.disconnect()

    async def end_session(self) -> None:
        """As the user does in the desktop's own controls."""
        for session in list(self.started):
            self.started.discard(session)
            await self._signal(session, "org.freedesktop.portal.Session", "Closed", "a{sv}", {})

    def _handle(self, message: Message) -> Message | bool | None:
        if message.message_type is not MessageType.METHOD_CALL or message.destination is None:
            return None
        key = (message.interface or "", message.member or "")
        if key == ("org.freedesktop.DBus.Properties", "Get"):
            return self._version(message)
        if key[1] == "Close":
            self.closed.append(message.path or "")
            self.started.discard(message.path or "")
            return Message.new_method_return(message)
        if key in REQUESTS and key[0] in self.interfaces and message.signature == REQUESTS[key]:
            return self._request(message, *key)
        if key[0] == REMOTE_DESKTOP and key[1] in NOTIFICATIONS:
            return self._notification(message)
        if (message.destination, message.path) != (self.bus.unique_name if self.bus else "", PATH):
            return Message.new_error(message, "org.freedesktop.DBus.Error.UnknownMethod", f"No {key}")
        return None

    def _version(self, message: Message) -> Message:
        version = self.interfaces.get(message.body[0])
        if version is None:
            return Message.new_error(message, "org.freedesktop.DBus.Error.InvalidArgs", "No such interface")
        return Message.new_method_return(message, "v", [Variant("u", version)])

    def _request(self, message: Message, interface: str, member: str) -> Message:
        options = message.body[-1]
        sender = (message.sender or "").lstrip(":").replace(".", "_")
        handle = f"{PATH}/request/{sender}/{options['handle_token'].value}"
        asks_user = member in ("Screenshot", "Start")
        if asks_user:
            self.questions.append(member)
        code = self.answer if asks_user else ALLOWED
        if code is not None:
            results = getattr(self, f"_{member}")(message, sender) if code == ALLOWED else {}
            self._send_signal(handle, "org.freedesktop.portal.Request", "Response", "ua{sv}", code, results)
        return Message.new_method_return(message, "o", [handle])

    def _Screenshot(self, message: Message, sender: str) -> dict[str, Variant]:  # noqa: N802
        width, height = self.picture_size
        pixels = numpy.zeros((height, width, 3), numpy.uint8)
        pixels[:, : width // 2] = (255, 0, 0)  # blue on the left
        file = self.folder / f"Screenshot {len(self.pictures)}.png"
        cv2.imwrite(str(file), pixels)
        self.pictures.append(file)
        return {"uri": Variant("s", file.as_uri())}

    def _CreateSession(self, message: Message, sender: str) -> dict[str, Variant]:  # noqa: N802
        token = message.body[0]["session_handle_token"].value
        # A string although the description says object path; that is how all versions send it.
        return {"session_handle": Variant("s", f"{PATH}/session/{sender}/{token}")}

    def _SelectDevices(self, message: Message, sender: str) -> dict[str, Variant]:  # noqa: N802
        self.events.append(("devices", message.body[1]["types"].value))
        return {}

    def _SelectSources(self, message: Message, sender: str) -> dict[str, Variant]:  # noqa: N802
        self.events.append(("sources", message.body[1]["types"].value))
        return {}

    def _Start(self, message: Message, sender: str) -> dict[str, Variant]:  # noqa: N802
        self.started.add(message.body[0])
        streams = [
            [node, {"position": Variant("(ii)", list(position)), "size": Variant("(ii)", list(size))}]
            for node, position, size in self.streams
        ]
        return {"devices": Variant("u", self.devices), "streams": Variant("a(ua{sv})", streams)}

    def _notification(self, message: Message) -> Message:
        signature, device = NOTIFICATIONS[message.member or ""]
        session, _, *values = message.body if message.signature == signature else ("", {})
        if session not in self.started or not self.devices & device:
            return Message.new_error(message, "org.freedesktop.portal.Error.NotAllowed", "Invalid session")
        self.events.append(((message.member or "").removeprefix("Notify"), *values))
        return Message.new_method_return(message)

    def _send_signal(self, path: str, interface: str, member: str, signature: str, *body: Any) -> None:
        assert self.bus is not None
        self.bus.send(Message.new_signal(path, interface, member, signature, list(body)))

    async def _signal(self, path: str, interface: str, member: str, signature: str, *body: Any) -> None:
        assert self.bus is not None
        await self.bus.send(Message.new_signal(path, interface, member, signature, list(body)))
