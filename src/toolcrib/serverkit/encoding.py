"""Reads and writes JSON on an event loop that others share, whatever a client, a server or a tool sends:
which size is handled in a thread, the maximum number of values, and digits of a number.

A number that JSON cannot hold (NaN, infinity) becomes null, half of a surrogate pair the replacement
character, and nesting goes as deep as Python's own encoder can follow. What is large is read and written in a
thread, in steps of a few milliseconds: a long call into a parser would stop the loop from there too.

Parses and writes one large JSON value in small steps, in a thread beside the event loop. A JSON parser in C
holds the GIL while it runs: 50 MB of short values take more than a second, even in a thread. Here no step
takes more than a few milliseconds, and other threads run in between.
"""

from __future__ import annotations

import asyncio
import codecs
import gc
import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from pydantic_core import from_json, to_json

from toolcrib.serverkit.protocol import INTERNAL_ERROR, Message, Refusal, refuse

SMALL = 32 * 1024
"""Data up to this size is always parsed at once: ten milliseconds if it is nothing but brackets."""
_MANY_BYTES = 1024 * 1024
_MANY_VALUES = 8_000
_SAMPLE = 33
"""Of every so many bytes one is looked at: three digits in a row are a number of some hundred digits."""
MAX_HANDED_ON = 100_000
"""Values in a request or a result: so many take some 25 milliseconds to check against a schema."""
HEAVY = 256 * 1024
"""The weight of a value from which it is written in a thread; about the characters of its JSON."""
VALUE_WEIGHT = 32
SCALARS = frozenset((bool, float, type(None)))
_CONTAINERS = (dict, list, tuple)
_PAIR = rb"\xed[\xa0-\xaf][\x80-\xbf]\xed[\xb0-\xbf][\x80-\xbf]"
_HALF = rb"\xed[\xa0-\xbf][\x80-\xbf]"
"""Surrogates in UTF-8, where they are not allowed. Compiled on first use."""


MAX_DIGITS = 100
"""Of a number in a large message: reading and writing a number takes the square of its length."""
_TOO_LONG = 10**MAX_DIGITS
WINDOW = 64 * 1024
"""Bytes parsed in one step: twenty milliseconds if they are nothing but brackets."""
STRING_STEP = 1024 * 1024
_FREED_AT_ONCE = 10_000
_MAX_DEPTH = 20
"""For values larger than a window; smaller ones may be nested as deeply as the parser allows."""
_FAILURES = 8
"""Each value larger than a window costs a failed attempt; this many are allowed, plus four a window."""
_OBJECTS_TRIED = 4
_OF_NUMBERS = "0123456789+-.eE"
_DECODER = json.JSONDecoder()
_SPACE = re.compile(r"[ \t\r\n]*")
_CUTTABLE = re.compile(rb'[^\\"]{16}|[^\\](?=\\(?!u[dD][c-fC-F]))|\\u[dD][c-fC-F][0-9a-fA-F]{2}(?=\\)')
"""Ends where a string can be split: away from any escape, before one that is not a low surrogate, or after
one that is."""


_ESCAPED = re.compile(rb"\\.", re.DOTALL)


class Unencodable(ValueError):
    """The value cannot be written as JSON; the message says why."""


class Excessive(ValueError):
    """A message is valid and has more values, or longer numbers, than are accepted."""

    def __init__(self, reason: str, request_id: Any = None) -> None:
        super().__init__(reason)
        self.request_id = request_id


def is_large(data: bytes | bytearray) -> bool:
    """Whether parsing could hold the event loop for more than about ten milliseconds."""
    size = len(data)
    if size <= SMALL:
        return False
    if size > _MANY_BYTES or sum(map(data.count, (b",", b"[", b"{"))) > _MANY_VALUES:
        return True
    return re.search(rb"\d{3}", data[::_SAMPLE]) is not None


def weight(value: Any, most: int = HEAVY) -> int:
    """About the characters of a value as JSON, counted until there are more than `most`."""
    left = most
    pending: list[Any] = [(value,)]
    for many in pending:
        left -= len(many) * VALUE_WEIGHT
        if left < 0:
            break
        if isinstance(many, dict):
            try:
                left -= len("".join(many))
            except TypeError:  # a key that is no text
                left -= sum(len(str(key)) for key in many)
            many = many.values()
        for inner in many:
            kind = type(inner)
            if kind is str:
                left -= len(inner)
            elif kind is int:
                left -= inner.bit_length()  # a long number takes more time than its digits suggest
            elif kind is dict or kind is list or (kind not in SCALARS and isinstance(inner, _CONTAINERS)):
                pending.append(inner)
    return most - left


