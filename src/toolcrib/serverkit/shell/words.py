"""The words of a command as far as they are known before it runs; quotes and escapes are already resolved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from toolcrib.serverkit.shell.syntax import Node

MAX_LENGTH = 16 * 1024
"""Of a command; what is longer is for a person."""
_GLOB = frozenset("*?[")
_KNOWN_VARIABLES = frozenset({"HOME", "PWD"})
"""Set by the terminal itself, to absolute paths."""
_UNSAFE_IN_WORD = frozenset("{}`$'\"&|;<>()\n\r")
"""Unless escaped; most of these never get here, and are looked for because a parser may be wrong."""


@dataclass(frozen=True, slots=True)
class Word:
    """One word; `text` is exact when it is `literal`, else only what stands there."""

    text: str
    literal: bool = True
    option_possible: bool = False
    """It may begin with a dash when the command runs."""

    def joined(self, other: Word) -> Word:
        """Two parts of one word."""
        option = self.option_possible if self.text or not self.literal else other.option_possible
        return Word(self.text + other.text, self.literal and other.literal, option)


Variables = Mapping[str, bool]
"""Loop variables that hold plain words; the value says whether one of these may look like an option."""


def listed(text: str) -> frozenset[str]:
    """The words of a list that is written out over several lines."""
    return frozenset(text.split())


class NotUnderstood(Exception):
    """Something in the command is beyond what can be known before it runs."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what


def read_word(node: Node, variables: Variables) -> Word:
    """The word at this node; raises `NotUnderstood`."""
    reader = _READERS.get(node.type)
    if reader is None:
        raise NotUnderstood(f"{_NAMES.get(node.type, node.type.replace('_', ' '))}: {excerpt(node)}")
    return reader(node, variables)


def excerpt(node: Node) -> str:
    """A short piece of the command, for a reason that people read."""
    text = node.text
    return text if len(text) <= 40 else f"{text[:39]}…"


def _bare(node: Node, variables: Variables) -> Word:
    raw = node.text
    text, literal, escaped = "", True, False
    for character in raw:
        if not escaped and character == "\\":
            escaped = True
            continue
        if character == "\n" or (not escaped and character in _UNSAFE_IN_WORD):
            raise NotUnderstood(f"{character!r} in a word: {excerpt(node)}")
        literal = literal and (escaped or character not in _GLOB)
        text += character
        escaped = False
    if escaped:
        raise NotUnderstood("a backslash at the end of a word")
    return Word(text, literal, text.startswith("-") or (raw[:1] in _GLOB))


def _single_quoted(node: Node, variables: Variables) -> Word:
    text = node.text[1:-1]
    return Word(text, True, text.startswith("-"))


def _double_quoted(node: Node, variables: Variables) -> Word:
    if not node.children or node.children[0].type != '"' or node.children[-1].type != '"':
        raise NotUnderstood(f"a translated string: {excerpt(node)}")
    start, end = node.children[0].end_byte, node.children[-1].start_byte
    source, begin = node.raw, node.start_byte
    word, at = Word(""), start
    for child in node.named_children:
        if child.type == "string_content":
            continue
        word = word.joined(_quoted_text(source[at - begin : child.start_byte - begin]))
        word = word.joined(_expansion(child, variables, quoted=True))
        at = child.end_byte
    return word.joined(_quoted_text(source[at - begin : end - begin]))


def _quoted_text(raw: bytes) -> Word:
    text, escaped = "", False
    for character in raw.decode():
        if not escaped and character == "\\":
            escaped = True
            continue
        if not escaped and character in "`$":
            raise NotUnderstood("an expansion inside quotes")
        if escaped and character == "\n":
            raise NotUnderstood("a line that goes on inside quotes")
        if escaped and character not in '$`"\\':
            text += "\\"
        text += character
        escaped = False
    return Word(text, True, text.startswith("-"))


def _expansion(node: Node, variables: Variables, *, quoted: bool) -> Word:
    if node.type != "simple_expansion" or [child.type for child in node.children] != ["$", "variable_name"]:
        raise NotUnderstood(f"{_NAMES.get(node.type, 'an expansion')}: {excerpt(node)}")
    name = node.children[1].text
    if name in variables:
        return Word("", False, variables[name] or not quoted)
    if name in _KNOWN_VARIABLES:
        return Word("", False, not quoted)
    raise NotUnderstood(f"the value of ${name}")


def _unquoted_expansion(node: Node, variables: Variables) -> Word:
    return _expansion(node, variables, quoted=False)


def _concatenation(node: Node, variables: Variables) -> Word:
    word = Word("")
    end = node.start_byte
    for child in node.children:
        if child.start_byte != end:
            raise NotUnderstood(f"a word with a gap: {excerpt(node)}")
        word = word.joined(read_word(child, variables))
        end = child.end_byte
    return word


_READERS = {
    "word": _bare,
    "number": _bare,
    "raw_string": _single_quoted,
    "string": _double_quoted,
    "simple_expansion": _unquoted_expansion,
    "concatenation": _concatenation,
}
_NAMES = {
    "command_substitution": "the output of another command",
    "process_substitution": "the output of another command",
    "expansion": "an expansion",
    "arithmetic_expansion": "arithmetic, which can run commands",
    "ansi_c_string": "an encoded string",
    "brace_expression": "braces",
    "array": "an array",
}
