"""What a display lacks to be controlled, and which package or setting provides it; for `toolcrib doctor`.
Messages about DISPLAY, Wayland sessions, accessibility that is off, and a gRPC server that does not
answer."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import os
import re
import socket
from collections.abc import Sequence
from typing import Any

from toolcrib.bundled.desktop import headless
from toolcrib.bundled.desktop.backend import SetupProblem
from toolcrib.bundled.desktop.backends import backend_module
from toolcrib.serverkit.context import ToolFailure

TIMEOUT = 3.0
_LOCAL = re.compile(r":(\d+)(?:\.\d+)?")
PROPERTIES = "org.freedesktop.DBus.Properties"


async def find_problems(size: tuple[int, int] | None) -> list[SetupProblem]:
    """Of a display of its own with this size, or of the user's."""
    problems = await asyncio.to_thread(_of_target, size)
    if size is not None or any(problem.fatal for problem in problems):
        return problems
    target = backend_module().user_target()
    return [*problems, *_of_session(), *await _of_accessibility(getattr(target, "bus_address", ""))]


async def find_missing(size: tuple[int, int] | None) -> list[SetupProblem]:
    """Only that without which nothing works; cheap enough to be asked often."""
    return [problem for problem in await asyncio.to_thread(_of_target, size) if problem.fatal]


def _of_target(size: tuple[int, int] | None) -> list[SetupProblem]:
    if size is not None:
        return headless.probe()
    try:
        module = backend_module()
        target = module.user_target()
        problems = list(module.probe(target))
    except ToolFailure as failure:
        return [SetupProblem(failure.message, failure.hint)]
    if not any(problem.fatal for problem in problems):
        problems += _of_display(getattr(target, "display", ""))
        problems += _of_server(target)
    return problems


def _of_display(display: str) -> Sequence[SetupProblem]:
    """Whether a display on this machine answers; others are not tried."""
    number = _LOCAL.fullmatch(display)
    if number is None:
        return []
    path = f"/tmp/.X11-unix/X{number[1]}"  # noqa: S108 - where X servers listen
    for address in (path, f"\0{path}"):
        with socket.socket(socket.AF_UNIX) as connection, contextlib.suppress(OSError):
            connection.settimeout(TIMEOUT)
            connection.connect(address)
            return []
    return [
        SetupProblem(
            f"The display {display} does not answer.",
            "Set DISPLAY to that of your session, or use a display of its own: --headless 1280x800.",
        )
    ]


def _of_server(target: Any) -> Sequence[SetupProblem]:
    """Whether a gRPC server on this machine answers; others are not tried."""
    address = getattr(target, "address", "")
    if not address or not target.is_local:
        return []
    try:
        if address.startswith("unix:"):
            with socket.socket(socket.AF_UNIX) as connection:
                connection.settimeout(TIMEOUT)
                connection.connect(address.removeprefix("unix:"))
        else:
            host, _, port = address.rpartition(":")
            socket.create_connection((host.strip("[]"), int(port)), TIMEOUT).close()
    except OSError:
        return [SetupProblem(f"No desktop server answers at {address}.", _START_SERVER)]
    return []


_START_SERVER = (
    "On macOS, start MacosUseServer of MacosUseSDK and allow it Accessibility and Screen Recording in System "
    "Settings > Privacy & Security; on Linux, start `toolcrib desktop serve --grpc`. For a server at another "
    "address, set MACOS_USE_SERVER_ADDR."
)


def _of_session() -> Sequence[SetupProblem]:
    if os.environ.get("WAYLAND_DISPLAY") and os.environ.get("DISPLAY"):
        return [
            SetupProblem(
                "This is a Wayland session: only programs that use X11 can be seen and controlled.",
                "Log in to an X11 session, or use a display of its own: --headless 1280x800.",
                fatal=False,
            )
        ]
    return []


async def _of_accessibility(bus_address: str) -> Sequence[SetupProblem]:
    if not bus_address or not os.environ.get("DISPLAY"):
        return []
    if importlib.util.find_spec("dbus_fast") is None:
        return []  # It is installed with the first call.
    try:
        async with asyncio.timeout(TIMEOUT):
            enabled = await _is_enabled(bus_address)
    except (OSError, EOFError, ValueError, TimeoutError, ToolFailure) as error:
        detail = str(error) or type(error).__name__
        return [
            SetupProblem(
                f"The accessibility service does not answer ({detail}), so elements cannot be found.",
                "Install the package at-spi2-core, and log in again.",
                fatal=False,
            )
        ]
    return () if enabled else [_OFF]


_OFF = SetupProblem(
    "Accessibility is off in this session: programs that are already running may offer no elements.",
    "Turn it on and restart them: gsettings set org.gnome.desktop.interface toolkit-accessibility true",
    fatal=False,
)


async def _is_enabled(bus_address: str) -> bool:
    from dbus_fast import Message, MessageType
    from dbus_fast.aio import MessageBus

    bus = await MessageBus(bus_address=bus_address).connect()
    try:
        wanted = Message(
            "org.a11y.Bus",
            "/org/a11y/bus",
            interface=PROPERTIES,
            member="Get",
            signature="ss",
            body=["org.a11y.Status", "IsEnabled"],
        )
        reply = await bus.call(wanted)
        if reply is None or reply.message_type is MessageType.ERROR:
            raise ToolFailure("it is not running")
        return bool(reply.body[0].value)
    finally:
        bus.disconnect()
