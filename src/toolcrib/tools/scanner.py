"""Scans a definition for known ways to mislead a model: hidden characters, look-alike letters, base64, HTML
comments, long blank spaces, terminal codes. Applies the phrases of `suspicious_phrases.py` to every text.

Works offline on every text of the definition. A tool with findings is held until the user has reviewed it: an
honest text may look suspicious. A description may name its own parameters and its server's own tools.

First it undoes the ways in which a text can be written so that a model reads it and a pattern does not:
hidden characters, look-alike letters, full-width letters, HTML entities and letters with spaces between them.
"""

from __future__ import annotations

import base64
import binascii
import html
import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import starmap
from typing import Any

from toolcrib.tools.suspicious_phrases import KnownNames, orders, steering

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
_LETTERS = re.compile(r"[^\W\d_]{2,}")
_SPACED = re.compile(r"(?<!\w)(?:\w[ .\-_*]){4,}\w(?!\w)")
_BASE64 = re.compile(r"(?<![A-Za-z0-9+/=_-])[A-Za-z0-9+/_-]{24,}={0,2}")
_SENTENCE_BYTES = re.compile(rb"[\x20-\x7e\s]+")

MAX_TEXT = 200_000
_SHOWN = 80
_LONGEST_PART = 120
_MOST_REPEATED = 500
"""Characters; a longer text is hardly ever the same in two places."""
_NAME = (None, "name")
_TERMINAL = re.compile(r"[\x1b\x9b\x00-\x08\x0e-\x1f]")
_ENCODED = re.compile(r"(?<![A-Za-z0-9+/=])[A-Za-z0-9+/]{120,}={0,2}(?![A-Za-z0-9+/=])")
_WORD = re.compile(r"[A-Za-z0-9_$]{1,20}", re.ASCII)
"""Too short to say anything; most texts of a schema are such words."""
_TABLES, _LISTS, _NUMBERS = (dict, Mapping), (list, tuple), (int, float, bool, type(None))
_COMMENT = re.compile(
    r"<!--(?!\s*-->|\[endif\]|\[if !?\(?(?:[gl]te? )?(?:mso|ie)\b[^a-z\]]*\]).{0,400}",
    re.DOTALL | re.IGNORECASE,
)
"""Empty comments, and the conditions that mail programs read, are no hiding place."""
_SPACES = re.compile(r"\s{2,}")
_JOINTS = re.compile(r"_+|%20|\+")
_POINTER = re.compile(r"#(?:/[\w$.~%-]{0,60})+")
"""A reference within a schema."""
_BLANK = re.compile(r"(?<![ \t\u00a0\u3000])[ \t\u00a0\u3000]{200,}\S")
_BLANK_LINES = re.compile(r"(?<!\s)(?:[^\S\n]*\n){40,}\S")
"""Only tried where a blank begins: else a long one would take the square of its length."""


def plain_text(text: str) -> str:
    """The text as a model reads it."""
    if text.isascii() and "&" not in text:
        return _joined(text)
    text = html.unescape(text)
    if HIDDEN.search(text):
        text = decoded(text)
    text = unicodedata.normalize("NFKC", text)
    return _joined(text if text.isascii() else _LETTERS.sub(_latin, text))


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


@dataclass(frozen=True)
class ScanFinding:
    """Something suspicious; only `what` is in our own words, and safe to be shown to a model."""

    what: str
    words: str = ""
    part: str = ""

    def __str__(self) -> str:
        return f"{self.part}: {self.what}: “{self.words}”." if self.words else f"{self.part}: {self.what}."


def scan(
    definition: Mapping[str, Any], *, own: Collection[str] = (), others: Collection[str] = ()
) -> list[str]:
    """Findings, one sentence each, naming the part of the definition; arguments as those of `find`."""
    return list(dict.fromkeys(map(str, find(definition, own=own, others=others))))


def find(
    definition: Mapping[str, Any], *, own: Collection[str] = (), others: Collection[str] = ()
) -> Iterator[ScanFinding]:
    """What is suspicious in a definition.

    `own` are the names of its server's tools, `others` those of all other servers; a frozenset is prepared
    once for all tools of a list.
    """
    known = KnownNames(definition, own, others)
    for path, text in _texts(definition):
        plain, lowered, found = _read(text) if len(text) <= _MOST_REPEATED else _read_once(text)
        if path != _NAME:
            found = (*found, *starmap(_quoting, steering(plain, lowered, known)))
        for finding in found:
            part = ".".join(_keys(path))[:_LONGEST_PART] or "definition"
            yield replace(finding, part=part)
    name = definition.get("name")
    if isinstance(name, str) and _mixes_scripts(name):
        yield ScanFinding("mixes letters of different scripts that look alike", revealed(name), "name")


