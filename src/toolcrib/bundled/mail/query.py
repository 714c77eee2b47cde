"""Parses Gmail's search syntax into a tree: terms joined by "and", `OR`, `{ }`, `( )` and `-`. Has the list
of operators such as `from:` and `has:`, and the longest and deepest query. What they mean on IMAP is in
`imap_criteria.py`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from toolcrib.serverkit.context import ToolFailure

MAX_LENGTH = 2000
MAX_DEPTH = 20
OPERATORS = frozenset(
    {
        "is", "in", "label", "from", "to", "cc", "bcc", "subject", "has", "filename", "larger", "smaller",
        "size", "after", "before", "newer", "older", "newer_than", "older_than", "rfc822msgid", "list",
        "deliveredto", "category",
    }
)  # fmt: skip
"""Anything else before a colon is text, as in `re:invoice` or an address of a web page."""
_TOKEN = re.compile(
    r"""\s*(?:
        (?P<mark>[(){}])
      | (?P<minus>-)(?=[^\s\-)}])
      | (?P<operator>[A-Za-z0-9_]+):(?=\S)
      | "(?P<phrase>[^"]*)"?
      | (?P<word>[^\s(){}"]+)
    )""",
    re.VERBOSE,
)
_CONTROL = re.compile(r"[\x00-\x1f\x7f]+")


@dataclass(frozen=True)
class Term:
    """One condition; an empty `operator` searches the whole message."""

    operator: str
    value: str


@dataclass(frozen=True)
class All:
    """All parts match; without parts, every message does."""

    parts: tuple[Query, ...]


@dataclass(frozen=True)
class AnyOf:
    """At least one part matches; without parts, no message does."""

    parts: tuple[Query, ...]


@dataclass(frozen=True)
class Not:
    part: Query


Query = Term | All | AnyOf | Not
EVERYTHING = All(())
NOTHING = AnyOf(())


def parse_query(text: str) -> Query:
    """The tree of a query; raises `ToolFailure` if it cannot be understood."""
    if len(text) > MAX_LENGTH:
        raise ToolFailure(f"The query is longer than {MAX_LENGTH} characters.", "Use a shorter query.")
    return _Parser(_CONTROL.sub(" ", text)).whole()


class _Parser:
    def __init__(self, text: str) -> None:
        self._tokens = [
            (str(match.lastgroup), match.group(str(match.lastgroup))) for match in _TOKEN.finditer(text)
        ]
        self._at = 0

    def whole(self) -> Query:
        parts: list[Query] = []
        while self._at < len(self._tokens):
            parts.append(self._sequence("", 0))
            self._take("mark", ")") or self._take("mark", "}")  # one that closes nothing is ignored
        return _all(parts)

    def _sequence(self, end: str, depth: int, operator: str = "") -> Query:
        """Terms up to `end`; those around an `OR` are alternatives, as Gmail binds it tighter than "and"."""
        if depth > MAX_DEPTH:
            raise ToolFailure("The query is nested too deeply.", "Use fewer parentheses.")
        groups: list[list[Query]] = []
        joined = False
        while self._at < len(self._tokens) and not self._ends(end):
            if self._take("word", "OR"):
                joined = bool(groups)
            elif not self._take("word", "AND"):
                part = self._one(depth, operator)
                if joined:
                    groups[-1].append(part)
                else:
                    groups.append([part])
                joined = False
        self._take("mark", end)
        if end == "}":
            return _any([part for group in groups for part in group])
        return _all([_any(group) for group in groups])

    def _one(self, depth: int, operator: str) -> Query:
        kind, value = self._tokens[self._at]
        self._at += 1
        if kind == "minus":
            return Not(self._one(depth, operator)) if self._at < len(self._tokens) else EVERYTHING
        if kind == "mark":
            return self._sequence("}" if value == "{" else ")", depth + 1, operator)
        if kind == "operator":
            return self._operand(value, depth, operator)
        return Term(operator, value.removeprefix("+"))

    def _operand(self, name: str, depth: int, outer: str) -> Query:
        operator = name.lower()
        if self._at >= len(self._tokens):
            return Term(outer, name)
        if operator not in OPERATORS:
            kind, value = self._tokens[self._at]
            if kind in ("mark", "minus"):
                return Term(outer, name)
            self._at += 1
            return Term(outer, f"{name}:{value}")
        return self._one(depth, operator)

    def _ends(self, end: str) -> bool:
        kind, value = self._tokens[self._at]
        return kind == "mark" and (value == end if end else value in ")}")

    def _take(self, kind: str, value: str) -> bool:
        if self._at < len(self._tokens) and self._tokens[self._at] == (kind, value):
            self._at += 1
            return True
        return False


def _all(parts: list[Query]) -> Query:
    return parts[0] if len(parts) == 1 else All(tuple(parts))


def _any(parts: list[Query]) -> Query:
    return parts[0] if len(parts) == 1 else AnyOf(tuple(parts))


def terms(query: Query) -> list[Term]:
    """Every condition in the tree."""
    if isinstance(query, Term):
        return [query]
    parts = (query.part,) if isinstance(query, Not) else query.parts
    return [term for part in parts for term in terms(part)]


def simplified(query: Query) -> Query:
    """The same without parts that always or never match."""
    if isinstance(query, Term):
        return query
    if isinstance(query, Not):
        part = simplified(query.part)
        return EVERYTHING if part == NOTHING else NOTHING if part == EVERYTHING else Not(part)
    if isinstance(query, All):
        parts = [part for term in query.parts if (part := simplified(term)) != EVERYTHING]
        return NOTHING if NOTHING in parts else _all(parts)
    parts = [part for term in query.parts if (part := simplified(term)) != NOTHING]
    return EVERYTHING if EVERYTHING in parts else _any(parts)
