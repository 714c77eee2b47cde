"""Ranks tools by the words they share with a question: BM25 over weighted fields, with reasons, exact names,
and the share that earlier messages add. The weights are in `documents.py`.

Following the registry is cheap for unchanged tools. Deterministic: no clock, disk or socket, and the order of
the tools does not matter.

`Postings` knows which rows contain which word; rows are added and removed one by one. Cached tools are used
directly from disk (see `word_cache.py`); new ones take twelve bytes a posting. Row numbers are not reused
until `renumber`.
"""

from __future__ import annotations

import asyncio
import heapq
import math
from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from toolcrib.retrieval import arithmetic
from toolcrib.retrieval.documents import field_counts, saturated, term_weights
from toolcrib.retrieval.query import Query, read_query
from toolcrib.retrieval.selection import Pick, Selection, assemble
from toolcrib.retrieval.word_cache import Block, WordCache, key_of
from toolcrib.schema.tools import Reason, Tool

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Scores = NDArray[np.float64]
    Rows = NDArray[np.int32]

_NO_ROW = -1
CONTEXT_SHARE = 0.3
"""How much the messages before a question can add, relative to the best match."""
_MOST_GAPS = 1000
AT_ONCE = 40
"""Definitions read before other tasks get their turn: some ten milliseconds."""
_USUAL_TOKENS = 150
_TAKEN = 0.05
"""The cost of a cached tool, where reading one costs 1."""


class Postings:
    """An inverted index; word weights are computed on demand."""

    def __init__(self) -> None:
        self._terms: dict[str, tuple[array[int], array[float]]] = {}
        self._holders: dict[str, int] = {}
        self._documents: dict[int, tuple[str, ...]] = {}
        self._alive = bytearray()
        self._blocks: dict[Block, Rows] = {}
        """For each tool of a block its row, or none."""
        self._taken: dict[int, tuple[Rows, int]] = {}
        self._counted: dict[str, int] = {}
        """Rows that contain a word, for words used since the last change."""
        self.size = 0
        """All rows ever added, including removed ones."""

    def __len__(self) -> int:
        return len(self._documents) + len(self._taken)

    def put(self, weights: Mapping[str, float]) -> int:
        """Add a document; returns its row."""
        row = self._next()
        self._documents[row] = tuple(weights)
        for term, weight in weights.items():
            found = self._terms.get(term)
            if found is None:
                found = self._terms[term] = (array("i"), array("d"))
            found[0].append(row)
            found[1].append(weight)
            self._holders[term] = self._holders.get(term, 0) + 1
        return row

    def take(self, block: Block, number: int) -> int | None:
        """Add a cached document; returns its row, or None if it is already added."""
        rows = self._blocks.get(block)
        if rows is None:
            import numpy as np

            rows = self._blocks[block] = np.full(len(block.keys), _NO_ROW, np.int32)
        if rows[number] != _NO_ROW:
            return None
        row = self._next()
        rows[number] = row
        self._taken[row] = (rows, number)
        return row

    def drop(self, row: int) -> None:
        self._alive[row] = 0
        self._counted.clear()
        taken = self._taken.pop(row, None)
        if taken is not None:
            taken[0][taken[1]] = _NO_ROW
            return
        for term in self._documents.pop(row):
            self._holders[term] -= 1
            if not self._holders[term]:
                del self._holders[term], self._terms[term]

    def rarity(self, term: str) -> float:
        """BM25's inverse document frequency; 0 for an unknown word."""
        holders = self._counted.get(term)
        if holders is None:
            holders = self._counted[term] = self._count(term)
        if not holders:
            return 0.0
        return math.log(1 + (len(self) - holders + 0.5) / (holders + 0.5))

    def score(self, terms: Mapping[str, float]) -> Scores:
        """The score of every row for these weighted words; 0 for removed rows."""
        arithmetic.prepare()
        import numpy as np

        # One extra for documents without a row (-1).
        scores = np.zeros(self.size + 1)
        for term, importance in terms.items():
            worth = self.rarity(term) * importance
            found = self._terms.get(term)
            if found is not None:
                scores[np.frombuffer(found[0], np.intc)] += np.frombuffer(found[1]) * worth
            for block, rows in self._blocks.items():
                held = block.find(term)
                if held is not None:
                    scores[rows[held[0]]] += held[1] * worth
        return scores[:-1] * np.frombuffer(bytes(self._alive), np.uint8)

    def renumber(self) -> dict[int, int]:
        """Close the gaps; returns the new row of each old one."""
        fresh = {old: new for new, old in enumerate(sorted([*self._documents, *self._taken]))}
        for term, (rows, weights) in self._terms.items():
            kept = [(fresh[row], weight) for row, weight in zip(rows, weights, strict=True) if row in fresh]
            self._terms[term] = (
                array("i", [row for row, _ in kept]),
                array("d", [weight for _, weight in kept]),
            )
        for row, (rows_of_block, number) in self._taken.items():
            rows_of_block[number] = fresh[row]
        self._documents = {fresh[row]: terms for row, terms in self._documents.items()}
        self._taken = {fresh[row]: place for row, place in self._taken.items()}
        self._blocks = {block: rows for block, rows in self._blocks.items() if (rows != _NO_ROW).any()}
        self.size = len(fresh)
        self._alive = bytearray(b"\1" * len(fresh))
        return fresh

    def _next(self) -> int:
        self.size += 1
        self._alive.append(1)
        self._counted.clear()
        return self.size - 1

    def _count(self, term: str) -> int:
        count = self._holders.get(term, 0)
        for block, rows in self._blocks.items():
            held = block.find(term)
            if held is not None:
                count += int((rows[held[0]] != _NO_ROW).sum())
        return count


