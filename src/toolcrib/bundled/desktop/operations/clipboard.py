"""The tools for the clipboard."""

from __future__ import annotations

from typing import TypedDict

from toolcrib.bundled.desktop.backend import Backend, ClipboardContent
from toolcrib.bundled.desktop.clipboard_content import (
    HTML,
    PNG,
    TEXT,
    ContentArgument,
    decode_png,
    encode_text,
    is_secret,
    paths_of,
    to_formats,
    type_of,
)
from toolcrib.bundled.desktop.clipboard_history import ClipboardHistory, HistoryEntry
from toolcrib.bundled.desktop.failures import InvalidResourceName, MissingField, OutOfRange
from toolcrib.bundled.desktop.pages import paginate
from toolcrib.bundled.desktop.resources import application_name
from toolcrib.bundled.desktop.session import DesktopSession
from toolcrib.bundled.desktop.tools.offer import LOOKING, Offer, answer
from toolcrib.serverkit.context import ToolContext, ToolFailure
from toolcrib.serverkit.results import Image
from toolcrib.serverkit.server import ToolServer

PAGE = 20_000
"""Characters of one reply."""
HISTORY_PAGE = 10
PREVIEW = 200
"""Characters of an entry in a list."""
PICTURES = (PNG, "image/jpeg")
MAX_FORMATS = 12
"""Formats that are kept beside new ones."""


class ClipboardData(TypedDict):
    type: str | None
    media_type: str | None
    text: str | None
    files: list[str]
    size: int
    more: int
    available: list[str]


class ClipboardWritten(TypedDict):
    success: bool
    type: str
    size: int
    available: list[str]


class ClipboardCleared(TypedDict):
    success: bool


class HistoryContent(TypedDict):
    type: str
    text: str | None
    files: list[str]


class HistoryEntryData(TypedDict):
    entry: int
    copied_time: str
    content: HistoryContent
    source_application: str
    size: int
    more: int


class ClipboardHistoryData(TypedDict):
    entries: list[HistoryEntryData]
    more: int
    next_page_token: str


class ClipboardTools:
    def __init__(self, session: DesktopSession) -> None:
        self._session = session
        self._history = ClipboardHistory()

    async def get_clipboard(
        self,
        context: ToolContext,
        name: str = "clipboard",
        media_type: str | None = None,
        offset: int = 0,
    ) -> ClipboardData:
        if name != "clipboard":
            raise InvalidResourceName(f"There is no clipboard {name!r}.", "Its name is clipboard.")
        backend = await self._session.backend(context)
        found = await backend.clipboard.read(media_type)
        if found is None:
            empty: ClipboardData = {
                "type": None, "media_type": None, "text": None, "files": [], "size": 0, "more": 0,
                "available": [],
            }  # fmt: skip
            return answer(empty, "The clipboard is empty, or has no such format.")
        if is_secret(found):
            raise ToolFailure(
                "The clipboard holds a password, as the password manager has marked it, so it is not shown.",
                "It can be pasted into the program it is for.",
            )
        return shown(found, max(0, offset))

    async def write_clipboard(
        self,
        context: ToolContext,
        content: ContentArgument | None = None,
        text: str | None = None,
        html: str | None = None,
        image_base64: str | None = None,
        clear_existing: bool = True,
    ) -> ClipboardWritten:
        contents = to_formats(content) if content is not None else {}
        if text is not None:
            contents[TEXT] = encode_text(text)
        if html is not None:
            contents[HTML] = encode_text(html)
        if image_base64 is not None:
            contents[PNG] = decode_png(image_base64)
        if not contents:
            raise MissingField("Nothing to write was given.", "Give content, text, html or image_base64.")
        backend = await self._session.backend(context)
        kept = {} if clear_existing else await _present(backend)
        await backend.clipboard.write({**kept, **contents})
        first = next(iter(contents))
        size = sum(map(len, contents.values()))
        data: ClipboardWritten = {
            "success": True,
            "type": type_of(first, contents[first]),
            "size": size,
            "available": [*contents, *(each for each in kept if each not in contents)],
        }
        return answer(data, f"The clipboard has {size} new bytes: {', '.join(contents)}.")

    async def clear_clipboard(self, context: ToolContext) -> ClipboardCleared:
        backend = await self._session.backend(context)
        await backend.clipboard.write({})
        data: ClipboardCleared = {"success": True}
        return answer(data, "The clipboard is empty now.")

    async def get_clipboard_history(
        self,
        context: ToolContext,
        name: str = "clipboard/history",
        entry: int | None = None,
        page_size: int = 0,
        page_token: str = "",
    ) -> ClipboardHistoryData:
        if name != "clipboard/history":
            raise InvalidResourceName(f"There is no history {name!r}.", "Its name is clipboard/history.")
        await self._session.backend(context)  # the history starts with the first call
        entries = list(enumerate(self._history.entries))
        if entry is not None:
            return _whole(entries, entry)
        page = paginate(entries, page_size, page_token, "history", default=HISTORY_PAGE)
        data: ClipboardHistoryData = {
            "entries": [history_data(number, each, PREVIEW) for number, each in page.items],
            "more": page.more,
            "next_page_token": page.next_page_token,
        }
        lines = [_history_line(each) for each in data["entries"]]
        if page.more:
            lines.append(f"… {page.more} more; continue with page_token {page.next_page_token}.")
        return answer(
            data, "\n".join(lines or ["Nothing was copied since this server first used the desktop."])
        )

    def keep_history(self) -> None:
        """Only where the history can be read."""
        self._session.at_open(self._history.start)
        self._session.at_close(self._history.stop)


