"""Decodes what mail is made of: transfer encodings, character sets and header words, however damaged. Decides
which character set a wrong or missing label means, as for garbled umlauts or unreadable subjects."""

from __future__ import annotations

import binascii
import codecs
import quopri
import re
from email.errors import HeaderParseError
from email.header import decode_header

from toolcrib.serverkit.visible_text import one_line

_ALIASES = {
    "iso-8859-1": "cp1252",
    "iso8859-1": "cp1252",
    "latin1": "cp1252",
    "latin-1": "cp1252",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "ks_c_5601-1987": "cp949",
    "euc-kr": "cp949",
    "shift_jis": "cp932",
    "shift-jis": "cp932",
    "iso-8859-8-i": "iso-8859-8",
    "cp-850": "cp850",
}
"""What senders write, and the larger set that they mean."""
_SAY_LITTLE = frozenset({"", "us-ascii", "ascii", "unknown-8bit", "x-unknown", "utf-8", "utf8"})
"""Labels of text that is not UTF-8 from which its set cannot be known."""
_MARKS = {
    "iso-2022": b"\x1b",
    "iso2022": b"\x1b",
    "hz": b"~{",
    "utf-7": b"+",
    "utf-16": b"\0",
    "utf-32": b"\0",
}
"""What text of a set has that is hardly in UTF-8, although it may be valid UTF-8."""
_WORD = rb"(?<![A-Za-z\xc0-\xff])%s(?![A-Za-z\xc0-\xff])"
_FOREIGN_WORD = re.compile(_WORD % rb"[\xc0-\xff]{2,}")
_ACCENTED_WORD = re.compile(_WORD % rb"(?=[\xc0-\xff]*[A-Za-z])(?=[A-Za-z]*[\xc0-\xff])[A-Za-z\xc0-\xff]+")
_JAPANESE = re.compile(rb"\x1b\$[@B]")
_META = re.compile(rb"<meta[^>]{1,200}?charset=[\"']?([\w-]+)", re.IGNORECASE)
_ENCODED_WORD = re.compile(r"=\?[^?\s]+\?[bBqQ]\?[^?]*\?=")


def decode_text(data: bytes, charset: str = "") -> str:
    """Text of any character set, never an error.

    Valid UTF-8 is read as UTF-8 whatever the label says: wrong labels are common, Gmail makes text UTF-8
    without changing the label, and text of another set is hardly ever valid UTF-8.
    """
    name = charset.strip().strip("'\"").lower()
    if name in _SAY_LITTLE and _JAPANESE.search(data):
        name = "iso2022_jp_2"
    marked = any(name.startswith(prefix) and mark in data for prefix, mark in _MARKS.items())
    text = (_strict(data, name) if marked else None) or _utf8(data)
    if text is not None:
        return text
    if name in _SAY_LITTLE:
        name = _guessed_set(data)
    try:
        return data.decode(_codec(name), "replace")
    except (LookupError, UnicodeError, ValueError):
        return data.decode("cp1252", "replace")


def _strict(data: bytes, name: str) -> str | None:
    try:
        return data.decode(_codec(name))
    except (LookupError, UnicodeError, ValueError):
        return None


def _utf8(data: bytes) -> str | None:
    """Text with at most a few errors, such as a last character that is cut; None if it is another set."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("utf-8-sig", "replace")
    wrong = text.count("\ufffd")
    right = sum(not character.isascii() for character in text) - wrong
    return text if right > 2 * wrong else None


def _codec(name: str) -> str:
    codec = codecs.lookup(_ALIASES.get(name, name))
    if not getattr(codec, "_is_text_encoding", True):  # such as base64 and zip
        raise LookupError(name)
    return codec.name


def _guessed_set(data: bytes) -> str:
    """What HTML says, else Western European, or Cyrillic: its words have no ASCII letters, most are small."""
    if named := _META.search(data[:4000]):
        return named[1].decode()
    if len(_FOREIGN_WORD.findall(data)) <= len(_ACCENTED_WORD.findall(data)):
        return "cp1252"
    koi8, windows = (sum(low <= byte < low + 32 for byte in data) for low in (0xC0, 0xE0))
    return "koi8-r" if koi8 > windows else "cp1251"


def decode_8bit(raw: str) -> str:
    """A header without surrogates, which the parser makes of 8-bit characters and nothing can write again."""
    return decode_text(raw.encode("utf-8", "surrogateescape"))


def decode_words(raw: str) -> str:
    """A header's value as the user reads it, on one line."""
    text = decode_8bit(raw)
    if _ENCODED_WORD.search(text):
        text = _decode_encoded_words(text)
    return one_line(text)


def _decode_encoded_words(text: str) -> str:
    unfolded = re.sub(r"\r?\n[ \t]+", " ", text)
    if not unfolded.isascii():  # both kinds at once
        return _ENCODED_WORD.sub(lambda word: _decode_encoded_words(word[0]), unfolded)
    try:
        pieces = decode_header(unfolded)
    except (ValueError, HeaderParseError):
        return unfolded
    return "".join(
        piece if isinstance(piece, str) else decode_text(piece, charset or "ascii")
        for piece, charset in pieces
    )


class TransferDecoder:
    """Decodes a transfer encoding piece by piece, ignoring what does not belong."""

    def __init__(self, encoding: str) -> None:
        self._encoding = encoding.strip().lower()
        self._rest = b""

    def feed(self, data: bytes) -> bytes:
        """Decode as much as is complete."""
        if self._encoding == "base64":
            return self._base64(data)
        if self._encoding == "quoted-printable":
            lines, newline, self._rest = (self._rest + data).rpartition(b"\n")
            return quopri.decodestring(lines + newline)
        if self._encoding in ("x-uuencode", "uuencode", "x-uue"):
            lines, newline, self._rest = (self._rest + data).rpartition(b"\n")
            return b"".join(map(_uudecoded, (lines + newline).splitlines()))
        return data

    def finish(self) -> bytes:
        """What was incomplete."""
        rest, self._rest = self._rest, b""
        if self._encoding == "base64":
            return _base64_end(rest)
        if self._encoding == "quoted-printable":
            return quopri.decodestring(rest)
        if "uu" in self._encoding:
            return _uudecoded(rest)
        return rest

    def _base64(self, data: bytes) -> bytes:
        symbols = self._rest + data.translate(None, _NOT_BASE64)
        end = len(symbols) - len(symbols) % 4
        self._rest = symbols[end:]
        return binascii.a2b_base64(symbols[:end])


_NOT_BASE64 = bytes(
    sorted(set(range(256)) - set(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"))
)
"""Padding too: it says only where the data ends, and lists of encoded blocks have it in the middle."""


def transfer_decoded(data: bytes, encoding: str) -> bytes:
    """All of it at once."""
    decoder = TransferDecoder(encoding)
    return decoder.feed(data) + decoder.finish()


def _base64_end(symbols: bytes) -> bytes:
    if len(symbols) < 2:
        return b""
    return binascii.a2b_base64(symbols + b"=" * (4 - len(symbols)))


def _uudecoded(line: bytes) -> bytes:
    if not line or line.startswith((b"begin ", b"end")):
        return b""
    try:
        return binascii.a2b_uu(line)
    except binascii.Error:
        return b""
