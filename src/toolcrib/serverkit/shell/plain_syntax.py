"""The syntax tree of a command line, if the parser and the shell cannot differ about where its words end.

A parser that follows a grammar is more lenient than a shell: to it `[a]#b` is a test and a comment, to the
shell one word. So that nothing is lost between the two, every word must stand between blanks and operators.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

from toolcrib.serverkit.shell.syntax import SyntaxNode, parse
from toolcrib.serverkit.shell.words import MAX_LENGTH, NotUnderstood

MAX_DEPTH = 50
_OPERATOR = frozenset(b";&|<>()\n")
_WORDS = (
    "word",
    "number",
    "raw_string",
    "string",
    "concatenation",
    "simple_expansion",
    "variable_assignment",
)


def parse_plain(text: str) -> SyntaxNode:
    """The syntax tree of a command line in which each word is separate; raises `NotUnderstood`."""
    _check_characters(text)
    root = parse(text)
    if root.has_error:
        raise NotUnderstood("the syntax")
    _check_depth(root)
    _check_borders(root, text.encode())
    return root


def _check_characters(text: str) -> None:
    if len(text) > MAX_LENGTH:
        raise NotUnderstood(f"more than {MAX_LENGTH} characters")
    for character in text:
        if character in " \n\t" or " " < character <= "~":
            continue
        if character.isascii() or unicodedata.category(character)[0] in "CZ":
            raise NotUnderstood(f"an invisible character (U+{ord(character):04X})")


def _check_depth(root: SyntaxNode) -> None:
    """What follows goes down the tree by calling itself."""
    left = [(root, 0)]
    while left:
        node, depth = left.pop()
        if depth > MAX_DEPTH:
            raise NotUnderstood(f"more than {MAX_DEPTH} levels")
        left += [(child, depth + 1) for child in node.children]


def _check_borders(root: SyntaxNode, source: bytes) -> None:
    """Between two words there must be blanks and nothing else, or an operator."""
    end, operator = 0, True
    for part in _parts(root):
        gap = source[end : part.start_byte]
        begins, ends = _operators_at(part)
        if gap.strip(b" \t\n") or not (gap or operator or begins or not part.raw):
            raise NotUnderstood("the syntax")
        end, operator = max(end, part.end_byte), ends
    if source[end:].strip(b" \t\n"):
        raise NotUnderstood("the syntax")


def _operators_at(part: SyntaxNode) -> tuple[bool, bool]:
    """Whether it is an operator at its beginning and at its end, which separates words without a blank."""
    raw = part.raw
    if part.is_named or not raw:
        return False, False
    return raw[0] in _OPERATOR, raw[-1] in _OPERATOR


def _parts(node: SyntaxNode) -> Iterator[SyntaxNode]:
    """Words, operators, keywords and comments."""
    if not node.children or node.type in _WORDS:
        yield node
        return
    for child in node.children:
        yield from _parts(child)
