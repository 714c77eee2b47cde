"""The text of a tool's result as a model is shown it: the `<tool_result>` marks, and the note where it is
cut; also the text of an interrupted call.

Written and read here, so that users are shown the result without marks and notes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

INTERRUPTED = "This call was interrupted before it answered. It may or may not have had an effect."
_WHOLE_MARK = re.compile(r"<tool_result[^>]*>\n|\n</tool_result>")
_MARK = re.compile(r"<(/?)tool_result", re.IGNORECASE)
_CUT = re.compile(r'\n\(Cut: [\d,]+ of ([\d,]+) characters are shown\..*"name": "(\w+)".*\)\Z')


@dataclass(frozen=True, kw_only=True)
class CutResult:
    """A result of which the model was shown the beginning."""

    length: int
    name: str
    """The name under which all of it is stored."""
    note: str
    """The note that the model was shown at its end."""


def marked(tool: str, text: str, outcome: str = "") -> str:
    """Text from outside between marks that say so, and that it cannot close."""
    inside = _MARK.sub(r"<\1tool-result", text)
    how = f' outcome="{outcome}"' if outcome else ""
    return f'<tool_result tool="{tool}"{how}>\n{inside}\n</tool_result>'


def plain(text: str) -> str:
    """The text without the marks."""
    return _WHOLE_MARK.sub("", text)


def cut_note(shown: int, length: int, *, kept: int, name: str, read_tool: str) -> str:
    """The note at the end of a result of which `shown` characters are shown, and `kept` are stored."""
    stored = f" The first {kept:,} are kept." if kept < length else ""
    return (
        f"\n(Cut: {shown:,} of {length:,} characters are shown.{stored}"
        f' Read on with {read_tool} and {{"name": "{name}", "offset": {shown}}}.)'
    )


def read_result(parts: Sequence[Mapping[str, Any]]) -> tuple[str, CutResult | None]:
    """The text of a stored result without marks, and where it was cut."""
    text = "\n".join(part["text"] for part in parts if part["type"] == "text")
    cut = _CUT.search(text)
    if cut is None:
        return plain(text), None
    length = int(cut[1].replace(",", ""))
    return plain(text[: cut.start()]), CutResult(length=length, name=cut[2], note=cut[0])
