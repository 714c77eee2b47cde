"""Splits a question into the things it asks for: "find the flight, then mail it to Ada" asks for two."""

from __future__ import annotations

import re

MOST = 8
"""A question that seems to ask for more is taken apart no further: it is a pasted text."""
_BORDER = re.compile(
    r"[;\n]+|[.!?](?=\s|\Z)"
    r"|,?\s+\b(?:and\s+then|and\s+also|as\s+well\s+as|after\s+that|afterwards|and|then)\b",
    re.IGNORECASE,
)


def clauses(question: str) -> list[str]:
    """The parts, in their order; none where the question has but one, or too many."""
    parts = [part.strip() for part in _BORDER.split(question) if part.strip()]
    return parts if 1 < len(parts) <= MOST else []
