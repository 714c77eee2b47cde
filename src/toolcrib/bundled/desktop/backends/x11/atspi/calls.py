"""Calls to programs that may hang: each with a deadline, and limited in number; how long a program that did
not answer is not asked again.

dbus-fast closes the connection if the bus does not read as fast as we send, so the calls in flight are
limited: for all programs together, and for each of them, so that one that hangs leaves room for the others.
After a call has expired, its message may still be unread; its place is free again once the bus has answered
a later one.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter, deque
from dataclasses import dataclass

from dbus_fast import Message, MessageType
from dbus_fast.aio import MessageBus

from toolcrib.bundled.desktop.deadline import COUNTED, STEP

IN_FLIGHT = 128
IN_FLIGHT_OF_ONE = 64
QUIET = 2.0
"""Seconds during which a program that did not answer is not asked again."""
BUS, REGISTRY = "org.freedesktop.DBus", "org.a11y.atspi.Registry"
SERVICES = frozenset({BUS, REGISTRY})
"""These only a busy machine delays."""
_ANSWERS = (MessageType.METHOD_RETURN, MessageType.ERROR)


class NoAnswer(Exception):
    """A program did not answer in time."""


@dataclass(slots=True)
class _Call:
    message: Message
    destination: str
    answer: asyncio.Future[Message]
    left: float
    """Seconds until it expires, counted while it is in flight."""


class AtspiCalls:
    def __init__(self, bus: MessageBus) -> None:
        self._bus = bus
        self._loop = asyncio.get_running_loop()
        self._in_flight: dict[int, _Call] = {}
        self._of_one: Counter[str] = Counter()
        self._waiting: dict[str, deque[_Call]] = {}
        self._unread = 0
        self._silent_until: dict[str, float] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._last = 0.0
        bus.add_message_handler(self._receive)

    def start(self, message: Message, patience: float) -> asyncio.Future[Message]:
        """The answer to come; fails with `NoAnswer`."""
        destination = message.destination or BUS
        answer: asyncio.Future[Message] = self._loop.create_future()
        if not self._bus.connected or self._silent_until.get(destination, 0) > time.monotonic():
            _fail(answer, destination)
            return answer
        call = _Call(message, destination, answer, patience)
        if self._has_room(destination):
            self._send(call)
        else:
            self._waiting.setdefault(destination, deque()).append(call)
        return answer

    def _has_room(self, destination: str) -> bool:
        used = len(self._in_flight) + self._unread
        return used < IN_FLIGHT and self._of_one[destination] < IN_FLIGHT_OF_ONE

    def _send(self, call: _Call) -> None:
        call.message.serial = serial = self._bus.next_serial()
        self._in_flight[serial] = call
        self._of_one[call.destination] += 1
        self._bus.send(call.message).add_done_callback(_discard)
        if self._timer is None:
            self._last = self._loop.time()
            self._timer = self._loop.call_later(STEP, self._look)

    def _receive(self, message: Message) -> bool:
        """Whether it answers one of our calls."""
        if message.message_type not in _ANSWERS:
            return False
        call = self._in_flight.pop(message.reply_serial or 0, None)
        if call is None:
            return False
        self._of_one[call.destination] -= 1
        if not call.answer.done():
            call.answer.set_result(message)
        if self._waiting:
            self._send_waiting()
        return True

    def _send_waiting(self) -> None:
        for destination, queue in list(self._waiting.items()):
            while queue and self._has_room(destination):
                call = queue.popleft()
                if not call.answer.done():
                    self._send(call)
            if not queue:
                del self._waiting[destination]

    def _look(self) -> None:
        """Expire calls; one shared look is cheaper than a timer for each."""
        now = self._loop.time()
        counted, self._last = min(now - self._last, COUNTED), now
        for call in self._in_flight.values():
            call.left -= counted
        hung = {call.destination for call in self._in_flight.values() if call.left <= 0}
        for destination in set(self._of_one) if not self._bus.connected else hung:
            self._give_up(destination)
        self._timer = self._loop.call_later(STEP, self._look) if self._in_flight else None

    def _give_up(self, destination: str) -> None:
        """Fail everything that was asked of a program that does not answer."""
        if destination not in SERVICES:
            self._silent_until[destination] = time.monotonic() + QUIET
        expired = [serial for serial, call in self._in_flight.items() if call.destination == destination]
        calls = [self._in_flight.pop(serial) for serial in expired]
        self._of_one[destination] = 0
        self._unread += len(calls)
        for call in (*calls, *self._waiting.pop(destination, ())):
            _fail(call.answer, destination)
        if self._bus.connected:
            self._await_reading()

    def _await_reading(self) -> None:
        """Have the bus answer something: by then it has read all that was sent before."""
        ping = Message(BUS, "/", "org.freedesktop.DBus.Peer", "Ping")
        call = _Call(ping, BUS, self._loop.create_future(), float("inf"))
        call.answer.add_done_callback(self._all_read)
        self._send(call)

    def _all_read(self, answer: asyncio.Future[Message]) -> None:
        if answer.exception() is None:
            self._unread = 0
            self._send_waiting()


def _fail(answer: asyncio.Future[Message], destination: str) -> None:
    if not answer.done():
        answer.set_exception(NoAnswer(destination))
        answer.exception()  # asyncio does not report it if the caller has given up meanwhile


def _discard(sent: asyncio.Future[None]) -> None:
    """A failure to send ends the connection, which fails all calls."""
    if not sent.cancelled():
        sent.exception()
