"""Makes text of servers safe for the terminal: it cannot move the cursor, hide, or imitate our output.
Removes or shows escape sequences, counts long gaps, and cuts text to a width."""

from __future__ import annotations

import re

_ESCAPE = re.compile(
    r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?"  # operating system commands: titles, links, the clipboard
    r"|\x1b[PX^_][^\x1b]*(?:\x1b\\)?"  # device control and the like
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"  # colours, the cursor, the screen
    r"|\x1b[ -/]*[0-~]?"
)
_BLANK = r"[ \t\r\xa0\u1680\u2000-\u200a\u202f\u205f\u2800\u3000]"
_EMPTY_LINES = re.compile(rf"(?:(?<=\n)|\A)(?:{_BLANK}*\n){{3,}}")
_SPACES = re.compile(rf"{_BLANK}{{33,}}")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def stripped(text: str) -> str:
    """The text without escape sequences and control characters; line breaks and tabs stay."""
    if text.isascii() and text.isprintable():
        return text
    return _CONTROL.sub("", _ESCAPE.sub("", text.replace("\r\n", "\n")))


def one_line(text: str) -> str:
    """The text as a single line of printable characters."""
    return " ".join(stripped(text).split())


def revealed(text: str) -> str:
    """The whole text, with hidden characters shown as escapes."""
    from toolcrib.config.hidden import HIDDEN  # not needed for help

    return HIDDEN.sub(lambda match: _escape(match.group()), text)


def folded(text: str) -> str:
    """The text with runs of empty lines and of spaces counted, so that they push nothing out of sight."""
    text = _EMPTY_LINES.sub(lambda match: f"⟨{match.group().count(chr(10)):,} empty lines⟩\n", text)
    return _SPACES.sub(lambda match: f"⟨{len(match.group()):,} spaces⟩", text)


def _escape(character: str) -> str:
    number = ord(character)
    if number <= 0xFF:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number <= 0xFFFF else f"\\U{number:08x}"


def width(text: str) -> int:
    """The columns that the text takes on a terminal."""
    if text.isascii():
        return len(text)
    return sum(_columns(character) for character in text)


def cut(text: str, columns: int) -> str:
    """The text, cut to fit and then ending in …."""
    if width(text) <= columns:
        return text
    taken, room = [], max(columns - 1, 0)
    for character in text:
        room -= _columns(character)
        if room < 0:
            break
        taken.append(character)
    return f"{''.join(taken).rstrip()}…" if columns > 0 else ""


def _columns(character: str) -> int:
    import unicodedata  # ASCII text needs no table

    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
