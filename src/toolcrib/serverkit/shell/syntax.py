"""The syntax tree of a command line, made by tree-sitter's parser for bash.

The parser sees no character beyond ASCII: it looks such a one up in a table that is too short for it, which
can end the whole process. To a shell they are parts of words and nothing else, as is the `%` that the parser
is shown in their place. The text of a node is what was written.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import tree_sitter

_WHOLE = 16 * 1024
_STEP = 4096
"""A longer text is given to the parser in steps: it holds the GIL until it asks for the next one."""
_PLAIN = bytes(range(128)) + b"%" * 128


class SyntaxNode:
    """A part of a command line, and the parts that it is made of."""

    __slots__ = ("_inner", "_source")

    def __init__(self, inner: tree_sitter.Node, source: bytes) -> None:
        self._inner = inner
        self._source = source

    @property
    def type(self) -> str:
        """What the grammar calls it; of a sign or a keyword, that itself."""
        return self._inner.type

    @property
    def is_named(self) -> bool:
        """Not a sign or a keyword."""
        return self._inner.is_named

    @property
    def has_error(self) -> bool:
        """Something in it is no syntax."""
        return self._inner.has_error

    @property
    def start_byte(self) -> int:
        """Where it begins in the command."""
        return self._inner.start_byte

    @property
    def end_byte(self) -> int:
        """Where it ends in the command."""
        return self._inner.end_byte

    @property
    def children(self) -> list[SyntaxNode]:
        """Its parts, in order."""
        return [SyntaxNode(child, self._source) for child in self._inner.children]

    @property
    def named_children(self) -> list[SyntaxNode]:
        """Those that are not signs or keywords."""
        return [SyntaxNode(child, self._source) for child in self._inner.named_children]

    @property
    def raw(self) -> bytes:
        """What is written there."""
        return self._source[self.start_byte : self.end_byte]

    @property
    def text(self) -> str:
        """The same as text."""
        return self.raw.decode("utf-8", "replace")


def parse(text: str) -> SyntaxNode:
    """The syntax tree; may hold errors."""
    source = text.encode("utf-8", "surrogatepass")
    plain = source.translate(_PLAIN)
    tree = _parser().parse(plain if len(plain) <= _WHOLE else lambda at, _: plain[at : at + _STEP])
    return SyntaxNode(tree.root_node, source)


def _parser() -> tree_sitter.Parser:
    """A new one each time, which takes microseconds: threads must not share one."""
    from tree_sitter import Parser

    return Parser(_bash())


@cache
def _bash() -> tree_sitter.Language:
    # Not before it is used: most hosts never see a command.
    import tree_sitter_bash
    from tree_sitter import Language

    return Language(tree_sitter_bash.language())
