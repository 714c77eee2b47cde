"""Which characters count as hidden because they are invisible or change the order of text, which can disguise
it, and how they are shown.
"""

from __future__ import annotations

import re

HIDDEN = re.compile(
    r"[\x00-\x1f\x7f-\x9f\xad\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    r"\ufeff\uffa0\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e0fff]"
)


def shown(text: str) -> str:
    """The text with each such character as ⟨U+200B⟩; nothing is left out."""
    return HIDDEN.sub(lambda match: f"⟨U+{ord(match.group()):04X}⟩", text)
