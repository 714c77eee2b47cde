"""Removes characters that a reader does not see (control characters, zero-width, reordering) from text that
others wrote.

Such characters can hide instructions for a model, reorder text, or control a terminal. The zero-width joiners
stay where Arabic, Indic and emoji sequences need them, one at a time.
"""

from __future__ import annotations

import re

_ESCAPES = r"\x1b\][^\x07\x1b]{0,4096}(?:\x07|\x1b\\)|[\x1b\x9b]\[?[0-?]{0,64}[ -/]{0,16}[@-~]"
_CONTROLS = r"\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"
_FORMATS = (
    r"\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f"
)
_FILLERS = r"\u3164\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
_JOINED = r"\u0600-\u08ff\u0900-\u0dff\u1000-\u109f\u1780-\u17ff\ufe0f\U0001f000-\U0001faff\u2600-\u27bf"
_JOINERS = rf"(?<![{_JOINED}])[\u200c\u200d]+|[\u200c\u200d]{{2,}}|(?<=[\ufe0e\ufe0f])[\ufe0e\ufe0f]+"
_INVISIBLE = re.compile(rf"{_ESCAPES}|[{_CONTROLS}{_FORMATS}{_FILLERS}]|{_JOINERS}")
_BREAKS = re.compile(r"\r\n?|[\u0085\u2028\u2029]")


def visible(text: str) -> str:
    """The text without what cannot be seen; line breaks are `\\n`."""
    return _INVISIBLE.sub("", _BREAKS.sub("\n", text))


def one_line(text: str) -> str:
    """The same on one line."""
    return " ".join(visible(text).split())
