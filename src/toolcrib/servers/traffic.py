"""Records the JSON-RPC messages between a host and a server while a user asks for it: the last ones, in
memory, with secrets masked. Limits: messages and characters kept, the longest message, CPU time for a server
that floods, and how long it goes on when nobody looks.

Messages are masked before they are kept. A host that records nothing pays one look at an empty dict for each
message.
"""

from __future__ import annotations

import json
import math
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from toolcrib.clock import Clock
from toolcrib.config.secret_detection import LONGEST_KEY, MASK, is_secret_key
from toolcrib.errors import UsageError
from toolcrib.schema.json_values import moment
from toolcrib.serverkit.encoding import HEAVY, weight
from toolcrib.servers.sessions.codec import Measured, encode
from toolcrib.servers.transport import Message

MOST_MESSAGES = 500
MOST_CHARACTERS = 4 * 1024 * 1024
"""Of all kept messages of a server."""
LONGEST_MESSAGE = 64 * 1024
"""Characters of a message that are kept."""
UNSEEN = 300.0
"""Seconds after the last look at which a recording ends."""
MESSAGES_A_SECOND = 100
CPU_SECONDS_A_SECOND = 0.1
"""More messages, or more time to mask them, are only counted: a flood must not hold up other servers."""
MOST_UNANSWERED = 1000
_DEEPEST = 40
_VALUE_COST = 16
"""Characters charged for each value besides its text, so that many short ones cannot take long."""
_LONGEST_INTEGER = 256
_LONGEST_ID = 100
_MOST_WEIGHED = 4 * 1024 * 1024
_SCHEMAS = frozenset({"inputSchema", "outputSchema", "requestedSchema"})
"""They declare arguments such as `api_key`, and hold none."""
_OF_PROTOCOL = frozenset({"progressToken"})
"""Names of the protocol that only look like secrets."""

Mask = Callable[[str, int], str]
"""Masks the secrets in a text, and cuts it."""
Kind = Literal["request", "notification", "result", "error"]


@dataclass(frozen=True, kw_only=True, slots=True)
class RecordedMessage:
    """A message as it is kept: masked, and cut if it is long."""

    number: int
    time: str
    to_server: bool
    kind: Kind
    method: str
    """Of an answer, that of its request; empty if the request is unknown."""
    id: str | None
    milliseconds: float | None
    """From the request to this answer."""
    size: int
    """Bytes of the message itself; about, if it is large."""
    text: str
    """JSON."""
    cut: bool


class Recording:
    """The last messages of one server."""

    def __init__(self, server: str, clock: Clock, mask: Mask, active: dict[str, Recording]) -> None:
        self.messages: deque[RecordedMessage] = deque()
        self.skipped = 0
        """Messages that came too fast."""
        self.until = clock.monotonic() + UNSEEN
        self._server = server
        self._clock = clock
        self._mask = mask
        self._active = active
        self._next = 1
        self._characters = 0
        self._unanswered: dict[tuple[int, bool, str], tuple[str, float]] = {}
        self._second = -math.inf
        self._count = 0
        self._cpu = 0.0

    @property
    def oldest(self) -> int:
        """The number of the first kept message, or of the next one."""
        return self.messages[0].number if self.messages else self._next

    def clear(self) -> None:
        self.messages.clear()
        self._characters = self.skipped = 0

    def note(self, connection: object, message: Message, *, to_server: bool) -> None:
        """Keep a message of a connection; a server may have several at once."""
        now = self._clock.monotonic()
        if now > self.until:
            self._active.pop(self._server, None)
            return
        method, milliseconds = self._exchange(id(connection), message, to_server, now)
        if not self._affords(now):
            self.skipped += 1
            return
        began = time.thread_time()
        self._keep(message, to_server, method, milliseconds)
        self._cpu += time.thread_time() - began

    def _affords(self, now: float) -> bool:
        if now - self._second >= 1:
            self._second, self._count, self._cpu = now, 0, 0.0
        self._count += 1
        return self._count <= MESSAGES_A_SECOND and self._cpu <= CPU_SECONDS_A_SECOND

    def _exchange(
        self, connection: int, message: Message, to_server: bool, now: float
    ) -> tuple[str, float | None]:
        """The method, and for an answer the time since its request."""
        method, name = message.get("method"), _id_of(message)
        if method is None:
            asked = self._unanswered.pop((connection, not to_server, name or ""), None)
            return ("", None) if asked is None else (asked[0], (now - asked[1]) * 1000)
        method = self._mask(method, LONGEST_KEY) if isinstance(method, str) else ""
        if name is not None:
            self._unanswered[connection, to_server, name] = method, now
            if len(self._unanswered) > MOST_UNANSWERED:
                del self._unanswered[next(iter(self._unanswered))]
        return method, None

    def _keep(self, message: Message, to_server: bool, method: str, milliseconds: float | None) -> None:
        copying = _Copying(self._mask)
        text = json.dumps(copying.copy(message), ensure_ascii=False, separators=(",", ":"))
        name = _id_of(message)
        kept = RecordedMessage(
            number=self._next,
            time=moment(self._clock.now()),
            to_server=to_server,
            kind=_kind_of(message),
            method=method,
            id=None if name is None else self._mask(name, _LONGEST_ID),
            milliseconds=milliseconds,
            size=_size_of(message),
            text=text.encode("utf-8", "replace").decode(),  # a lone surrogate cannot be sent to a page
            cut=copying.cut,
        )
        self._next += 1
        self.messages.append(kept)
        self._characters += len(kept.text)
        while len(self.messages) > MOST_MESSAGES or self._characters > MOST_CHARACTERS:
            self._characters -= len(self.messages.popleft().text)


