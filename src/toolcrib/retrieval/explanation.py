"""Says why a tool was found: which of its parts hold which words of the question, and what each adds."""

from __future__ import annotations

from collections.abc import Callable

from toolcrib.retrieval.documents import field_counts, saturated
from toolcrib.retrieval.question import Question
from toolcrib.retrieval.selection import Reason
from toolcrib.schema.tools import Tool


def reasons(
    tool: Tool, score: float, asked: Question, rarity: Callable[[str], float], context_share: float
) -> list[Reason]:
    """Which fields hold which words; the shares add up to the score."""
    fields = field_counts(tool)
    words = {**dict.fromkeys(asked.context, context_share), **asked.terms}
    shares: dict[str, dict[str, float]] = {}
    for term, importance in words.items():
        total = sum(counts.get(term, 0.0) for counts in fields.values())
        if not total:
            continue
        worth = rarity(term) * importance * saturated(total) / total
        for field, counts in fields.items():
            if term in counts:
                shares.setdefault(field, {})[term] = worth * counts[term]
    whole = sum(sum(terms.values()) for terms in shares.values()) or 1.0
    found = [
        Reason(
            field=field,
            terms=tuple(asked.spoken.get(term, term) for term in terms),
            score=round(score * sum(terms.values()) / whole, 3),
        )
        for field, terms in shares.items()
    ]
    return sorted(found, key=lambda reason: (-reason.score, reason.field))
