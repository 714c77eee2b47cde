"""What is asked, as the ranking sees it: the words of the whole, of its clauses and of the talk before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from toolcrib.retrieval.clauses import clause_spans
from toolcrib.retrieval.words import stems, stems_and_words

LONGEST = 4_000
"""Characters of a question that are looked at."""
_MOST_TERMS = 64
"""Different words that are looked up: a pasted text must not cost more than a question."""
_LEAST_IN_CLAUSE = 3
"""Different words; a shorter clause ("and mail it") says too little to rank by."""
_REPEATED = 2
"""Times that a repeated word counts at most."""
_CONTEXT_TEXTS = 4
_PUNCTUATION = "\"'`.,;:!?()[]{}<>"


@dataclass(frozen=True, kw_only=True)
class Question:
    """A question taken apart."""

    terms: Mapping[str, float]
    """Each word and how much it counts."""
    clauses: tuple[Mapping[str, float], ...]
    spans: tuple[tuple[int, int], ...]
    """Where in the text each clause stands."""
    context: Mapping[str, float]
    spoken: Mapping[str, str]
    """Each word as it was written."""
    names: tuple[str, ...]
    """Words that may be the whole name of a tool, as they were written."""


def read_question(text: str, context: Sequence[str] = ()) -> Question:
    """Take a question apart; `context` is what was said before it, the newest last."""
    text = text[:LONGEST]
    spoken: dict[str, str] = {}
    for term, word in stems_and_words(text):
        spoken.setdefault(term, word)
    spans = [(start, end) for start, end in clause_spans(text) if _says_enough(text[start:end])]
    return Question(
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
    """Words of several parts, such as `create_issue`; a plain word only where it is all there is."""
    words = [word.strip(_PUNCTUATION) for word in text.split()]
    if len(words) == 1:
        return tuple(word for word in words if word)
    return tuple(dict.fromkeys(word for word in words if len(stems(word)) > 1))[:_MOST_TERMS]
