"""Decodes what mail is made of: transfer encodings, character sets and header words, however damaged."""

from __future__ import annotations

import binascii
import codecs
import quopri
import re
from email.errors import HeaderParseError
from email.header import decode_header

from toolcrib.serverkit.visible_text import one_line

_ALIASES = {
    "": "cp1252",
    "us-ascii": "cp1252",
    "ascii": "cp1252",
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
    "unknown-8bit": "cp1252",
    "x-unknown": "cp1252",
    "cp-850": "cp850",
    "utf8": "utf-8",
}
"""What senders write, and the larger set that they mean."""
_STATEFUL = ("iso-2022", "hz", "utf-7", "utf-16", "utf-32", "utf7", "utf16", "utf32")
"""Sets whose bytes may look like ASCII or UTF-8 and are not."""
_ENCODED_WORD = re.compile(r"=\?[^?\s]+\?[bBqQ]\?[^?]*\?=")


def decode_text(data: bytes, charset: str = "") -> str:
    """Text of any character set, never an error.

    Valid UTF-8 is read as UTF-8 whatever the label says: wrong labels are common, and text of another set is
    hardly ever valid UTF-8.
    """
    name = charset.strip().strip("'\"").lower()
    name = _ALIASES.get(name, name)
    if not name.startswith(_STATEFUL):
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError:
            pass
    try:
        codec = codecs.lookup(name)
        if not getattr(codec, "_is_text_encoding", True):  # such as base64 and zip
            raise LookupError(name)
        return data.decode(codec.name, "replace")
    except (LookupError, UnicodeError, ValueError):
        return data.decode("cp1252", "replace")


def decode_words(raw: str) -> str:
    """A header's value as the user reads it, on one line."""
    text = raw
    if not raw.isascii():  # 8-bit headers, which the parser keeps as surrogates
        text = decode_text(raw.encode("utf-8", "surrogateescape"))
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
