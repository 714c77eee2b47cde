"""RPCs for the contents of the clipboard and its history: bytes on the wire, in one field for each type."""

from __future__ import annotations

from typing import Any

from toolcrib.bundled.desktop.backend import ClipboardContent
from toolcrib.bundled.desktop.clipboard_content import TYPES, URIS, HistoryEntry, paths_of, type_of
from toolcrib.bundled.desktop.grpc.failures import invalid
from toolcrib.bundled.desktop.grpc.schema import v1
from toolcrib.bundled.desktop.grpc.served import ServedDesktop, timestamp
from toolcrib.bundled.desktop.operations.clipboard import check_secret, keep_history
from toolcrib.serverkit.context import ToolFailure


class ClipboardMethods:
    def __init__(self, desktop: ServedDesktop) -> None:
        self._desktop = desktop
        self._history = desktop.session.part(keep_history)

    async def get_clipboard(self, request: Any) -> Any:
        _check(request.name, "clipboard")
        clipboard = (await self._desktop.backend()).clipboard
        found = await clipboard.read()
        if found is not None and URIS in found.available:
            found = await clipboard.read(URIS) or found  # files and links are offered as text, too
        if found is None:
            return v1.Clipboard(name="clipboard")
        check_secret(found)
        types = {_number(type_of(media_type, found.data)) for media_type in found.available}
        return v1.Clipboard(
            name="clipboard", content=content_message(found), available_types=sorted(types - {0})
        )

    async def get_clipboard_history(self, request: Any) -> Any:
        _check(request.name, "clipboard/history")
        await self._desktop.backend()
        return v1.ClipboardHistory(entries=[_entry(entry) for entry in self._history.entries])


offer_methods = ClipboardMethods


def content_message(found: ClipboardContent) -> Any:
    kind = type_of(found.media_type, found.data)
    made = v1.ClipboardContent(type=_number(kind))
    if kind == "files":
        made.files.paths.extend(paths_of(found.data))
    elif kind in ("rtf", "image"):
        setattr(made, kind, found.data)
    elif kind in TYPES:
        setattr(made, kind, found.text.strip() if kind == "url" else found.text)
    else:
        raise ToolFailure(f"The clipboard holds {found.media_type}, which cannot be sent.")
    return made


def _entry(entry: HistoryEntry) -> Any:
    """A content that was too large to keep is listed without it."""
    made = v1.ClipboardHistoryEntry(copied_time=timestamp(entry.copied))
    if entry.application is not None:
        made.source_application = f"applications/{entry.application}"
    if entry.content is not None and type_of(entry.media_type, entry.content.data) in TYPES:
        made.content.CopyFrom(content_message(entry.content))
    return made


def _number(kind: str) -> int:
    number: int = v1.ContentType.Value(f"CONTENT_TYPE_{kind.upper()}") if kind in TYPES else 0
    return number


def _check(name: str, only: str) -> None:
    if name != only:
        raise invalid("INVALID_RESOURCE_NAME", f"The name is {only}.", "name")
