"""Tools for the clipboard: read, write, clear, and what was copied before. Decides the length of one reply,
entries in the history list, and the refusal to show passwords."""

from __future__ import annotations

from dataclasses import dataclass

from toolcrib.bundled.desktop.backend import Backend, ClipboardContent
from toolcrib.bundled.desktop.clipboard_content import (
    HTML,
    PNG,
    TEXT,
    ClipboardHistory,
    ContentArgument,
    HistoryEntry,
    decode_png,
    encode_text,
    is_secret,
    paths_of,
    to_formats,
    type_of,
)
from toolcrib.bundled.desktop.failures import InvalidResourceName, MissingField, OutOfRange
from toolcrib.bundled.desktop.operations.table import (
    LOOKING,
    Desktop,
    OperationTraits,
    Reply,
    more_line,
    operation,
)
from toolcrib.bundled.desktop.resources import application_name, timestamp
from toolcrib.bundled.desktop.session import DesktopSession
from toolcrib.serverkit.context import ToolFailure
from toolcrib.serverkit.results import Image

PAGE = 20_000
"""Characters of one reply."""
HISTORY_PAGE = 10
PREVIEW = 200
"""Characters of an entry in a list."""
PICTURES = (PNG, "image/jpeg")
MAX_FORMATS = 12
"""Formats that are kept beside new ones."""
CHANGING = OperationTraits(destructive=True, idempotent=True, limit=90.0)


@dataclass(frozen=True)
class ClipboardRecord:
    """The content as text, for a model; gRPC sends the bytes, in one field for each type."""

    type: str | None
    media_type: str | None
    text: str | None
    files: list[str]
    size: int
    more: int
    available: list[str]


@dataclass(frozen=True)
class ClipboardWritten:
    success: bool
    type: str
    size: int
    available: list[str]


@dataclass(frozen=True)
class ClipboardCleared:
    success: bool


@dataclass(frozen=True)
class HistoryContent:
    type: str
    text: str | None
    files: list[str]


@dataclass(frozen=True)
class HistoryEntryRecord:
    entry: int
    copied_time: str
    content: HistoryContent
    source_application: str
    size: int
    more: int


@dataclass(frozen=True)
class HistoryList:
    entries: list[HistoryEntryRecord]
    more: int
    next_page_token: str


def keep_history(session: DesktopSession) -> ClipboardHistory:
    """Only where the history can be read."""
    history = ClipboardHistory()
    session.at_open(history.start)
    session.at_close(history.stop)
    return history


@operation("Read the clipboard", LOOKING)
async def get_clipboard(
    desktop: Desktop, name: str = "clipboard", media_type: str | None = None, offset: int = 0
) -> Reply[ClipboardRecord]:
    if name != "clipboard":
        raise InvalidResourceName(f"There is no clipboard {name!r}.", "Its name is clipboard.")
    found = await (await desktop.backend()).clipboard.read(media_type)
    if found is None:
        empty = ClipboardRecord(None, None, None, [], 0, 0, [])
        return Reply(empty, "The clipboard is empty, or has no such format.")
    check_secret(found)
    return _shown(found, max(0, offset))


@operation("Write the clipboard", CHANGING)
async def write_clipboard(
    desktop: Desktop,
    content: ContentArgument | None = None,
    text: str | None = None,
    html: str | None = None,
    image_base64: str | None = None,
    clear_existing: bool = True,
) -> Reply[ClipboardWritten]:
    contents = to_formats(content) if content is not None else {}
    if text is not None:
        contents[TEXT] = encode_text(text)
    if html is not None:
        contents[HTML] = encode_text(html)
    if image_base64 is not None:
        contents[PNG] = decode_png(image_base64)
    if not contents:
        raise MissingField("Nothing to write was given.", "Give content, text, html or image_base64.")
    backend = await desktop.backend()
    kept = {} if clear_existing else await _present(backend)
    await backend.clipboard.write({**kept, **contents})
    first = next(iter(contents))
    size = sum(map(len, contents.values()))
    data = ClipboardWritten(
        success=True,
        type=type_of(first, contents[first]),
        size=size,
        available=[*contents, *(media_type for media_type in kept if media_type not in contents)],
    )
    return Reply(data, f"The clipboard has {size} new bytes: {', '.join(contents)}.")


