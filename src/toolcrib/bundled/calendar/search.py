"""Matches a search against the text of an event: every word, or quoted phrase, must occur."""

from __future__ import annotations

import re

_TERM = re.compile(r'"([^"]+)"|(\S+)')


def terms(query: str) -> list[str]:
    """The words and phrases of a query."""
    return [(phrase or word).casefold() for phrase, word in _TERM.findall(query)]


def matches(query: str, content: str) -> bool:
    """`content` is in case-folded form."""
    return all(term in content for term in terms(query))
