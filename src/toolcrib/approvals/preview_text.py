"""What waits for approval, such as a mail, an event or an action in a window, as text for a terminal."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from toolcrib.config.hidden import HIDDEN

_LABELS = {
    "account": "Account",
    "sender": "From",
    "to": "To",
    "cc": "Cc",
    "bcc": "Bcc",
    "subject": "Subject",
    "title": "Event",
    "start": "Start",
    "end": "End",
    "where": "Where",
    "attendees": "Invites",
    "recurrence": "Repeats",
    "calendar": "Calendar",
    "channel": "Channel",
    "mentions": "Mentions",
    "attachments": "Attached",
    "application": "Application",
    "element": "Element",
}


def preview_text(preview: Mapping[str, Any]) -> str:
    """One line for each field, then the text itself; hidden characters are escaped."""
    return "\n".join(_lines(preview))


def _lines(preview: Mapping[str, Any]) -> Iterator[str]:
    labels = {**_LABELS, "title": "Window"} if preview.get("kind") == "screen" else _LABELS
    for key, label in labels.items():
        shown = _value(preview.get(key))
        if shown:
            yield f"{label}: {_revealed(shown)}"
    if preview.get("attendees") and isinstance(preview.get("notify"), bool):
        yield f"Notifies them: {'yes' if preview['notify'] else 'no'}"
    text = preview.get("text")
    if isinstance(text, str) and text:
        yield ""
        yield from (_revealed(line) for line in text.splitlines())


def _revealed(text: str) -> str:
    """One line: a line break within a field could imitate another field."""
    return HIDDEN.sub(lambda match: json.dumps(match.group())[1:-1], text)


def _value(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(filter(None, map(_value, value)))
    if isinstance(value, Mapping):
        return str(value.get("name", ""))
    return "" if value is None else str(value)