def _read_once(text: str) -> tuple[str, str, tuple[ScanFinding, ...]]:
    """The text as a model reads it, the same in lower case with single spaces, and what is found in it."""
    text = text[:MAX_TEXT]
    plain = _SPACES.sub(_one_space, plain_text(text))
    lowered = " ".join(plain.lower().replace("i\u0307", "i").split())
    found = dict.fromkeys(orders(plain, lowered))
    words = plain if " " in plain else _JOINTS.sub(" ", plain)  # a name or an address may be a sentence
    if words != plain:
        found.update(dict.fromkeys(orders(words, words.lower())))
    return plain, lowered, (*starmap(_quoting, found), *_hidden(text))


_read = lru_cache(maxsize=2048)(_read_once)
"""Many parameters of a list have the same description."""


def _one_space(found: re.Match[str]) -> str:
    """One space for many: patterns that skip spaces would take the square of their number."""
    return "\n" if "\n" in found[0] else " "


def _quoting(what: str, words: str) -> ScanFinding:
    return ScanFinding(what, revealed(words))


def revealed(text: str) -> str:
    """The text as one short line, with invisible characters as code points."""
    cut = " ".join(text.split())[:_SHOWN]
    return "".join(
        f"\\u{{{ord(sign):x}}}" if HIDDEN.match(sign) or not sign.isprintable() else sign for sign in cut
    )


_Path = tuple[Any, str] | None


def _texts(definition: Mapping[str, Any]) -> Iterator[tuple[_Path, str]]:
    """Every text of a definition that is more than a word, with its path; suspicious keys are texts too."""
    waiting: list[tuple[_Path, Any]] = [(None, definition)]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, str):
            yield path, value
        elif isinstance(value, _TABLES):
            for key in value:
                if isinstance(key, str) and (key.count("_") > 2 or (not key.isidentifier() and _is_odd(key))):
                    yield (None, f"a key of {'.'.join(_keys(path)) or 'the definition'}"), key
            members = reversed(list(value.items()))
            waiting += [((path, str(key)), inner) for key, inner in members if _says_more(inner)]
        elif isinstance(value, _LISTS):
            waiting += [(path, inner) for inner in reversed(value) if _says_more(inner)]


def _says_more(value: Any) -> bool:
    """Whether it is neither a single word nor a number."""
    kind = type(value)
    return kind not in _NUMBERS and (kind is not str or _WORD.fullmatch(value) is None)


def _is_odd(key: str) -> bool:
    return " " in key or len(key) > _SHOWN or HIDDEN.search(key) is not None


def _keys(path: _Path) -> list[str]:
    keys: list[str] = []
    while path is not None:
        path, key = path
        keys.append(key)
    return keys[::-1]


def _hidden(text: str) -> Iterator[ScanFinding]:
    """What a person who reads the text would not see."""
    hidden = [] if text.isascii() else HIDDEN.findall(ORDINARY.sub("", text))
    if hidden:
        points = ", ".join(dict.fromkeys(f"U+{ord(sign):04X}" for sign in hidden[:5]))
        yield ScanFinding(f"contains {len(hidden)} invisible characters ({points})")
    if not text.isprintable() and _TERMINAL.search(text):
        yield ScanFinding("contains terminal control characters")
    comment = _COMMENT.search(text) if "<!--" in text else None
    if comment is not None:
        yield _quoting("contains a comment that a page would not show", comment.group())
    if (len(text) > 200 and _BLANK.search(text)) or (text.count("\n") >= 40 and _BLANK_LINES.search(text)):
        yield ScanFinding("continues after a long blank space")
    if not _POINTER.fullmatch(text) and _ENCODED.search(text):
        yield ScanFinding("contains a long encoded text")
    elif sentence := encoded_sentence(text):
        yield _quoting("contains an encoded text", sentence)


def _mixes_scripts(name: str) -> bool:
    if name.isascii():
        return False
    scripts = {
        unicodedata.name(letter, "?").split()[0]
        for letter in unicodedata.normalize("NFKC", name)
        if letter.isalpha()
    }
    return len(scripts & {"LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE"}) > 1
