"""Ranks tools by the words they share with a question: BM25 over weighted fields, with reasons.

It follows the registry: what did not change since the last snapshot costs next to nothing. It touches no
clock, disk or socket, and equal input gives equal answers, whatever the order of the tools.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Collection, Iterable, Mapping, Sequence

from toolcrib.retrieval.documents import field_counts, saturated, term_weights
from toolcrib.retrieval.postings import Postings
from toolcrib.retrieval.question import Question, read_question
from toolcrib.retrieval.selection import Pick, Reason, Selection
from toolcrib.schema.tools import Tool

_CONTEXT_SHARE = 0.3
"""Of the best fit, what the talk before a question can add at most."""
_MOST_RECENT = 5


class Index:
    """The tools of a snapshot, ready to be searched. Not thread-safe."""

    def __init__(self, tools: Iterable[Tool] = ()) -> None:
        self._tools: dict[str, Tool] = {}
        self._named: dict[str, set[str]] = {}
        self._postings = Postings()
        self.update(tools)

    def __len__(self) -> int:
        return len(self._tools)

    def update(self, tools: Iterable[Tool], *, at_most: int | None = None) -> bool:
        """Hold these tools and no others; those that are switched off are left out.

        Reads at most so many definitions and returns False when some are left: call it again.
        """
        wanted = {tool.name: tool for tool in tools if tool.enabled}
        for name in [name for name in self._tools if name not in wanted]:
            self._drop(name)
        unread = [tool for tool in wanted.values() if not self._is_read(tool)]
        for tool in unread[:at_most]:
            self._put(tool)
        return at_most is None or len(unread) <= at_most

    def select(
        self,
        question: str,
        k: int = 5,
        *,
        always_on: Sequence[str] = (),
        recent: Sequence[str] = (),
        context: Sequence[str] = (),
    ) -> Selection:
        """The tools named in `always_on`, then the `k` that fit best, then those of `recent` (newest first).

        `context` is what was said before the question, the newest last: it breaks ties, and helps a question
        that says little by itself. Tools that share no word with either are not picked.
        """
        first = self._known(always_on)
        asked = read_question(question, context)
        best = self._best(asked, k, leave_out={tool.name for tool in first})
        taken = {tool.name for tool in first} | {pick.tool.name for pick in best}
        last = [tool for tool in self._known(recent[:_MOST_RECENT]) if tool.name not in taken]
        return Selection(
            picks=(
                *(Pick(tool=tool, score=0.0, kind="always on") for tool in first),
                *best,
                *(Pick(tool=tool, score=0.0, kind="just used") for tool in last),
            )
        )

    def _best(self, asked: Question, k: int, leave_out: Collection[str]) -> list[Pick]:
        scores = self._scores(asked)
        named = self._exact(asked)
        top = max(scores.values(), default=1.0)
        for name in named:
            scores[name] = scores.get(name, 0.0) + top
        for name in leave_out:
            scores.pop(name, None)
        return [self._pick(name, score, asked, named.get(name), top) for name, score in _first(scores, k)]

    def _scores(self, asked: Question) -> dict[str, float]:
        scores = self._postings.score(asked.terms)
        top = max(scores.values(), default=0.0)
        for clause in asked.clauses:
            fits = self._postings.score(clause)
            # A clause's best tool may stand beside the whole question's, the nearer the more it matches.
            lift = math.sqrt(top / max(fits.values(), default=1.0))
            for name, score in fits.items():
                scores[name] = max(scores.get(name, 0.0), score * lift)
        before = self._postings.score(asked.context)
        if before:
            share = _CONTEXT_SHARE * (top or 1.0) / max(before.values())
            for name, score in before.items():
                scores[name] = scores.get(name, 0.0) + score * share
        return scores

    def _exact(self, asked: Question) -> dict[str, str]:
        """The tools whose whole name stands in the question, and how it stands there."""
        return {name: word for word in reversed(asked.names) for name in self._named.get(word.casefold(), ())}

    def _pick(self, name: str, score: float, asked: Question, exact: str | None, top: float) -> Pick:
        tool = self._tools[name]
        reasons = [] if exact is None else [Reason(field="exact name", terms=(exact,), score=round(top, 3))]
        left = score if exact is None else score - top
        return Pick(tool=tool, score=round(score, 3), reasons=(*reasons, *self._reasons(tool, left, asked)))

    def _reasons(self, tool: Tool, score: float, asked: Question) -> list[Reason]:
        """Which fields hold which words; the shares add up to the score."""
        fields = field_counts(tool)
        words = {**dict.fromkeys(asked.context, _CONTEXT_SHARE), **asked.terms}
        shares: dict[str, dict[str, float]] = {}
        for term, importance in words.items():
            total = sum(counts.get(term, 0.0) for counts in fields.values())
            if not total:
                continue
            worth = self._postings.rarity(term) * importance * saturated(total) / total
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

    def _known(self, names: Iterable[str]) -> list[Tool]:
        return [self._tools[name] for name in dict.fromkeys(names) if name in self._tools]

    def _is_read(self, tool: Tool) -> bool:
        """True when its words are indexed; what else changed of it is then taken over."""
        known = self._tools.get(tool.name)
        if known is None or (known.hash, known.server) != (tool.hash, tool.server):
            return False
        self._tools[tool.name] = tool
        return True

    def _put(self, tool: Tool) -> None:
        self._drop(tool.name)
        self._tools[tool.name] = tool
        self._postings.put(tool.name, term_weights(tool))
        for name in (tool.name, tool.definition.name):
            self._named.setdefault(name.casefold(), set()).add(tool.name)

    def _drop(self, name: str) -> None:
        tool = self._tools.pop(name, None)
        if tool is None:
            return
        self._postings.drop(name)
        for spelling in {tool.name.casefold(), tool.definition.name.casefold()}:
            self._named[spelling].discard(name)
            if not self._named[spelling]:
                del self._named[spelling]


def _first(scores: Mapping[str, float], k: int) -> list[tuple[str, float]]:
    """The best `k`; equal ones in order of name."""
    if k < 1 or not scores:
        return []
    least = heapq.nlargest(k, scores.values())[-1]
    order = sorted((-score, name) for name, score in scores.items() if score >= least)
    return [(name, -score) for score, name in order[:k]]