def offer_tools(server: ToolServer, session: DesktopSession, wanted: frozenset[str] | None) -> None:
    tools, offer = ClipboardTools(session), Offer(server, wanted)
    changing = {"destructive": True, "idempotent": True, "reach": "here", "limit": 90.0}
    offer(tools.get_clipboard, "Read the clipboard", **LOOKING)
    offer(tools.write_clipboard, "Write the clipboard", **changing)
    offer(tools.clear_clipboard, "Clear the clipboard", **changing)
    offer(tools.get_clipboard_history, "Read the clipboard's history", **LOOKING)
    if wanted is None or tools.get_clipboard_history.__name__ in wanted:
        tools.keep_history()


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


def shown(found: ClipboardContent, offset: int) -> ClipboardData:
    """A reply with the text from a place on, or the picture."""
    kind = type_of(found.media_type, found.data)
    is_text = found.media_type.startswith("text/")
    page = found.text[offset : offset + PAGE] if is_text else None
    more = max(0, len(found.text) - offset - len(page)) if page is not None else 0
    data: ClipboardData = {
        "type": kind,
        "media_type": found.media_type,
        "text": page,
        "files": paths_of(found.data) if kind == "files" else [],
        "size": len(found.data),
        "more": more,
        "available": list(found.available),
    }
    if page is not None:
        note = f"\n… {more} more characters; continue with offset {offset + len(page)}." if more else ""
        return answer(data, page + note)
    images = [Image(found.data, found.media_type)] if found.media_type in PICTURES else []
    return answer(data, f"{found.media_type}, {len(found.data)} bytes.", *images)


def history_data(number: int, entry: HistoryEntry, length: int) -> HistoryEntryData:
    """One entry, with at most `length` characters of its text."""
    content = entry.content
    is_text = content is not None and entry.media_type.startswith("text/")
    text = content.text[:length] if content is not None and is_text else None
    kind = type_of(entry.media_type, content.data if content is not None else b"")
    return {
        "entry": number,
        "copied_time": entry.copied.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "content": {
            "type": kind,
            "text": text,
            "files": paths_of(content.data) if content is not None and kind == "files" else [],
        },
        "source_application": "" if entry.application is None else application_name(entry.application),
        "size": entry.size,
        "more": len(content.text) - len(text) if content is not None and text is not None else 0,
    }


def _whole(entries: list[tuple[int, HistoryEntry]], number: int) -> ClipboardHistoryData:
    """One entry in full, with its picture."""
    found = next((each for place, each in entries if place == number), None)
    if found is None:
        raise OutOfRange(f"The history has no entry {number}.", "Entry 0 is the newest.")
    shown_entry = history_data(number, found, PAGE)
    data: ClipboardHistoryData = {"entries": [shown_entry], "more": 0, "next_page_token": ""}
    picture = found.content is not None and found.media_type in PICTURES
    images = [Image(found.content.data, found.media_type)] if found.content and picture else []
    return answer(data, shown_entry["content"]["text"] or _history_line(shown_entry), *images)


def _history_line(entry: HistoryEntryData) -> str:
    content = entry["content"]
    text = content["text"]
    what = repr(text[:PREVIEW]) if text is not None else f"{entry['size']} bytes"
    rest = f" and {entry['more']} more characters" if entry["more"] else ""
    return f"{entry['entry']} {entry['copied_time']} {content['type']} {what}{rest}"
