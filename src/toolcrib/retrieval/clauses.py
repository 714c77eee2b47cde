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
    return [question[start:end] for start, end in clause_spans(question)]


def clause_spans(question: str) -> list[tuple[int, int]]:
    """The same as places in the text."""
    spans, start = [], 0
    for border in [*_BORDER.finditer(question), None]:
        end = border.start() if border else len(question)
        part = question[start:end]
        if part.strip():
            begins = start + len(part) - len(part.lstrip())
            spans.append((begins, begins + len(part.strip())))
        start = border.end() if border else end
    return spans if 1 < len(spans) <= MOST else []