async def parse_any(data: bytes) -> Any:
    """The JSON value in a message of a client; raises `Excessive` or another `ValueError`."""
    if not is_large(data):
        return from_json(data)

    return await asyncio.to_thread(parse_large, data)


async def encode_any(value: Any) -> bytes:
    """Like `encode`; a large value is encoded in a thread."""
    if weight(value) <= HEAVY:
        return encode(value)

    return await asyncio.to_thread(encode_large, value)


async def encode_heavy_message(message: Message | list[Message]) -> bytes:
    """Like `encode_message`, in a thread and in short steps."""

    return await asyncio.to_thread(encode_message, message, encode_large)


def encode(value: Any) -> bytes:
    """The value as JSON in UTF-8, values of unknown types as their text; raises `Unencodable`."""
    try:
        return to_json(value, inf_nan_mode="null", fallback=str)
    except ValueError:  # half of a surrogate pair, or nested deeper than this encoder goes
        return _encode_slowly(value)


def encode_message(message: Message | list[Message], write: Callable[[Any], bytes] = encode) -> bytes:
    """A message, or a batch of them, as JSON. One that cannot be written becomes an error with its id."""
    try:
        return write(message)
    except Unencodable as error:
        if isinstance(message, list):
            return b"[%b]" % b",".join(encode_message(member, write) for member in message)
        refusal = Refusal(INTERNAL_ERROR, f"The result cannot be written as JSON: {error}.")
        return encode(refuse(message.get("id"), refusal))


def _encode_slowly(value: Any) -> bytes:
    try:
        text = _dumps(value)
    except RecursionError:
        raise Unencodable("it is nested too deeply") from None
    except (TypeError, ValueError) as error:
        raise Unencodable(str(error)) from None
    return _without_surrogates(text.encode("utf-8", "surrogatepass"))


