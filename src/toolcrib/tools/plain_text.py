"""Undoes the ways in which a text can be written so that a model reads it and a pattern does not.

Hidden characters, look-alike letters, full-width letters, HTML entities and letters with spaces between them.
"""

from __future__ import annotations

import base64
import binascii
import html
import re
import unicodedata

HIDDEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_VISIBLE = (
    "[^\x00-\x7f\u00ad\u034f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0e\ufeff\U000e0000-\U000e0fff]"
)
ORDINARY = re.compile(
    f"(?<={_VISIBLE})[\u200c\u200d\ufe0f](?={_VISIBLE})"  # joins emoji, and letters of many scripts
    "|(?<=[\u203c-\u3299\U0001f000-\U0001faff#*0-9])[\ufe0e\ufe0f](?![\ufe00-\ufe0f])"  # shown as emoji
    "|(?<=[\u1800-\u18af])[\u180b-\u180e]|(?<=[\u3400-\u9fff])[\ufe00-\ufe02]"
    "|(?<=[\u0590-\u08ff])[\u200e\u200f]|[\u200e\u200f](?=[\u0590-\u08ff])"
    "|(?<=\U0001f3f4)[\U000e0061-\U000e007a]{2,6}\U000e007f"  # flags of regions
)
_LATIN = str.maketrans(
    "авеѕіјкмнорсԛтухһԁԍյոսѵѡαβεηικνορτυχωγАВЕЅІЈКМНОРСТУХΑΒΕΖΗΙΚΜΝΟΡΤΥΧᎥᎪᏴᏟᎬᎻᏞᎷᏢᎡᏚᎢ",
    "abesijkmhopcqtyxhdgjnuvwabenikvoptuxwyABESIJKMHOPCTYXABEZHIKMNOPTYXiABCEHLMPRST",
)
"""Letters of other scripts and the Latin ones that they look like."""
_WORD = re.compile(r"[^\W\d_]{2,}")
_SPACED = re.compile(r"(?<!\w)(?:\w[ .\-_*]){4,}\w(?!\w)")
_BASE64 = re.compile(r"(?<![A-Za-z0-9+/=_-])[A-Za-z0-9+/_-]{24,}={0,2}")
_SENTENCE_BYTES = re.compile(rb"[\x20-\x7e\s]+")


def plain_text(text: str) -> str:
    """The text as a model reads it."""
    if text.isascii() and "&" not in text:
        return _joined(text)
    text = html.unescape(text)
    if HIDDEN.search(text):
        text = decoded(text)
    text = unicodedata.normalize("NFKC", text)
    return _joined(text if text.isascii() else _WORD.sub(_latin, text))


def decoded(text: str) -> str:
    """Tag characters, which only a model reads, as ASCII; other hidden characters are removed."""
    tags = "".join(chr(ord(sign) - 0xE0000) for sign in text if 0xE0020 <= ord(sign) <= 0xE007E)
    return f"{HIDDEN.sub('', text)}\n{tags}" if tags else HIDDEN.sub("", text)


def encoded_sentence(text: str) -> str:
    """The first sentence that is written in base64; empty if none is."""
    for match in _BASE64.finditer(text):
        found = _unpacked(match.group())
        if found:
            return found
    return ""


def _unpacked(token: str) -> str:
    try:
        content = base64.b64decode(token.rstrip("=") + "=" * (-len(token.rstrip("=")) % 4), altchars=b"-_")
    except (binascii.Error, ValueError):
        return ""
    if b" " not in content or _SENTENCE_BYTES.fullmatch(content) is None:
        return ""
    return content.decode("ascii")


def _latin(match: re.Match[str]) -> str:
    """A word that mixes Latin letters with others that look like them, in Latin letters."""
    word = match.group()
    if word.isascii() or not any(letter.isascii() for letter in word):
        return word
    return word.translate(_LATIN)


def _joined(text: str) -> str:
    """`i g n o r e` as `ignore`."""
    return _SPACED.sub(lambda match: re.sub(r"[ .\-_*]", "", match.group()), text)
