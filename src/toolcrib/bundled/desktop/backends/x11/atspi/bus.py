"""The accessibility bus: finds it, registers for events, and asks programs. Has the events and states that
are listened to, and the timeouts of answers."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from dbus_fast import Message, MessageType, Variant
from dbus_fast.aio import MessageBus

from toolcrib.bundled.desktop.backends.x11.atspi.calls import REGISTRY as REGISTRY_NAME
from toolcrib.bundled.desktop.backends.x11.atspi.calls import SERVICES, AtspiCalls, NoAnswer
from toolcrib.bundled.desktop.deadline import PatientTimeout
from toolcrib.serverkit.context import ToolFailure

ATSPI = "org.a11y.atspi."
PROPERTIES = "org.freedesktop.DBus.Properties"
DBUS = ("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus")
REGISTRY = (REGISTRY_NAME, "/org/a11y/atspi/registry", f"{ATSPI}Registry")
DESKTOP_ROOT = (REGISTRY_NAME, "/org/a11y/atspi/accessible/root")
PATIENCE = 3.0
"""Seconds for one answer of a program."""
SERVICE_PATIENCE = 8.0
"""Seconds for one answer of the bus or the registry, which only a busy machine delays."""
START_PATIENCE = 10.0
EVENTS = (
    "object:children-changed",
    "object:text-changed",
    "object:state-changed",
    "object:property-change",
    "window:",
)
MEMBERS = ("ChildrenChanged", "TextChanged", "PropertyChange", "SelectionChanged")
STATES = (
    "sensitive",
    "showing",
    "visible",
    "focused",
    "checked",
    "indeterminate",
    "selected",
    "expanded",
    "collapsed",
    "pressed",
    "active",
    "modal",
    "busy",
    "required",
    "editable",
    "read-only",
    "invalid-entry",
)
"""Not `enabled`, which comes with `sensitive`: an editor sends hundreds of both while a line is typed."""


class AccessibilityBus:
    def __init__(self, bus: MessageBus, on_event: Callable[[str, str], None]) -> None:
        self._bus = bus
        self._calls = AtspiCalls(bus)
        self._on_event = on_event
        self._processes: dict[str, int] = {}

    @classmethod
    async def connect(cls, session_address: str, on_event: Callable[[str, str], None]) -> AccessibilityBus:
        """Find the bus, and register for events: GTK 3 offers its cache only then."""
        try:
            async with PatientTimeout(START_PATIENCE):
                address = await _find(session_address)
                bus = await MessageBus(bus_address=address).connect()
                opened = cls(bus, on_event)
                bus.add_message_handler(opened._receive)
                await opened._register()
                return opened
        except (OSError, TimeoutError, ValueError, NoAnswer) as error:
            reason = str(error) or "it did not answer"
            raise ToolFailure(
                f"The accessibility service cannot be reached: {reason}.", "Install the package at-spi2-core."
            ) from None

    @property
    def connected(self) -> bool:
        return bool(self._bus.connected)

    def process_of(self, destination: str) -> int | None:
        return self._processes.get(destination)

    async def call(
        self,
        destination: str,
        path: str,
        interface: str,
        member: str,
        signature: str = "",
        *body: Any,
        patience: float = PATIENCE,
    ) -> Sequence[Any] | None:
        """The answer's body; None if it is an error. Raises `NoAnswer`."""
        return body_of(await self.start(destination, path, interface, member, signature, body, patience))

    def start(
        self,
        destination: str,
        path: str,
        interface: str,
        member: str,
        signature: str = "",
        body: Iterable[Any] = (),
        patience: float = PATIENCE,
    ) -> asyncio.Future[Message]:
        """A call whose answer `body_of` reads, so that many can be sent at once. It fails with `NoAnswer`."""
        message = Message(destination, path, interface, member, signature=signature, body=list(body))
        return self._calls.start(message, SERVICE_PATIENCE if destination in SERVICES else patience)

    def start_get(self, destination: str, path: str, interface: str, name: str) -> asyncio.Future[Message]:
        """Ask for a property; `value_of` reads the answer."""
        return self.start(destination, path, PROPERTIES, "Get", "ss", (ATSPI + interface, name))

    async def get(self, destination: str, path: str, interface: str, name: str) -> Any:
        """A property; None if it has none."""
        return value_of(await self.start_get(destination, path, interface, name))

    async def set(self, destination: str, path: str, interface: str, name: str, value: Variant) -> bool:
        arguments = (ATSPI + interface, name, value)
        return await self.call(destination, path, PROPERTIES, "Set", "ssv", *arguments) is not None

    async def programs(self) -> dict[int, tuple[str, str]]:
        """The root element of each program, by process id."""
        found = await self.call(*DESKTOP_ROOT, f"{ATSPI}Accessible", "GetChildren")
        roots = [(name, path) for name, path in (found[0] if found else ()) if not path.endswith("/null")]
        processes = await asyncio.gather(*(self._process(name) for name, _ in roots))
        return {process: root for process, root in zip(processes, roots, strict=True) if process}

    def close(self) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed
            self._bus.disconnect()

    async def _process(self, name: str) -> int:
        if name not in self._processes:
            found = await self.call(*DBUS, "GetConnectionUnixProcessID", "s", name)
            self._processes[name] = found[0] if found else 0
        return self._processes[name]

    async def _register(self) -> None:
        for event in EVENTS:
            await self.call(*REGISTRY, "RegisterEvent", "sass", event, [], "")
        await asyncio.gather(*(self.call(*DBUS, "AddMatch", "s", rule) for rule in _match_rules()))

    def _receive(self, message: Message) -> None:
        if message.message_type is MessageType.SIGNAL and (message.interface or "").startswith(
            f"{ATSPI}Event"
        ):
            detail = message.body[0] if message.body and isinstance(message.body[0], str) else ""
            self._on_event(message.sender or "", f"{message.member}:{detail}")


def body_of(answer: Message) -> Sequence[Any] | None:
    """None if it is an error."""
    return None if answer.message_type is MessageType.ERROR else answer.body


def value_of(answer: Message) -> Any:
    body = body_of(answer)
    return body[0].value if body else None


def _match_rules() -> list[str]:
    """Which events the bus passes on."""
    start = f"type='signal',interface='{ATSPI}Event."
    members = [f"{start}Object',member='{member}'" for member in MEMBERS]
    states = [f"{start}Object',member='StateChanged',arg0='{state}'" for state in STATES]
    return [f"{start}Window'", *members, *states]


async def _find(session_address: str) -> str:
    """The address of the accessibility bus; also turns accessibility on, which Qt looks at when it starts."""
    session = await MessageBus(bus_address=session_address).connect()
    try:
        place = ("org.a11y.Bus", "/org/a11y/bus")
        enable = ["org.a11y.Status", "IsEnabled", Variant("b", True)]
        await session.call(Message(*place, interface=PROPERTIES, member="Set", signature="ssv", body=enable))
        while True:
            reply = await session.call(Message(*place, interface="org.a11y.Bus", member="GetAddress"))
            if reply.message_type is not MessageType.ERROR and reply.body[0]:
                return str(reply.body[0])
            await asyncio.sleep(0.02)  # it is still starting; the caller has a deadline
    finally:
        session.disconnect()
