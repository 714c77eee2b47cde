"""Text files that belong to a question: the marks around their text for the model, and how they are listed
for readers. Limits the length of their names.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from toolcrib.chats.wire import FileInfo

_LONGEST_NAME = 200
_MARK = re.compile(r"<(/?)attached_file", re.IGNORECASE)
_NOT_IN_NAMES = re.compile(r"[\x00-\x1f\x7f\u2028\u2029\u202a-\u202e\u2066-\u2069\"<>]")


def file_name(name: str) -> str:
    """A name without characters that could close a mark, hide a part or reorder the text; never empty."""
    plain = _NOT_IN_NAMES.sub("", name).strip()
    return plain[-_LONGEST_NAME:] or "file"


def attached_text(name: str, text: str) -> str:
    """Text of a file between marks that say so, and that it cannot close."""
    inside = _MARK.sub(r"<\1attached-file", text)
    return f'<attached_file name="{file_name(name)}">\n{inside}\n</attached_file>'


def attached_json(file: Mapping[str, Any]) -> FileInfo:
    """A stored file without its text."""
    text, shown = str(file["text"]), int(file["shown"])
    return {"key": str(file["key"]), "name": str(file["name"]), "chars": len(text), "shown": shown}
