"""Splits a question for ranking: its words, its clauses (at "and then", "after that", punctuation), the
messages before it, and exact tool names. Limits: length of a question, number of words and clauses.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from toolcrib.retrieval.words import stems, stems_and_words

MOST_CLAUSES = 8
"""More clauses are not split: it is probably a pasted text."""
_BORDER = re.compile(
    r"[;\n]+|[.!?](?=\s|\Z)"
    r"|,?\s+\b(?:and\s+then|and\s+also|as\s+well\s+as|after\s+that|afterwards|and|then)\b",
    re.IGNORECASE,
)


def clauses(question: str) -> list[str]:
    """The clauses in order; none if there is only one, or too many."""
    return [question[start:end] for start, end in clause_spans(question)]


def clause_spans(question: str) -> list[tuple[int, int]]:
    spans, start = [], 0
    for border in [*_BORDER.finditer(question), None]:
        end = border.start() if border else len(question)
        part = question[start:end]
        if part.strip():
            begins = start + len(part) - len(part.lstrip())
            spans.append((begins, begins + len(part.strip())))
        start = border.end() if border else end
    return spans if 1 < len(spans) <= MOST_CLAUSES else []


LONGEST = 4_000
"""Characters of a question that are read."""
_MOST_TERMS = 64
"""Different words that are looked up, so that a pasted text costs no more than a question."""
_LEAST_IN_CLAUSE = 3
"""Different words; a shorter clause ("and mail it") says too little."""
_REPEATED = 2
"""Repetitions of a word that count."""
_CONTEXT_TEXTS = 4
_PUNCTUATION = "\"'`.,;:!?()[]{}<>"


@dataclass(frozen=True, kw_only=True)
class Query:
    terms: Mapping[str, float]
    """Each word with its weight."""
    clauses: tuple[Mapping[str, float], ...]
    spans: tuple[tuple[int, int], ...]
    """The position of each clause in the text."""
    context: Mapping[str, float]
    spoken: Mapping[str, str]
    """Each word as written."""
    names: tuple[str, ...]
    """Words that may be a tool's full name, as written."""


def read_query(text: str, context: Sequence[str] = ()) -> Query:
    """Split a question; `context` are the messages before it, newest last."""
    text = text[:LONGEST]
    spoken: dict[str, str] = {}
    for term, word in stems_and_words(text):
        spoken.setdefault(term, word)
    spans = [(start, end) for start, end in clause_spans(text) if _says_enough(text[start:end])]
    return Query(
        terms=_weigh(stems(text)),
        clauses=tuple(_weigh(stems(text[start:end])) for start, end in spans),
        spans=tuple(spans),
        context=_weigh(_said(context, leave_out=spoken)),
        spoken=spoken,
        names=_names(text),
    )


def _says_enough(clause: str) -> bool:
    return len(set(stems(clause))) >= _LEAST_IN_CLAUSE


def _weigh(terms: Iterable[str]) -> dict[str, float]:
    counted = Counter(terms).most_common(_MOST_TERMS)
    return {term: float(min(count, _REPEATED)) for term, count in counted}


def _said(context: Sequence[str], leave_out: Mapping[str, str]) -> list[str]:
    newest_first = [stems(text[:LONGEST]) for text in reversed(context[-_CONTEXT_TEXTS:])]
    return [term for terms in newest_first for term in terms if term not in leave_out]


def _names(text: str) -> tuple[str, ...]:
    """Words of several parts, such as `create_issue`; a plain word only if it is the whole question."""
    words = [word.strip(_PUNCTUATION) for word in text.split()]
    if len(words) == 1:
        return tuple(word for word in words if word)
    return tuple(dict.fromkeys(word for word in words if len(stems(word)) > 1))[:_MOST_TERMS]
