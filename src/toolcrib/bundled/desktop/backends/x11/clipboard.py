"""The clipboard as a selection owner and as a requester, with large contents in parts (INCR); time to wait
for the owner, and formats that count as text.

Runs in the listening thread, because an owner must answer other programs at any time.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from xcffib.xproto import (
    CW,
    Atom,
    EventMask,
    Property,
    PropertyNotifyEvent,
    PropMode,
    SelectionClearEvent,
    SelectionNotifyEvent,
    SelectionRequestEvent,
    WindowClass,
)

from toolcrib.bundled.desktop.backend import ClipboardContent
from toolcrib.bundled.desktop.backends.x11.connection import Event, XConnection, XThread, numbers
from toolcrib.bundled.desktop.clipboard_content import LARGEST, PREFERRED, SECRET_HINT, TEXT, check_size
from toolcrib.serverkit.context import ToolFailure

SELECTION = "CLIPBOARD"
PATIENCE = 3.0
"""Seconds for the owner to answer, or to send the next part."""
PART = 256 << 10
"""Larger contents are sent in parts of this size; all servers accept requests of it."""
TRANSFER_PATIENCE = 30.0
_TEXT_TARGETS = ("UTF8_STRING", TEXT, "text/plain", "STRING", "TEXT")
_SPECIAL = {"TARGETS", "TIMESTAMP", "MULTIPLE", "SAVE_TARGETS", "DELETE"}


@dataclass
class _Transfer:
    """What is left to send to one requester."""

    data: bytes
    kind: int
    started: float


class X11Clipboard:
    def __init__(self, thread: XThread) -> None:
        self._thread = thread
        self._selection = SelectionOwner(thread.connection)

    async def prepare(self) -> None:
        await self._thread.run(self._selection.start)

    def handle(self, event: Event) -> None:
        """Called in the listening thread for each event."""
        self._selection.handle(event)

    async def read(self, media_type: str | None = None) -> ClipboardContent | None:
        return await self._thread.run(self._selection.read, media_type, timeout=TRANSFER_PATIENCE)

    async def write(self, contents: Mapping[str, bytes]) -> None:
        check_size(contents)
        await self._thread.run(self._selection.own, dict(contents))


class SelectionOwner:
    def __init__(self, connection: XConnection) -> None:
        self._connection = connection
        self._contents: dict[str, bytes] = {}
        self._since = 0
        self._transfers: dict[tuple[int, int], _Transfer] = {}
        self._window = 0

    def start(self, connection: XConnection) -> None:
        """Create the window that owns and receives."""
        self._window = connection.raw.generate_id()
        connection.core.CreateWindow(
            0, self._window, connection.root, 0, 0, 1, 1, 0, WindowClass.InputOnly, 0,
            CW.EventMask, [EventMask.PropertyChange],
        )  # fmt: skip
        connection.learn_atoms(SELECTION, "INCR", "TOOLCRIB_CLIPBOARD", *_TEXT_TARGETS, *_SPECIAL)
        connection.raw.flush()

    def own(self, connection: XConnection, contents: dict[str, bytes]) -> None:
        """Become the owner; nothing to offer clears the clipboard."""
        self._since = self._now(connection)
        owner = self._window if contents else 0
        connection.core.SetSelectionOwner(owner, connection.atom(SELECTION), self._since)
        if connection.core.GetSelectionOwner(connection.atom(SELECTION)).reply().owner != owner:
            raise ToolFailure("Another program took the clipboard at the same moment.", "Try again.")
        self._contents = contents

    def read(self, connection: XConnection, media_type: str | None) -> ClipboardContent | None:
        if connection.core.GetSelectionOwner(connection.atom(SELECTION)).reply().owner == self._window:
            return self._own_content(media_type)
        offered = self._ask_formats(connection)
        target = _choose(offered, media_type)
        if target is None:
            return None
        data = self._ask(connection, target)
        if data is None:
            return None
        shown = TEXT if target in _TEXT_TARGETS else target
        if target == "STRING":
            data = data.decode("latin1").encode()
        return ClipboardContent(shown, data, _formats(offered))

    def handle(self, event: Event) -> None:
        if isinstance(event, SelectionRequestEvent):
            self._answer(event)
        elif isinstance(event, SelectionClearEvent) and event.owner == self._window:
            self._contents = {}
        elif isinstance(event, PropertyNotifyEvent) and event.state == Property.Delete:
            self._send_part(event.window, event.atom)

    def _own_content(self, media_type: str | None) -> ClipboardContent | None:
        chosen = media_type or (TEXT if TEXT in self._contents else next(iter(self._contents), ""))
        if chosen.startswith("text/plain"):
            chosen = TEXT
        if chosen not in self._contents:
            return None
        return ClipboardContent(chosen, self._contents[chosen], tuple(self._contents))

    def _now(self, connection: XConnection) -> int:
        """The server's time, which an event carries; a selection must not be taken with "now"."""
        mark = connection.atom("TOOLCRIB_CLIPBOARD")
        connection.core.ChangeProperty(PropMode.Append, self._window, mark, Atom.STRING, 8, 0, b"")
        event = connection.wait_for(lambda event: self._is_own_property(event, mark), PATIENCE)
        return int(event.time) if event is not None else 0

    def _is_own_property(self, event: Event, mark: int) -> bool:
        return isinstance(event, PropertyNotifyEvent) and event.window == self._window and event.atom == mark

    def _ask_formats(self, connection: XConnection) -> list[str]:
        data = self._ask(connection, "TARGETS")
        atoms = memoryview(data[: len(data) // 4 * 4]).cast("I") if data else ()
        return [connection.atom_name(atom) for atom in atoms if atom]

    def _ask(self, connection: XConnection, target: str) -> bytes | None:
        """What the owner answers to a request for one format; None if it refuses or is silent."""
        place = connection.atom("TOOLCRIB_CLIPBOARD")
        arguments = (connection.atom(SELECTION), connection.atom(target), place, self._now(connection))
        connection.core.DeleteProperty(self._window, place)
        connection.core.ConvertSelection(self._window, *arguments)
        event = connection.wait_for(lambda event: isinstance(event, SelectionNotifyEvent), PATIENCE)
        if event is None or not event.property:
            return None
        reply = self._take(connection, place)
        if reply.type != connection.atom("INCR"):
            return bytes(reply.value.buf())
        return self._receive_parts(connection, place, numbers(reply))

    def _take(self, connection: XConnection, place: int) -> Any:
        return connection.core.GetProperty(True, self._window, place, 0, 0, LARGEST // 4).reply()

    def _receive_parts(self, connection: XConnection, place: int, size: list[int]) -> bytes:
        """Deleting the property, as `_take` does, asks for the next part; an empty one is the end."""
        if size and size[0] > LARGEST:
            raise ToolFailure(f"The clipboard holds more than {LARGEST >> 20} MiB.")
        parts: list[bytes] = []
        while True:
            if connection.wait_for(lambda event: self._is_new_part(event, place), PATIENCE) is None:
                raise ToolFailure("The owner of the clipboard stopped sending.", "Copy it again.")
            part = bytes(self._take(connection, place).value.buf())
            parts.append(part)
            if not part:
                return b"".join(parts)
            if sum(map(len, parts)) > LARGEST:
                raise ToolFailure(f"The clipboard holds more than {LARGEST >> 20} MiB.")

    def _is_new_part(self, event: Event, place: int) -> bool:
        return self._is_own_property(event, place) and event.state == Property.NewValue

    def _answer(self, event: SelectionRequestEvent) -> None:
        """Give another program what it asks for, or refuse with property 0."""
        place = event.property or event.target  # old clients leave it out
        done = self._fill(event.requestor, place, self._connection.atom_name(event.target))
        answer = SelectionNotifyEvent.synthetic(
            event.time, event.requestor, event.selection, event.target, place if done else 0
        )
        self._connection.core.SendEvent(False, event.requestor, 0, answer.pack())
        self._connection.raw.flush()

    def _fill(self, requestor: int, place: int, target: str) -> bool:
        atom = self._connection.atom
        if target == "TARGETS":
            names = ["TARGETS", "TIMESTAMP", *self._contents]
            if TEXT in self._contents:
                names += [name for name in _TEXT_TARGETS if name != TEXT]
            self._change(requestor, place, Atom.ATOM, 32, _pack([atom(name) for name in names]))
            return True
        if target == "TIMESTAMP":
            self._change(requestor, place, Atom.INTEGER, 32, _pack([self._since]))
            return True
        data = self._contents.get(TEXT if target in _TEXT_TARGETS else target)
        if data is None:
            return False
        if target == "STRING":
            data = data.decode("utf-8", "replace").encode("latin1", "replace")
        self._send(requestor, place, atom("UTF8_STRING" if target == "TEXT" else target), data)
        return True

    def _send(self, requestor: int, place: int, kind: int, data: bytes) -> None:
        if len(data) <= PART:
            self._change(requestor, place, kind, 8, data)
            return
        self._forget_old_transfers()
        self._transfers[requestor, place] = _Transfer(data, kind, time.monotonic())
        mask = [EventMask.PropertyChange]
        self._connection.core.ChangeWindowAttributes(requestor, CW.EventMask, mask)
        self._change(requestor, place, self._connection.atom("INCR"), 32, _pack([len(data)]))

    def _send_part(self, requestor: int, place: int) -> None:
        transfer = self._transfers.get((requestor, place))
        if transfer is None:
            return
        part, transfer.data = transfer.data[:PART], transfer.data[PART:]
        self._change(requestor, place, transfer.kind, 8, part)
        self._connection.raw.flush()
        if not part:
            del self._transfers[requestor, place]
            self._connection.core.ChangeWindowAttributes(requestor, CW.EventMask, [0])

    def _forget_old_transfers(self) -> None:
        oldest = time.monotonic() - TRANSFER_PATIENCE
        self._transfers = {
            key: transfer for key, transfer in self._transfers.items() if transfer.started > oldest
        }

    def _change(self, window: int, place: int, kind: int, width: int, data: bytes) -> None:
        length = len(data) * 8 // width
        self._connection.core.ChangeProperty(PropMode.Replace, window, place, kind, width, length, data)


def _choose(offered: list[str], media_type: str | None) -> str | None:
    """The best format for what was asked: text first, then pictures."""
    if media_type is not None and not media_type.startswith("text/plain"):
        return media_type if media_type in offered else None
    text = next((name for name in _TEXT_TARGETS if name in offered), None)
    if text is not None or media_type is not None:
        return text
    if not offered:
        return "UTF8_STRING"  # an owner that does not answer TARGETS
    named = [name for name in offered if "/" in name]
    return next((name for name in (*PREFERRED, *named) if name in offered), None)


def _formats(offered: list[str]) -> tuple[str, ...]:
    text = [TEXT] if set(_TEXT_TARGETS) & set(offered) else []
    kept = (name for name in offered if "/" in name or name == SECRET_HINT)
    return (*text, *(name for name in kept if name not in _TEXT_TARGETS))


def _pack(values: list[int]) -> bytes:
    return b"".join(value.to_bytes(4, sys.byteorder) for value in values)
