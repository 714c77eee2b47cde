"""Decodes the bytes of a page: the character set that the header says, else the document, else what fits; as
for garbled characters."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator

_DECLARED = re.compile(rb"""(?:charset|encoding)\s*=\s*["']?\s*([a-zA-Z0-9_.:-]{2,40})""", re.IGNORECASE)
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# As browsers read them: https://encoding.spec.whatwg.org/#names-and-labels
_AS_BROWSERS = {"iso8859-1": "cp1252", "ascii": "cp1252", "gb2312": "gb18030", "gbk": "gb18030"}
_HEAD = 4096
_SAMPLE = 65536
_TAG = re.compile(rb"<[^<>]{0,2000}>")
_NO_LETTER = re.compile(rb"[^A-Za-z\x80-\xff]")


def decode(content: bytes, charset: str = "") -> str:
    """The text; bytes that fit no candidate are replaced."""
    for mark, name in _MARKS:
        if content.startswith(mark):
            return content[len(mark) :].decode(name, "replace")
    for name in _candidates(content, charset):
        try:
            return content.decode(name)
        except UnicodeDecodeError:
            continue
    return _best_guess(content)


def _candidates(content: bytes, charset: str) -> Iterator[str]:
    declared = _DECLARED.search(content[:_HEAD])
    named = (charset, declared.group(1).decode("ascii") if declared else "")
    for name in map(_codec, named):
        # cp1252 accepts nearly any bytes and is the default of many servers, so UTF-8 is tried first.
        if name == "cp1252":
            yield "utf-8"
        if name:
            yield name
    yield "utf-8"


def _codec(name: str) -> str:
    try:
        known = codecs.lookup(name.strip())
    except (LookupError, ValueError):
        return ""
    if not known._is_text_encoding:
        return ""
    return _AS_BROWSERS.get(known.name, known.name)


def _best_guess(content: bytes) -> str:
    """Damaged UTF-8 if most characters beyond ASCII are valid; else what looks most like a language."""
    text = content.decode("utf-8", "replace")
    beyond = sum(character > "\x7f" for character in text[:_SAMPLE])
    if text[:_SAMPLE].count("\ufffd") * 2 < beyond:
        return text
    return content.decode(_likely_charset(content[:_SAMPLE]), "replace")


def _likely_charset(sample: bytes) -> str:
    """Western languages have few letters beyond ASCII; for the others the frequencies of letters decide."""
    letters = _NO_LETTER.sub(b"", _TAG.sub(b"", sample))
    if sum(letter > 0x7F for letter in letters) * 4 < len(letters):
        return "cp1252"
    from charset_normalizer import from_bytes

    found = from_bytes(_TAG.sub(b"", sample)).best()
    return found.encoding if found else "utf-8"
