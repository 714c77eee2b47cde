"""Splits words into options that are all on a list, and operands; one that is not on it gives nothing."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from toolcrib.serverkit.shell.words import Word


@dataclass(frozen=True, kw_only=True)
class Options:
    """Letters and long names, without and with a value."""

    flags: str = ""
    values: str = ""
    long: Collection[str] = ()
    long_values: Collection[str] = ()


def operands(words: Sequence[Word], options: Options, *, optional: Sequence[str] = ()) -> list[Word] | None:
    """The operands when every option is known, else None; `optional` are taken with any ending."""
    found: list[Word] = []
    left = list(words)
    while left:
        word = left.pop(0)
        if not word.option_possible or (word.literal and word.text == "-"):
            found.append(word)
            continue
        if not word.literal:
            return None
        if word.text == "--":
            return found + left
        if any(word.text.startswith(each) for each in optional):
            continue
        wanted = _values_wanted(word.text, options)
        if wanted is None or len(left) < wanted:
            return None
        del left[:wanted]
    return found


def _values_wanted(text: str, options: Options) -> int | None:
    """How many further words belong to this option; None when it is not known."""
    if text.startswith("--"):
        name, sign, _ = text[2:].partition("=")
        if name in options.long_values:
            return 0 if sign else 1
        return 0 if name in options.long and not sign else None
    for position, letter in enumerate(text[1:], start=1):
        if letter in options.values:
            return 0 if position < len(text) - 1 else 1
        if letter not in options.flags:
            return None
    return 0
