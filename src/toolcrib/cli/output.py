"""Data to stdout, the rest to stderr; text of others is made harmless when a terminal shows it."""

from __future__ import annotations

import json
import os
import re
import sys
from typing import Any, TextIO

from toolcrib.cli.colours import paint
from toolcrib.cli.safe_text import stripped

_UNSAFE = re.compile(r"[\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def prepare_streams() -> None:
    """A character that the terminal's encoding lacks is shown as an escape, never an error."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def mute() -> None:
    """Whoever read our output has gone; nothing more is said, not even at the interpreter's end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def print_json(value: Any) -> None:
    """One JSON document: indented for a person, on one line for a program."""
    say_exactly(as_json(value, indent=2 if sys.stdout.isatty() else None))


def as_json(value: Any, indent: int | None = None) -> str:
    """JSON that no terminal and no parser stumbles over."""
    separators = (",", ": ") if indent else (",", ":")
    text = json.dumps(value, ensure_ascii=False, indent=indent, separators=separators, default=str)
    return _UNSAFE.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


def say(text: str = "") -> None:
    """A line to stdout."""
    say_exactly(stripped(text) if sys.stdout.isatty() else text)


def say_exactly(text: str) -> None:
    """A line to stdout as it is: our own text, colours included."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def note(text: str) -> None:
    """A line to stderr."""
    sys.stderr.write(f"{stripped(text) if sys.stderr.isatty() else text}\n")
    sys.stderr.flush()


def label(word: str, colour: str, text: str, stream: TextIO | None = None) -> None:
    """A line to stderr that begins with a coloured word: `error: …`."""
    stream = stream or sys.stderr
    shown = stripped(text) if stream.isatty() else text
    stream.write(f"{paint(word, colour, stream)} {shown}\n")
    stream.flush()


def counted(number: int, noun: str) -> str:
    """`1 tool`, `2 tools`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def mark(ok: bool | None) -> str:
    """A tick, a cross, or an exclamation mark; in words where the encoding has no such signs."""
    sign, word, colour = {
        True: ("✓", "ok", "green"),
        False: ("✗", "FAILED", "red"),
        None: ("!", "!", "yellow"),
    }[ok]
    try:
        sign.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        sign = word
    return paint(sign, colour, sys.stdout)