def _dumps(value: Any) -> str:
    try:
        return json.dumps(value, default=str, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except ValueError:  # NaN, or a circle
        finite = json.loads(json.dumps(value, default=str), parse_constant=lambda name: None)
        return json.dumps(finite, ensure_ascii=False, separators=(",", ":"))


def _without_surrogates(data: bytes) -> bytes:
    """Those that belong together become their character, others the replacement character."""
    return re.sub(_HALF, "\N{REPLACEMENT CHARACTER}".encode(), re.sub(_PAIR, _joined, data))


def _joined(pair: re.Match[bytes]) -> bytes:
    halves = pair[0].decode("utf-8", "surrogatepass")
    return halves.encode("utf-16", "surrogatepass").decode("utf-16").encode()


def read_large(data: bytes, start: int = 0) -> tuple[Any, int]:
    """The JSON value at `start` and its end; raises `ValueError`. `data` is UTF-8."""
    reader = _Reader(data, start)
    try:
        with _COLLECTOR.paused():
            value = reader.value(0)
    except (ValueError, RecursionError) as error:
        free(reader.unfinished)
        if isinstance(error, RecursionError):
            raise ValueError("the value is nested too deeply") from None
        raise
    return value, reader.position()


def parse_large(data: bytes) -> Any:
    """The value in a large message of a client; raises `Excessive` or another `ValueError`."""
    data = data.removeprefix(codecs.BOM_UTF8)
    value, end = read_large(data)
    reason = ""
    if data[end : end + WINDOW].strip():
        reason = "there is text after the message"
    elif has_more_values(value, MAX_HANDED_ON):
        reason = f"it has more than {MAX_HANDED_ON:,} values; send less at once, or as one text"
    elif (where := long_number(value)) is not None:
        reason = f"the number at {where} has more than {MAX_DIGITS} digits; send it as a text"
    if not reason:
        return value
    request_id = value.get("id") if isinstance(value, dict) else None
    free(value)
    raise Excessive(reason, request_id if isinstance(request_id, str | int) else None)


def long_number(value: Any) -> str | None:
    """Where the first number of too many digits is, as `params.rows[3]`; None if there is none."""
    members = value.items() if isinstance(value, dict) else enumerate(value) if type(value) is list else ()
    for key, one in members:
        kind = type(one)
        if kind is int:
            if -_TOO_LONG < one < _TOO_LONG:
                continue
            inner: str | None = ""
        else:
            inner = long_number(one) if kind in (dict, list) else None
        if inner is not None:
            step = f"[{key}]" if type(value) is list else str(key)[:100]
            return step + (f".{inner}" if inner and inner[0] != "[" else inner)
    return None


def has_more_values(value: Any, most: int) -> bool:
    """Whether a value consists of more than so many values, itself included."""
    left, pending = most - 1, [value]
    while pending and left >= 0:
        one = pending.pop()
        if not isinstance(one, dict | list):
            continue
        left -= len(one)
        if left >= 0:
            pending += one.values() if isinstance(one, dict) else one
    return left < 0


def free(value: Any) -> None:
    """Take a large value apart: freed at once, it would hold the GIL. Nothing else may use it."""
    pending = [value]
    while pending:
        one = pending.pop()
        while type(one) is list and one:
            pending += [inner for inner in one[-_FREED_AT_ONCE:] if type(inner) in (dict, list)]
            del one[-_FREED_AT_ONCE:]
        while isinstance(one, dict) and one:
            inner = one.popitem()[1]
            if type(inner) in (dict, list):
                pending.append(inner)


class _Collector:
    """Pauses the garbage collector, which would traverse millions of new values, none of them garbage."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pauses = 0

    @contextmanager
    def paused(self) -> Iterator[None]:
        self._count(1)
        try:
            yield
        finally:
            self._count(-1)

    def _count(self, change: int) -> None:
        with self._lock:
            self._pauses += change
            if self._pauses == change == 1:
                self._was_enabled = gc.isenabled()
                gc.disable()
            elif self._pauses == 0 and self._was_enabled:
                # Together these move new objects to the oldest generation without traversing them.
                gc.freeze()
                gc.unfreeze()
                gc.enable()


_COLLECTOR = _Collector()


class _Reader:
    """A text window that moves over the bytes."""

    def __init__(self, data: bytes, start: int) -> None:
        self._data = data
        self._start = start
        self._text = ""
        self._at = 0
        self._is_last = False
        self.unfinished: list[Any] = []
        """The containers that are larger than a window."""
        self._failures_left = _FAILURES + 4 * (len(data) - start) // WINDOW
        self._fill()

    def position(self) -> int:
        read = self._text[: self._at]
        return self._start + (len(read) if read.isascii() else len(read.encode()))

    def value(self, depth: int) -> Any:
        self._skip_space()
        found, value = self._scanned()
        if found:
            return value
        tried = len(self._text) - self._at
        self._fill()
        if tried < WINDOW * 3 // 4:
            found, value = self._scanned()
        return value if found else self._larger_than_window(depth)

    def _scanned(self) -> tuple[bool, Any]:
        """A value that ends within the window."""
        try:
            value, end = _DECODER.raw_decode(self._text, self._at)
        except ValueError:
            return False, None
        if end + len("e+") >= len(self._text) and not self._is_last:
            return False, None  # possibly half of a number
        self._at = end
        return True, value

    def _larger_than_window(self, depth: int) -> Any:
        self._failures_left -= 1
        if self._failures_left < 0 or depth >= _MAX_DEPTH:
            raise ValueError("large values are nested too deeply")
        opening = self._text[:1]
        if opening == '"':
            return self._long_string()
        if opening == "[":
            items: list[Any] = []
            self.unfinished.append(items)
            self._members(depth, "[]", items.extend, lambda: items.append(self.value(depth + 1)))
            return items
        if opening == "{":
            members: dict[str, Any] = {}
            self.unfinished.append(members)
            self._members(depth, "{}", members.update, lambda: self._member(members, depth))
            return members
        if len(self._text) - len(self._text.lstrip(_OF_NUMBERS)) > MAX_DIGITS:
            raise ValueError("a number is too long")
        raise ValueError("no JSON value")

    def _members(
        self, depth: int, brackets: str, take_many: Callable[[Any], None], take_one: Callable[[], None]
    ) -> None:
        opening, closing = brackets[0], brackets[1]
        self._at += 1
        if self._took(closing):
            return
        flat = True
        while True:
            if flat and self._at < len(self._text) // 2:
                flat = self._took_many(opening, closing, take_many)
            take_one()
            if self._took(closing):
                return
            if not self._took(","):
                raise ValueError("no comma between two values")

    def _member(self, members: dict[str, Any], depth: int) -> None:
        name = self.value(depth + 1)
        if not isinstance(name, str) or not self._took(":"):
            raise ValueError("no name before a value")
        members[name] = self.value(depth + 1)

    def _took_many(self, opening: str, closing: str, take: Callable[[Any], None]) -> bool:
        """Parse all members up to one of the window's last commas at once, if it separates two members."""
        for cut in self._likely_ends():
            try:
                members = from_json(f"{opening}{self._text[self._at : cut]}{closing}")
            except ValueError:
                continue
            take(members)
            self._at = cut + 1
            return True
        return False

    def _likely_ends(self) -> Iterator[int]:
        """The last comma, which is right for plain values; then those after the last few objects."""
        last = self._text.rfind(",", self._at)
        if last > 0:
            yield last
        behind = len(self._text)
        for _ in range(_OBJECTS_TRIED):
            behind = self._text.rfind("},", self._at, behind)
            if behind < 0:
                return
            yield behind + 1

    def _took(self, character: str) -> bool:
        self._skip_space()
        if not self._text.startswith(character, self._at):
            return False
        self._at += 1
        return True

    def _skip_space(self) -> None:
        while True:
            self._at = _SPACE.match(self._text, self._at).end()  # type: ignore[union-attr]  # matches nothing too
            if self._at < len(self._text) or self._is_last:
                return
            self._fill()

    def _fill(self) -> None:
        """Move the window to the current position."""
        self._start, self._at = self.position(), 0
        end = self._start + WINDOW
        self._is_last = end >= len(self._data)
        self._text, _ = codecs.utf_8_decode(self._data[self._start : end], "strict", self._is_last)

    def _long_string(self) -> str:
        end = _end_of_string(self._data, self._start)
        parts: list[str] = []
        start = self._start + 1
        while end - start > STRING_STEP:
            cut = _safe_cut(self._data, start, start + STRING_STEP)
            if cut is None:
                break
            parts.append(_string(self._data[start:cut]))
            start = cut
        parts.append(_string(self._data[start:end]))
        self._start, self._text, self._at = end + 1, "", 0
        self._fill()
        return "".join(parts)


def _end_of_string(data: bytes, start: int) -> int:
    """The position of the closing quote: the first that is not escaped."""
    at = start + 1
    while at < len(data):
        piece = data[at : at + WINDOW]
        plain = _ESCAPED.sub(b"..", piece)
        end = plain.find(b'"')
        if end >= 0:
            return at + end
        at += len(piece) - (plain.endswith(b"\\") and len(piece) > 1)  # an escape may be cut
    raise ValueError("a string does not end")


def _safe_cut(data: bytes, start: int, near: int) -> int | None:
    """A position shortly before `near`, outside any escape or multi-byte character."""
    run = _CUTTABLE.search(data, max(start, near - 4096), near)
    if run is None:
        backslashes = near - start - len(data[start:near].rstrip(b"\\"))
        return near - backslashes % 2 if backslashes > 1 else None
    cut = run.end()
    while 0x80 <= data[cut] < 0xC0:
        cut -= 1
    return cut if cut > start else None


def _string(body: bytes) -> str:
    quoted = b'"%b"' % body
    try:
        value = from_json(quoted)
    except ValueError:  # half of a surrogate pair
        value = json.loads(quoted)
    if not isinstance(value, str):
        raise ValueError("no string")
    return value


_PIECE = 32 * 1024
"""The weight of what is written in one step."""
Encode = Callable[[Any], bytes]


def encode_large(value: Any, encode: Encode = encode, end: bytes = b"") -> bytes:
    """The value as JSON, in short steps that let other threads run; `encode` writes each small part."""
    try:
        return b"".join((*_pieces(value, encode), end))
    except RecursionError:
        raise Unencodable("it is nested too deeply") from None


def _pieces(value: Any, encode: Encode) -> Iterator[bytes]:
    if weight(value, _PIECE) <= _PIECE or not isinstance(value, str | dict | list | tuple):
        yield encode(value)
        return
    if isinstance(value, str):
        yield from _pieces_of_text(value, encode)
        return
    before, end = (b"{", b"}") if isinstance(value, dict) else (b"[", b"]")
    for group in _groups(value):
        yield before
        before = b","
        if len(group) > 1:
            yield encode(group)[1:-1]
        elif isinstance(group, dict):
            ((key, one),) = group.items()
            yield from _pieces(str(key), encode)
            yield b":"
            yield from _pieces(one, encode)
        else:
            yield from _pieces(group[0], encode)
    yield end


def _pieces_of_text(text: str, encode: Encode) -> Iterator[bytes]:
    yield b'"'
    start = 0
    while start < len(text):
        end = start + _PIECE
        end += "\ud800" <= text[end - 1 : end] <= "\udbff"  # the other half of its pair may follow
        yield encode(text[start:end])[1:-1]
        start = end
    yield b'"'


def _groups(value: dict[Any, Any] | list[Any] | tuple[Any, ...]) -> Iterator[dict[Any, Any] | list[Any]]:
    """The members of a container, as many together as one step takes."""
    make: Any = dict if isinstance(value, dict) else list
    group: list[Any] = []
    left = _PIECE
    for member in value.items() if isinstance(value, dict) else value:
        size = weight(member, _PIECE)
        if group and size > left:
            yield make(group)
            group, left = [], _PIECE
        group.append(member)
        left -= size
    yield make(group)
