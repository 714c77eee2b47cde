"""The words of a command as far as they are known before it runs; quotes and escapes are already resolved.
Wildcards, known variables, the longest command, and the reasons for what is not understood."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from toolcrib.serverkit.secret_places import Wild
from toolcrib.serverkit.shell.syntax import SyntaxNode

MAX_LENGTH = 16 * 1024
"""Of a command; a longer one is not judged."""
_UNSAFE_IN_WORD = frozenset("{}`$'\"&|;<>()\n\r")
"""Unless escaped. The parser should not put these into a word; they are looked for in case it is wrong."""
_SPLITTING = frozenset(" \t\n*?[\\")
"""Characters that make an unquoted value something other than one plain word."""


class StartFolder(Enum):
    """A value that the terminal sets: two are absolute paths that a word may begin with."""

    HOME = "~"
    HERE = "$PWD"
    OTHER = "$…"
    """Plain text, which may be printed; no path is known to lead anywhere with it."""


class _Bracket(Enum):
    """An unquoted bracket, which may be part of a pattern; not in a finished word."""

    OPEN = "["
    CLOSE = "]"


Sign = str | Wild | StartFolder
"""A single character, or what stands for others."""
_RawSign = Sign | _Bracket


@dataclass(frozen=True, slots=True)
class Word:
    """One word, sign by sign. With a wildcard it can become several words when the command runs."""

    signs: tuple[Sign, ...] = ()

    @property
    def text(self) -> str:
        """Exact when it is `literal`."""
        return "".join(sign if isinstance(sign, str) else sign.value for sign in self.signs)

    @property
    def literal(self) -> bool:
        """It is known exactly."""
        return all(isinstance(sign, str) for sign in self.signs)

    @property
    def glob(self) -> bool:
        """It has wildcards."""
        return any(isinstance(sign, Wild) for sign in self.signs)

    @property
    def option_possible(self) -> bool:
        """It may begin with a dash when the command runs."""
        if not self.signs:
            return False
        return self.signs[0] in ("-", StartFolder.OTHER) or isinstance(self.signs[0], Wild)


def plain(text: str) -> Word:
    """The word that is exactly this text."""
    return Word(tuple(text))


Variables = Mapping[str, Word]
"""Loop variables and their values."""


def listed(text: str) -> frozenset[str]:
    """The words of a list that is written out over several lines."""
    return frozenset(text.split())


class NotUnderstood(Exception):
    """Something in the command is beyond what can be known before it runs."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what


def read_word(node: SyntaxNode, variables: Variables) -> Word:
    """The word at this node; raises `NotUnderstood`."""
    return Word(tuple(_without_brackets(_signs(node, variables, at_start=True))))


def excerpt(node: SyntaxNode) -> str:
    """A short piece of the command, for a reason that people read."""
    text = node.text
    return text if len(text) <= 40 else f"{text[:39]}…"


def _signs(node: SyntaxNode, variables: Variables, *, at_start: bool = False) -> list[_RawSign]:
    if node.type in ("word", "number"):
        return _bare(node, at_start=at_start)
    if node.type == "raw_string":
        return list(node.text[1:-1])
    if node.type == "string":
        return _double_quoted(node, variables)
    if node.type == "simple_expansion":
        return list(_unquoted_value(node, variables).signs)
    if node.type == "concatenation":
        return _concatenation(node, variables)
    raise NotUnderstood(f"{_NAMES.get(node.type, node.type.replace('_', ' '))}: {excerpt(node)}")


def _bare(node: SyntaxNode, *, at_start: bool) -> list[_RawSign]:
    raw, signs, escaped = node.text, list[_RawSign](), False
    for character in raw:
        if not escaped and character == "\\":
            escaped = True
            continue
        if character == "\n" or (not escaped and character in _UNSAFE_IN_WORD):
            raise NotUnderstood(f"{character!r} in a word: {excerpt(node)}")
        signs.append(character if escaped else _SPECIAL.get(character, character))
        escaped = False
    if escaped:
        raise NotUnderstood("a backslash at the end of a word")
    if "=~" in raw or ":~" in raw:
        raise NotUnderstood(f"a home folder in {excerpt(node)}")
    return _from_home(node, signs) if at_start and raw.startswith("~") else signs


_SPECIAL: Mapping[str, _RawSign] = {
    "*": Wild.MANY,
    "?": Wild.ONE,
    "[": _Bracket.OPEN,
    "]": _Bracket.CLOSE,
}