@operation("Clear the clipboard", CHANGING)
async def clear_clipboard(desktop: Desktop) -> Reply[ClipboardCleared]:
    await (await desktop.backend()).clipboard.write({})
    return Reply(ClipboardCleared(True), "The clipboard is empty now.")


@operation("Read the clipboard's history", LOOKING, prepare=lambda session: session.part(keep_history))
async def get_clipboard_history(
    desktop: Desktop,
    name: str = "clipboard/history",
    entry: int | None = None,
    page_size: int = 0,
    page_token: str = "",
) -> Reply[HistoryList]:
    if name != "clipboard/history":
        raise InvalidResourceName(f"There is no history {name!r}.", "Its name is clipboard/history.")
    await desktop.backend()  # the history starts with the first call
    entries = list(enumerate(desktop.session.part(keep_history).entries))
    if entry is not None:
        return _whole(entries, entry)
    page = desktop.page(entries, page_size, page_token, "history", default=HISTORY_PAGE)
    shown = [_entry_record(number, copied, PREVIEW) for number, copied in page.items]
    lines = [*map(_history_line, shown), *more_line(page)]
    text = "\n".join(lines or ["Nothing was copied since this server first used the desktop."])
    return Reply(HistoryList(shown, page.more, page.next_page_token), text)


def check_secret(found: ClipboardContent) -> None:
    if is_secret(found):
        raise ToolFailure(
            "The clipboard holds a password, as the password manager has marked it, so it is not shown.",
            "It can be pasted into the program it is for.",
        )


async def _present(backend: Backend) -> dict[str, bytes]:
    """What the clipboard holds now, by format."""
    first = await backend.clipboard.read()
    if first is None:
        return {}
    found = {first.media_type: first.data}
    for media_type in first.available[:MAX_FORMATS]:
        content = None if media_type in found else await backend.clipboard.read(media_type)
        if content is not None:
            found[content.media_type] = content.data
    return found


def _shown(found: ClipboardContent, offset: int) -> Reply[ClipboardRecord]:
    """The text from a place on, or the picture."""
    kind = type_of(found.media_type, found.data)
    is_text = found.media_type.startswith("text/")
    page = found.text[offset : offset + PAGE] if is_text else None
    more = max(0, len(found.text) - offset - len(page)) if page is not None else 0
    data = ClipboardRecord(
        type=kind,
        media_type=found.media_type,
        text=page,
        files=paths_of(found.data) if kind == "files" else [],
        size=len(found.data),
        more=more,
        available=list(found.available),
    )
    if page is not None:
        note = f"\n… {more} more characters; continue with offset {offset + len(page)}." if more else ""
        return Reply(data, page + note)
    images = [Image(found.data, found.media_type)] if found.media_type in PICTURES else []
    return Reply(data, f"{found.media_type}, {len(found.data)} bytes.", images)


def _entry_record(number: int, entry: HistoryEntry, length: int) -> HistoryEntryRecord:
    """One entry, with at most `length` characters of its text."""
    content = entry.content
    is_text = content is not None and entry.media_type.startswith("text/")
    text = content.text[:length] if content is not None and is_text else None
    kind = type_of(entry.media_type, content.data if content is not None else b"")
    files = paths_of(content.data) if content is not None and kind == "files" else []
    return HistoryEntryRecord(
        entry=number,
        copied_time=timestamp(entry.copied.timestamp()),
        content=HistoryContent(kind, text, files),
        source_application="" if entry.application is None else application_name(entry.application),
        size=entry.size,
        more=len(content.text) - len(text) if content is not None and text is not None else 0,
    )


def _whole(entries: list[tuple[int, HistoryEntry]], number: int) -> Reply[HistoryList]:
    """One entry in full, with its picture."""
    found = next((entry for place, entry in entries if place == number), None)
    if found is None:
        raise OutOfRange(f"The history has no entry {number}.", "Entry 0 is the newest.")
    shown = _entry_record(number, found, PAGE)
    picture = found.content is not None and found.media_type in PICTURES
    images = [Image(found.content.data, found.media_type)] if found.content and picture else []
    return Reply(HistoryList([shown], 0, ""), shown.content.text or _history_line(shown), images)


def _history_line(entry: HistoryEntryRecord) -> str:
    text = entry.content.text
    what = repr(text[:PREVIEW]) if text is not None else f"{entry.size} bytes"
    rest = f" and {entry.more} more characters" if entry.more else ""
    return f"{entry.entry} {entry.copied_time} {entry.content.type} {what}{rest}"
