"""Parses server-sent events (the WHATWG `text/event-stream` format), in linear time and bounded memory."""

from __future__ import annotations

from dataclasses import dataclass

from toolcrib.servers.transport import MAX_MESSAGE_BYTES

_BOM = b"\xef\xbb\xbf"
_DATA = b"data: "
_LONG = 1024 * 1024


class EventTooLarge(ValueError):
    """An event exceeds `max_event_bytes`."""


@dataclass(frozen=True, slots=True)
class ServerSentEvent:
    """An event with data; events without data only change `last_event_id` and `retry`."""

    type: str
    data: bytes


class EventStreamReader:
    """Turns chunks into events and remembers where to resume."""

    def __init__(self, *, max_event_bytes: int = MAX_MESSAGE_BYTES) -> None:
        self.last_event_id: str | None = None
        """The id of the last complete event, for `Last-Event-ID`."""
        self.retry: float | None = None
        """Seconds the server asks us to wait before reconnecting."""
        self.max_event_bytes = max_event_bytes
        self._line: list[bytes] = []
        self._line_bytes = 0
        self._event_bytes = 0
        self._after_return = False
        self._at_start = True
        self._type = ""
        self._data: list[bytes] = []
        self._id: str | None = None

    def feed(self, chunk: bytes) -> list[ServerSentEvent]:
        """The events completed by this chunk; raises `EventTooLarge`."""
        if self._after_return and chunk.startswith(b"\n"):  # a CRLF split between chunks
            chunk = chunk[1:]
            self._after_return = False
        if not chunk:
            return []
        self._after_return = chunk.endswith(b"\r")
        lines = chunk.splitlines()
        rest = b"" if chunk.endswith((b"\r", b"\n")) else lines.pop()
        events: list[ServerSentEvent] = []
        for line in lines:
            if self._line_bytes > _LONG and self._line[0].startswith(_DATA):
                self._take_long_data(line)
                continue
            event = self._take_line(self._whole_line(line))
            if event is not None:
                events.append(event)
        if rest and not self._in_comment():
            rest = b":" if not self._line and rest.startswith(b":") else rest
            self._line.append(rest)
            self._line_bytes += len(rest)
        self._check_size(self._line_bytes)
        return events

    @property
    def unfinished(self) -> int:
        """The bytes of the event that is not complete yet."""
        return self._event_bytes + self._line_bytes

    def _in_comment(self) -> bool:
        """Whether the unfinished line is a comment, whose rest is not needed."""
        return bool(self._line) and self._line[0] == b":"

    def _whole_line(self, end: bytes) -> bytes:
        line = end
        if self._line:
            line = b"".join([*self._line, end])
            self._line.clear()
            self._line_bytes = 0
        if self._at_start:
            self._at_start = False
            line = line.removeprefix(_BOM)
        return line

    def _take_long_data(self, end: bytes) -> None:
        """The end of a long line of data, which is copied only once."""
        self._line[0] = self._line[0][len(_DATA) :]
        self._event_bytes += self._line_bytes + len(end)
        self._data.append(b"".join([*self._line, end]))
        self._line.clear()
        self._line_bytes = 0
        self._at_start = False
        self._check_size(0)

    def _take_line(self, line: bytes) -> ServerSentEvent | None:
        if not line:
            return self._dispatch()
        if line.startswith(b":"):  # a comment, often a keep-alive
            return None
        self._event_bytes += len(line)
        self._check_size(0)
        name, _, value = line.partition(b":")
        self._take_field(name, value.removeprefix(b" "))
        return None

    def _take_field(self, name: bytes, value: bytes) -> None:
        if name == b"data":
            self._data.append(value)
        elif name == b"event":
            self._type = value.decode("utf-8", "replace")
        elif name == b"id" and b"\0" not in value:
            self._id = value.decode("utf-8", "replace")
        elif name == b"retry" and value.isdigit() and len(value) < 10:
            self.retry = int(value) / 1000

    def _dispatch(self) -> ServerSentEvent | None:
        # Only now: an incomplete event must be sent again.
        if self._id is not None:
            self.last_event_id = self._id or None
        data = self._data[0] if len(self._data) == 1 else b"\n".join(self._data)
        event = ServerSentEvent(self._type or "message", data) if data else None
        self._type = ""
        self._data.clear()
        self._id = None
        self._event_bytes = 0
        return event

    def _check_size(self, unfinished: int) -> None:
        if self._event_bytes + unfinished > self.max_event_bytes:
            raise EventTooLarge(f"one event is larger than {self.max_event_bytes} bytes")