def _from_home(node: SyntaxNode, signs: Sequence[_RawSign]) -> list[_RawSign]:
    if node.text != "~" and not node.text.startswith("~/"):
        raise NotUnderstood(f"another home folder: {excerpt(node)}")
    return [StartFolder.HOME, *signs[1:]]


def _without_brackets(signs: Sequence[_RawSign]) -> list[Sign]:
    """`[abc]` as any one character; brackets that are less simple as anything up to the next slash."""
    found, at = list[Sign](), 0
    while at < len(signs):
        sign = signs[at]
        if sign is _Bracket.OPEN:
            at, wild = _bracket(signs, at)
            found.append(wild)
            continue
        found.append("]" if isinstance(sign, _Bracket) else sign)
        at += 1
    return found


def _bracket(signs: Sequence[_RawSign], at: int) -> tuple[int, Wild]:
    end = at + 1
    while end < len(signs) and signs[end] != "/" and not isinstance(signs[end], _Bracket):
        end += 1
    members = signs[at + 1 : end]
    if "." in members:
        raise NotUnderstood("a pattern with a dot in brackets, which may match hidden files")
    closed = end < len(signs) and signs[end] is _Bracket.CLOSE
    if closed and members and members[-1] not in ("!", "^", "-"):
        return end + 1, Wild.ONE
    while end < len(signs) and signs[end] != "/":
        end += 1
    return end, Wild.MANY


def _double_quoted(node: SyntaxNode, variables: Variables) -> list[_RawSign]:
    if not node.children or node.children[0].type != '"' or node.children[-1].type != '"':
        raise NotUnderstood(f"a translated string: {excerpt(node)}")
    start, end = node.children[0].end_byte, node.children[-1].start_byte
    source, begin = node.raw, node.start_byte
    signs, at = list[_RawSign](), start
    for child in node.named_children:
        if child.type == "string_content":
            continue
        signs += _quoted_text(source[at - begin : child.start_byte - begin])
        signs += _value(child, variables).signs
        at = child.end_byte
    return signs + _quoted_text(source[at - begin : end - begin])


def _quoted_text(raw: bytes) -> list[_RawSign]:
    text, escaped = "", False
    for character in raw.decode():
        if not escaped and character == "\\":
            escaped = True
            continue
        if not escaped and character in "`$":
            raise NotUnderstood("an expansion inside quotes")
        if escaped and character == "\n":
            raise NotUnderstood("a line that continues inside quotes")
        if escaped and character not in '$`"\\':
            text += "\\"
        text += character
        escaped = False
    return list(text)


_KNOWN_VALUES: Mapping[str, Sign] = {
    "HOME": StartFolder.HOME,
    "PWD": StartFolder.HERE,
    "?": Wild.MANY,
    **dict.fromkeys(("LANG", "LOGNAME", "PATH", "SHELL", "TERM", "USER"), StartFolder.OTHER),
}


def _value(node: SyntaxNode, variables: Variables) -> Word:
    kinds = [child.type for child in node.children]
    if node.type != "simple_expansion" or len(kinds) != 2 or kinds[0] != "$":
        raise NotUnderstood(f"{_NAMES.get(node.type, 'an expansion')}: {excerpt(node)}")
    name = node.children[1].text
    if name in variables:
        return variables[name]
    if name in _KNOWN_VALUES:
        return Word((_KNOWN_VALUES[name],))
    raise NotUnderstood(f"the value of ${name}")


def _unquoted_value(node: SyntaxNode, variables: Variables) -> Word:
    """A value that the shell splits into words and matches with files, unless it is plain."""
    value = _value(node, variables)
    if value.signs in ((StartFolder.HOME,), (Wild.MANY,), (StartFolder.OTHER,)):
        return value
    if not value.signs or not value.literal or _SPLITTING & set(value.text):
        raise NotUnderstood(f"the words that {excerpt(node)} without quotes becomes")
    return value


def _concatenation(node: SyntaxNode, variables: Variables) -> list[_RawSign]:
    signs, end = list[_RawSign](), node.start_byte
    for child in node.children:
        if child.start_byte != end:
            raise NotUnderstood(f"a word with a gap: {excerpt(node)}")
        if child.start_byte == node.start_byte and child.text == "~":
            raise NotUnderstood(f"a home folder in {excerpt(node)}")
        signs += _signs(child, variables, at_start=child.start_byte == node.start_byte)
        end = child.end_byte
    return signs


_NAMES = {
    "command_substitution": "the output of another command",
    "process_substitution": "the output of another command",
    "expansion": "an expansion",
    "arithmetic_expansion": "arithmetic, which can run commands",
    "ansi_c_string": "an encoded string",
    "brace_expression": "braces",
    "array": "an array",
}