class RowKeeper(Protocol):
    """Keeps its own data for each row."""

    def put(self, row: int, tool: Tool) -> None: ...

    def drop(self, row: int) -> None: ...

    def renumber(self, fresh: Mapping[int, int]) -> None:
        """Each remaining row has a new number."""
        ...


class Index:
    """The tools of a snapshot, searchable by words. Not thread-safe."""

    def __init__(self, tools: Iterable[Tool] = (), words: WordCache | None = None) -> None:
        self._words = words
        self._tools: dict[str, Tool] = {}
        self._rows: dict[str, int] = {}
        self._names: dict[int, str] = {}
        self._named: dict[str, set[str]] = {}
        self.postings = Postings()
        self.rows_changed: RowKeeper | None = None
        """Notified of added and removed rows."""
        self.update(tools)

    def __len__(self) -> int:
        return len(self._tools)

    def update(self, tools: Iterable[Tool]) -> None:
        """Index exactly these tools, without disabled ones."""
        for _ in self.update_in_steps(tools):
            pass

    def update_in_steps(self, tools: Iterable[Tool]) -> Iterator[None]:
        """Like `update`; yields after each portion. Cached definitions cost little."""
        wanted = {tool.name: tool for tool in tools if tool.enabled}
        held = self._tools
        gone = [name for name in held if name not in wanted]
        # Mostly the same object, and this runs for every tool every time.
        unread = [t for name, t in wanted.items() if held.get(name) is not t and not self._is_read(t)]
        spent = 0.0
        for name in gone:
            self._drop(name)
            if (spent := spent + _TAKEN) > AT_ONCE:
                yield
                spent = 0.0
        for tool in unread:
            spent += self._put(tool) * (1 + tool.tokens / _USUAL_TOKENS)
            if spent > AT_ONCE:
                yield
                spent = 0.0
        if self.postings.size > 2 * len(self.postings) + _MOST_GAPS:
            self._renumber()

    def select(
        self,
        question: str,
        k: int = 5,
        *,
        always_on: Sequence[str] = (),
        recent: Sequence[str] = (),
        context: Sequence[str] = (),
    ) -> Selection:
        """The tools in `always_on`, then the best `k`, then those in `recent` (newest first).

        `context` are the messages before the question, newest last: they break ties and help short questions.
        Tools that share no word with either are not selected.
        """
        first = self.known(always_on)
        asked = read_query(question, context)
        best = self._best(asked, k, leave_out={tool.name for tool in first})
        return assemble(first, best, self.known(recent))

    @property
    def rows(self) -> Mapping[str, int]:
        """The row of each tool, by public name."""
        return self._rows

    def tool(self, row: int) -> Tool:
        return self._tools[self._names[row]]

    def has(self, row: int) -> bool:
        return row in self._names

    def name(self, row: int) -> str:
        return self._names[row]

    def known(self, names: Iterable[str]) -> list[Tool]:
        """The known tools among these names, each once."""
        return [self._tools[name] for name in dict.fromkeys(names) if name in self._tools]

    def scores(self, asked: Query) -> Scores:
        """The score of each row, by the whole question or its best clause; 0 for removed rows."""
        import numpy as np

        scores = self.postings.score(asked.terms)
        top = float(scores.max(initial=0.0))
        for clause in asked.clauses:
            fits = self.postings.score(clause)
            best = float(fits.max(initial=0.0))
            if best and top:
                # A clause's best tool may rank beside the whole question's, the better it matches.
                scores = np.maximum(scores, fits * math.sqrt(top / best))
        before = self.postings.score(asked.context)
        best = float(before.max(initial=0.0))
        return scores + before * (CONTEXT_SHARE * (top or 1.0) / best) if best else scores

    def exact(self, asked: Query) -> dict[str, str]:
        """Tools whose full name is in the question, with the name as written there."""
        return {name: word for word in reversed(asked.names) for name in self._named.get(word.casefold(), ())}

    def reasons(self, tool: Tool, score: float, asked: Query) -> list[Reason]:
        return reasons(tool, score, asked, self.postings.rarity, CONTEXT_SHARE)

    def _best(self, asked: Query, k: int, leave_out: Collection[str]) -> list[Pick]:
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

    def _pick(self, row: int, score: float, asked: Query, named: Mapping[str, str], top: float) -> Pick:
        tool = self.tool(row)
        exact = named.get(tool.name)
        why = [] if exact is None else [Reason(field="exact name", terms=(exact,), score=round(top, 3))]
        left = score if exact is None else score - top
        return Pick(tool=tool, score=round(score, 3), reasons=(*why, *self.reasons(tool, left, asked)))

    def _is_read(self, tool: Tool) -> bool:
        """Whether its words are indexed; its other changes are then taken over."""
        known = self._tools.get(tool.name)
        if known is None or (known.hash, known.server) != (tool.hash, tool.server):
            return False
        self._tools[tool.name] = tool
        return True

    def _put(self, tool: Tool) -> float:
        """Add a tool; returns the cost."""
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
        """The row for a tool's words, cached if possible, and the cost."""
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
    """The best `k` rows; ties in order of name."""
    import numpy as np

    if len(scores) > k:
        least = np.partition(scores, len(scores) - k)[len(scores) - k]
        near = np.flatnonzero(scores >= least).tolist()
    else:
        near = list(range(len(scores)))
    known = (row for row in near if row in names)
    return heapq.nsmallest(k, known, key=lambda row: (-scores[row], names[row]))


def reasons(
    tool: Tool, score: float, asked: Query, rarity: Callable[[str], float], context_share: float
) -> list[Reason]:
    """Which fields contain which words; the shares add up to the score."""
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


async def follow(index: Index, tools: Callable[[], Iterable[Tool]]) -> None:
    """Index what `tools` returns, in short steps."""
    for _ in index.update_in_steps(tools()):
        await asyncio.sleep(0)
