"""Which options and operands a program may be given, and what it does with them: how a list of allowed
options is written and checked. The lists themselves are in the neighboring files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from toolcrib.serverkit.shell.script import Simple
from toolcrib.serverkit.shell.words import Word, plain

Kind = Literal["text", "name", "content", "search"]
"""What a program does with a word: prints it or computes with it, tells about the file of that name, shows
what is in the file, or searches the file or everything below the folder."""


@dataclass(frozen=True, slots=True)
class Use:
    """A path in a command, and what is done with it."""

    word: Word
    kind: Kind


Uses = Sequence[Use]
_STDIN = plain("-")


@dataclass(frozen=True, kw_only=True)
class Syntax:
    """The harmless options of a program. Every other option makes the command one to ask about."""

    flags: str = ""
    """Letters of options without a value."""
    values: str = ""
    """Letters of options with a value."""
    endings: str = ""
    """Letters of options whose value, if any, is in the same word."""
    long: str = ""
    """Names of long options; `name=` has a value, `name[=]` may have one."""
    number: bool = False
    """`-20` is an option."""
    operands: Kind = "text"
    first: Kind | None = None
    """What the first operand is, where it differs from the others."""
    globs: bool = False
    """No option of it does harm, so that a pattern at the beginning of a word may become one."""
    most: int = 10_000
    """How many operands it may have."""
    check: Callable[[Parsed], bool] = lambda parsed: True
    """What else must be true."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """The words after a program, told apart."""

    options: tuple[tuple[str, str], ...]
    """Names without dashes, and values."""
    operands: tuple[Word, ...]
    ended: bool
    """There was a `--`."""
    late: tuple[Word, ...] = ()
    """Options, and their values, after an operand. To a program that ends its options there (awk, most of
    BSD's, all with POSIXLY_CORRECT) these are operands too."""

    def has(self, *names: str) -> bool:
        """Whether one of these options is given."""
        return any(name in names for name, _ in self.options)


def understand(command: Simple, syntax: Syntax) -> Uses | None:
    """What a command does with its words; None when not all of it is on the list."""
    parsed = parse(command.words, syntax)
    if parsed is None or len(parsed.operands) > syntax.most or not syntax.check(parsed):
        return None
    if syntax.most < 10_000 and any(word.glob for word in parsed.operands):
        return None  # it may become any number of words
    kinds = [syntax.first or syntax.operands, *[syntax.operands] * len(parsed.operands)]
    uses = [Use(word, kind) for word, kind in zip(parsed.operands, kinds, strict=False)]
    return uses + [Use(word, syntax.operands) for word in parsed.late if not word.option_possible]


def parse(words: Sequence[Word], syntax: Syntax) -> Parsed | None:
    """Options and operands when every option is known, else None."""
    options, operands, left, late = list[tuple[str, str]](), list[Word](), list(words), list[Word]()
    while left:
        word = left.pop(0)
        if not word.option_possible or word == _STDIN or (syntax.globs and word.signs[0] != "-"):
            operands.append(word)
            continue
        if not word.literal and not _names_its_option(word):
            return None
        if word.text == "--":
            return Parsed(tuple(options), (*operands, *left), ended=True, late=tuple(late))
        before = list(left)
        found = _option(word.text, left, syntax)
        if found is None:
            return None
        options += found
        late += [word, *before[: len(before) - len(left)]] if operands else []
    return Parsed(tuple(options), tuple(operands), ended=False, late=tuple(late))


def _names_its_option(word: Word) -> bool:
    """Whether it is like `--include=*.py`: whatever the pattern matches is that option with another value."""
    known = "".join(sign if isinstance(sign, str) else "\0" for sign in word.signs).partition("\0")[0]
    return known.startswith("--") and "=" in known


def _option(text: str, left: list[Word], syntax: Syntax) -> list[tuple[str, str]] | None:
    if syntax.number and text[1:].isdecimal():
        return [("number", text[1:])]
    return _long(text[2:], left, syntax) if text.startswith("--") else _short(text[1:], left, syntax)


def _long(text: str, left: list[Word], syntax: Syntax) -> list[tuple[str, str]] | None:
    name, sign, value = text.partition("=")
    known = syntax.long.split()
    if f"{name}=" in known:
        given = value if sign else _next(left)
        return None if given is None else [(name, given)]
    accepted = f"{name}[=]" in known or (name in known and not sign)
    return [(name, value)] if accepted else None


def _short(letters: str, left: list[Word], syntax: Syntax) -> list[tuple[str, str]] | None:
    found = list[tuple[str, str]]()
    for at, letter in enumerate(letters):
        rest = letters[at + 1 :]
        if letter in syntax.endings:
            return [*found, (letter, rest)]
        if letter in syntax.values:
            value = rest or _next(left)
            return None if value is None else [*found, (letter, value)]
        if letter not in syntax.flags:
            return None
        found.append((letter, ""))
    return found


def _next(left: list[Word]) -> str | None:
    """The word that is the value of an option; one with wildcards could become several."""
    return left.pop(0).text if left and left[0].literal else None