@dataclass(kw_only=True)
class Traffic:
    """The recordings of a host."""

    clock: Clock
    mask: Mask
    active: dict[str, Recording] = field(default_factory=dict)
    """Those that go on, by server; every connection looks here."""
    _kept: dict[str, Recording] = field(default_factory=dict)

    def record(self, server: str, on: bool) -> None:
        """Begin or end recording; what was recorded of this server stays."""
        if not on:
            self.active.pop(server, None)
            return
        # Others that have ended are forgotten, so that memory does not grow with the number of servers.
        self._kept = {name: kept for name, kept in self._kept.items() if name in (*self.active, server)}
        recording = self._kept.setdefault(server, Recording(server, self.clock, self.mask, self.active))
        recording.until = self.clock.monotonic() + UNSEEN
        self.active[server] = recording

    def look(self, server: str) -> Recording | None:
        """What is recorded of a server; a recording that goes on is then renewed."""
        recording = self.active.get(server)
        if recording is not None:
            now = self.clock.monotonic()
            if now > recording.until:
                del self.active[server]
            else:
                recording.until = now + UNSEEN
        return self._kept.get(server)

    def forget(self, server: str) -> None:
        """End recording a server, and drop what is kept."""
        self.active.pop(server, None)
        self._kept.pop(server, None)


class _Copying:
    """Makes the masked copy of one message, of limited length."""

    def __init__(self, mask: Mask) -> None:
        self.cut = False
        self._mask = mask
        self._left = LONGEST_MESSAGE

    def copy(self, value: Any, depth: int = 0, *, secret: bool = False, schema: bool = False) -> Any:
        """`secret`: it belongs to a key that holds secrets; `schema`: its keys are names of arguments."""
        self._left -= _VALUE_COST
        if value is None or isinstance(value, bool) or value == "":
            return value
        if isinstance(value, Mapping):
            return self._mapping(value, depth, secret, schema)
        if isinstance(value, list | tuple):
            return self._items(value, depth, secret, schema)
        if secret:
            return MASK
        if isinstance(value, str):
            return self._embedded(value, depth) or self._text(value)
        if isinstance(value, int):
            return self._integer(value)
        if isinstance(value, float):
            return value if math.isfinite(value) else None
        return f"… a {type(value).__name__}"

    def _embedded(self, text: str, depth: int) -> str:
        """A text that is JSON, as results of tools often are, if there is something to mask in it."""
        before = self._left
        if len(text) > before or text.lstrip()[:1] not in ("{", "["):
            return ""
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            return ""
        copied = self.copy(value, depth + 1)
        if copied != value:
            return json.dumps(copied, ensure_ascii=False)
        self._left = before
        return ""

    def _text(self, text: str) -> str:
        most = max(self._left, 0)
        self.cut = self.cut or len(text) > most
        self._left -= min(len(text), most)
        return self._mask(text, most)

    def _integer(self, value: int) -> Any:
        if value.bit_length() > _LONGEST_INTEGER:
            self.cut = True
            return f"… an integer of {value.bit_length():,} bits"
        written = str(value)
        return value if self._mask(written, len(written)) == written else MASK

    def _items(self, values: Sequence[Any], depth: int, secret: bool, schema: bool) -> list[Any]:
        copied: list[Any] = []
        for value in values:
            if self._is_full(depth):
                return [*copied, f"… {len(values) - len(copied)} more"]
            copied.append(self.copy(value, depth + 1, secret=secret, schema=schema))
        return copied

    def _mapping(self, values: Mapping[Any, Any], depth: int, secret: bool, schema: bool) -> dict[str, Any]:
        copied: dict[str, Any] = {}
        for done, (key, value) in enumerate(values.items()):
            if self._is_full(depth):
                return {**copied, "…": f"{len(values) - done} more"}
            name = key if isinstance(key, str) else type(key).__name__
            hides = secret or (not schema and name not in _OF_PROTOCOL and is_secret_key(name))
            shown = self._mask(name, LONGEST_KEY)
            self._left -= len(shown)
            copied[shown] = self.copy(value, depth + 1, secret=hides, schema=schema or name in _SCHEMAS)
        return copied

    def _is_full(self, depth: int) -> bool:
        full = self._left <= 0 or depth >= _DEEPEST
        self.cut = self.cut or full
        return full


def _kind_of(message: Message) -> Kind:
    if "method" in message:
        return "request" if "id" in message else "notification"
    return "error" if "error" in message else "result"


def _id_of(message: Message) -> str | None:
    """The id as JSON: `5` is not "5". None for none, and for one that the protocol does not allow."""
    name = message.get("id")
    if type(name) is int and name.bit_length() <= _LONGEST_INTEGER:
        return str(name)
    return json.dumps(name[:_LONGEST_ID], ensure_ascii=False) if isinstance(name, str) else None


def _size_of(message: Message) -> int:
    result = message.get("result")
    if isinstance(result, Measured):
        return result.wire_bytes
    about = weight(message, _MOST_WEIGHED)
    try:
        return about if about > HEAVY else len(encode(message))
    except UsageError:
        return about
