"""Ranks tools by the words they share with a question: BM25 over weighted fields, with reasons.

It follows the registry: what did not change since the last snapshot costs next to nothing. It touches no
clock, disk or socket, and equal input gives equal answers, whatever the order of the tools.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from toolcrib.retrieval.documents import term_weights
from toolcrib.retrieval.explanation import reasons
from toolcrib.retrieval.postings import Postings
from toolcrib.retrieval.question import Question, read_question
from toolcrib.retrieval.selection import Pick, Reason, Selection, assemble
from toolcrib.retrieval.word_cache import WordCache, key_of
from toolcrib.schema.tools import Tool

if TYPE_CHECKING:
    from toolcrib.retrieval.postings import Scores

CONTEXT_SHARE = 0.3
"""Of the best fit, what the talk before a question can add at most."""
_MOST_GAPS = 1000
_TAKEN = 0.05
"""What a tool that was read before costs, where reading one costs 1."""


class RowKeeper(Protocol):
    """Keeps something of its own for each row."""

    def put(self, row: int, tool: Tool) -> None:
        """A tool has come."""
        ...

    def drop(self, row: int) -> None:
        """A tool is gone."""
        ...

    def renumber(self, fresh: Mapping[int, int]) -> None:
        """Each row that is left has a new number."""
        ...


class Index:
    """The tools of a snapshot, ready to be searched. Not thread-safe."""

    def __init__(self, tools: Iterable[Tool] = (), words: WordCache | None = None) -> None:
        self._words = words
        self._tools: dict[str, Tool] = {}
        self._rows: dict[str, int] = {}
        self._names: dict[int, str] = {}
        self._named: dict[str, set[str]] = {}
        self.postings = Postings()
        self.rows_changed: RowKeeper | None = None
        """Told of rows as they come and go."""
        self.update(tools)

    def __len__(self) -> int:
        return len(self._tools)

    def update(self, tools: Iterable[Tool], *, at_most: int | None = None) -> bool:
        """Hold these tools and no others; those that are switched off are left out.

        Reads at most so many definitions and returns False when some are left: call it again. What was read
        before, in another run of the program, counts for little.
        """
        wanted = {tool.name: tool for tool in tools if tool.enabled}
        for name in [name for name in self._tools if name not in wanted]:
            self._drop(name)
        held = self._tools
        # The same object is by far the most common case, and this runs for every tool at every portion.
        unread = [t for name, t in wanted.items() if held.get(name) is not t and not self._is_read(t)]
        spent, done = 0.0, 0
        while done < len(unread) and (at_most is None or spent < at_most):
            spent += self._put(unread[done])
            done += 1
        if self.postings.size > 2 * len(self.postings) + _MOST_GAPS:
            self._renumber()
        return done == len(unread)

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
        first = self.known(always_on)
        asked = read_question(question, context)
        best = self._best(asked, k, leave_out={tool.name for tool in first})
        return assemble(first, best, self.known(recent))

    @property
    def rows(self) -> Mapping[str, int]:
        """The row of each tool, by its public name."""
        return self._rows

    def tool(self, row: int) -> Tool:
        """The tool of a row."""
        return self._tools[self._names[row]]

    def has(self, row: int) -> bool:
        """Whether a row is a tool's."""
        return row in self._names

    def name(self, row: int) -> str:
        """The public name of a row's tool."""
        return self._names[row]

    def known(self, names: Iterable[str]) -> list[Tool]:
        """The tools of these names that are there, each once."""
        return [self._tools[name] for name in dict.fromkeys(names) if name in self._tools]

    def scores(self, asked: Question) -> Scores:
        """How well each row fits, the best clause of a question counted; 0 for rows that are gone."""
        import numpy as np

        scores = self.postings.score(asked.terms)
        top = float(scores.max(initial=0.0))
        for clause in asked.clauses:
            fits = self.postings.score(clause)
            best = float(fits.max(initial=0.0))
            if best and top:
                # A clause's best tool may stand beside the whole question's, the nearer the more it matches.
                scores = np.maximum(scores, fits * math.sqrt(top / best))
        before = self.postings.score(asked.context)
        best = float(before.max(initial=0.0))
        return scores + before * (CONTEXT_SHARE * (top or 1.0) / best) if best else scores

    def exact(self, asked: Question) -> dict[str, str]:
        """The tools whose whole name stands in the question, and how it stands there."""
        return {name: word for word in reversed(asked.names) for name in self._named.get(word.casefold(), ())}

    def reasons(self, tool: Tool, score: float, asked: Question) -> list[Reason]:
        """Which fields of a tool hold which words of a question."""
        return reasons(tool, score, asked, self.postings.rarity, CONTEXT_SHARE)

    def _best(self, asked: Question, k: int, leave_out: Collection[str]) -> list[Pick]:
        if k < 1 or not self._tools:
            return []
        scores = self.scores(asked)
        named = self.exact(asked)
        top = float(scores.max(initial=0.0)) or 1.0
        for name in named:
            scores[self._rows[name]] += top
        for name in leave_out:
            scores[self._rows[name]] = 0.0
        order = first_rows(scores, k, self._names)
        return [self._pick(row, float(scores[row]), asked, named, top) for row in order if scores[row] > 0]

    def _pick(self, row: int, score: float, asked: Question, named: Mapping[str, str], top: float) -> Pick:
        tool = self.tool(row)
        exact = named.get(tool.name)
        why = [] if exact is None else [Reason(field="exact name", terms=(exact,), score=round(top, 3))]
        left = score if exact is None else score - top
        return Pick(tool=tool, score=round(score, 3), reasons=(*why, *self.reasons(tool, left, asked)))

    def _is_read(self, tool: Tool) -> bool:
        """True when its words are indexed; what else changed of it is then taken over."""
        known = self._tools.get(tool.name)
        if known is None or (known.hash, known.server) != (tool.hash, tool.server):
            return False
        self._tools[tool.name] = tool
        return True

    def _put(self, tool: Tool) -> float:
        """Take in a tool; returns what that cost."""
        self._drop(tool.name)
        self._tools[tool.name] = tool
        row, cost = self._place(tool)
        self._rows[tool.name] = row
        self._names[row] = tool.name
        if self.rows_changed is not None:
            self.rows_changed.put(row, tool)
        for name in (tool.name, tool.definition.name):
            self._named.setdefault(name.casefold(), set()).add(tool.name)
        return cost

    def _place(self, tool: Tool) -> tuple[int, float]:
        """The row that a tool's words got, from the cache where they are there, and the cost."""
        key = key_of(tool) if self._words is not None else None
        if self._words is None or key is None:
            return self.postings.put(term_weights(tool)), 1.0
        kept = self._words.find(key)
        row = self.postings.take(*kept) if kept is not None else None
        if row is not None:
            return row, _TAKEN
        weights = term_weights(tool)
        if kept is None:
            self._words.add(key, weights)
        return self.postings.put(weights), 1.0

    def _drop(self, name: str) -> None:
        tool = self._tools.pop(name, None)
        if tool is None:
            return
        row = self._rows.pop(name)
        del self._names[row]
        self.postings.drop(row)
        if self.rows_changed is not None:
            self.rows_changed.drop(row)
        for spelling in {tool.name.casefold(), tool.definition.name.casefold()}:
            self._named[spelling].discard(name)
            if not self._named[spelling]:
                del self._named[spelling]

    def _renumber(self) -> None:
        fresh = self.postings.renumber()
        self._rows = {name: fresh[row] for name, row in self._rows.items()}
        self._names = {row: name for name, row in self._rows.items()}
        if self.rows_changed is not None:
            self.rows_changed.renumber(fresh)


def first_rows(scores: Scores, k: int, names: Mapping[int, str]) -> list[int]:
    """The best `k` rows; equal ones in order of name."""
    import numpy as np

    if len(scores) > k:
        least = np.partition(scores, len(scores) - k)[len(scores) - k]
        near = np.flatnonzero(scores >= least).tolist()
    else:
        near = list(range(len(scores)))
    return sorted((row for row in near if row in names), key=lambda row: (-scores[row], names[row]))[:k]
