"""Finds tools by words and meaning; by words alone until vectors are available, with a note such as "Ranked
by words alone". Sets which text of a tool is embedded and how much earlier messages count.

It follows the registry and always answers at once: missing vectors are computed in the background, and the
selection's note says so.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import islice

from toolcrib.retrieval import arithmetic
from toolcrib.retrieval.embedding_service import EmbeddingService
from toolcrib.retrieval.index import CONTEXT_SHARE, Index, follow
from toolcrib.retrieval.query import Query, read_query
from toolcrib.retrieval.ranking import (
    DENSE_ONLY,
    WITH_TOKENS,
    Evidence,
    gather,
    likelihood,
    share_of_meaning,
)
from toolcrib.retrieval.selection import Pick, Selection, assemble
from toolcrib.retrieval.vector_cache import key_of
from toolcrib.retrieval.vectors import Vectors
from toolcrib.schema.tools import Reason, Tool

LONGEST_SENTENCE = 200
"""Characters of the description; longer ones gain nothing."""
_LONGEST_NAME = 120
_LOOKED_AT = 2_000
_HUMP = re.compile(r"([a-z0-9])([A-Z])")
_ACRONYM = re.compile(r"([A-Z]+)([A-Z][a-z])")
_DIGIT = re.compile(r"([A-Za-z])(\d)")
_OTHER = re.compile(r"[^\w]+|_+")
_SENTENCE = re.compile(r"(?<=[.!?\n])\s")


def passage(name: str, server: str, description: str) -> str:
    """`github: create issue. Creates a new issue in a repository.`

    Changing this text requires training the model again.
    """
    before = f"{spaced(server)}: " if server else ""
    return f"{before}{spaced(name)}. {first_sentence(description)}".rstrip()


@lru_cache(maxsize=8192)
def spaced(name: str) -> str:
    """A name as words: `createPullRequest` gives `create Pull Request`."""
    name = name[:_LONGEST_NAME]
    parted = _DIGIT.sub(r"\1 \2", _ACRONYM.sub(r"\1 \2", _HUMP.sub(r"\1 \2", name)))
    return _OTHER.sub(" ", parted).strip()


def first_sentence(text: str) -> str:
    return _SENTENCE.split(text[:_LOOKED_AT].strip() + " ", maxsplit=1)[0][:LONGEST_SENTENCE].strip()


ENOUGH = 0.9
"""Share of tools that must have vectors before meaning is used; the others would be at a disadvantage."""
Fit = tuple[float, float]
"""A tool's probability, and the share of it that is due to meaning."""
_SAID = 240
"""Characters of each of the last two messages."""
LOOKED_UP = 500
"""Vectors looked up before other tasks get their turn."""
FEW_MISSING = 500
"""Vectors that are computed within about a second."""
_FEW_WORDS = 2
"""A question with no more words counts as much as the messages before it."""


class Finder:
    """The tools of a snapshot, searchable by words and meaning. Not thread-safe."""

    def __init__(self, meaning: EmbeddingService | None = None) -> None:
        self.index = Index(words=meaning.words if meaning is not None else None)
        self.index.rows_changed = self
        self._meaning = meaning
        self._vectors: Vectors | None = None
        self._following = asyncio.Lock()
        self._missing: dict[int, bytes] = {}
        self._texts: dict[bytes, str] = {}

    def __len__(self) -> int:
        return len(self.index)

    async def follow(self, tools: Callable[[], Iterable[Tool]]) -> None:
        """Index what `tools` returns, in short steps; request vectors for new tools."""
        await arithmetic.prepare_beside_loop()
        async with self._following:
            await follow(self.index, tools)
            await self._take_all()
        if self._meaning is None:
            return
        self._meaning.keep_words()
        if self._missing:
            self._meaning.want({key: self._texts[key] for key in self._missing.values()})

    async def settle(self) -> None:
        """Wait for the vectors of all indexed tools, as far as available."""
        if self._meaning is not None and self._missing:
            await self._meaning.settle()
            await self._take_all()

    async def settle_soon(self, seconds: float) -> None:
        """Wait for so long if only few vectors are missing; searching by words need not wait for many."""
        if 0 < len(self._missing) <= FEW_MISSING:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self.settle()

    async def select(
        self,
        question: str,
        k: int = 5,
        *,
        always_on: Sequence[str] = (),
        recent: Sequence[str] = (),
        context: Sequence[str] = (),
    ) -> Selection:
        """The tools in `always_on`, then the best `k`, then those in `recent` (newest first).

        `context` are the messages before the question, newest last.
        """
        first = self.index.known(always_on)
        asked = read_query(question, context)
        likely = await self._likely(question, asked, context) if asked.terms or asked.context else {}
        if likely is None:
            found = self.index.select(question, k, always_on=always_on, recent=recent, context=context)
            return Selection(picks=found.picks, note=self._note())
        best = self._best(asked, likely, k, {tool.name for tool in first})
        return assemble(first, best, self.index.known(recent))

    async def _likely(self, question: str, asked: Query, context: Sequence[str]) -> dict[str, Fit] | None:
        """Each candidate's probability; None without vectors."""
        self._take()
        if self._meaning is None or self._vectors is None or not len(self.index):
            return None
        if len(self._vectors) < ENOUGH * len(self.index):
            return None
        alone = await self._evidence(question, asked)
        if alone is None:
            return None
        likely = self._weighed(alone)
        said = " ".join(text[:_SAID] for text in context[-2:])
        together = (
            await self._evidence(f"{said} {question}", read_query(f"{said} {question}")) if said else None
        )
        if together is not None:
            share = 0.5 if len(asked.terms) <= _FEW_WORDS else CONTEXT_SHARE
            likely = _blend(likely, self._weighed(together), share)
        return likely

    async def _evidence(self, text: str, asked: Query) -> Evidence | None:
        assert self._meaning is not None
        parts = await self._meaning.read(text, asked.spans)
        if parts is None or self._vectors is None or len(parts[0].vector) != self._vectors.dimension:
            return None
        return gather(asked, parts, self.index, self._vectors)

    def _weighed(self, evidence: Evidence) -> dict[str, Fit]:
        embedder = self._meaning.embedder if self._meaning else None
        kind = WITH_TOKENS if embedder is not None and embedder.token_width else DENSE_ONLY
        likely, share = likelihood(evidence, kind), share_of_meaning(evidence, kind)
        fits = zip(likely.tolist(), share.tolist(), strict=True)
        # By name, because rows may change while vectors are awaited.
        return dict(zip(map(self.index.name, evidence.rows.tolist()), fits, strict=True))

    def _best(
        self, asked: Query, likely: Mapping[str, Fit], k: int, leave_out: Collection[str]
    ) -> list[Pick]:
        named = self.index.exact(asked)
        scores = {name: 100 * chance for name, (chance, _) in likely.items() if name in self.index.rows}
        for name in named:
            scores[name] = scores.get(name, 0.0) + 100.0
        order = sorted(scores, key=lambda name: (-scores[name], name))
        kept = [name for name in order if name not in leave_out][: max(k, 0)]
        return [
            self._pick(name, scores[name], likely.get(name, (0.0, 0.0))[1], asked, named) for name in kept
        ]

    def _pick(self, name: str, score: float, share: float, asked: Query, named: Mapping[str, str]) -> Pick:
        tool = self.index.tool(self.index.rows[name])
        exact = named.get(name)
        why, left = [], score
        if exact is not None:
            why, left = [Reason(field="exact name", terms=(exact,), score=100.0)], max(score - 100.0, 0.0)
        found = self.index.reasons(tool, left * (1 - share), asked)
        if share and left:
            meant = left * share if found else left
            found = [Reason(field="meaning", terms=(), score=round(meant, 3)), *found]
        return Pick(tool=tool, score=round(score, 3), reasons=(*why, *found))

    def _note(self) -> str:
        if self._meaning is None:
            return ""
        if self._meaning.note or self._meaning.embedder is None:
            return self._meaning.note
        if not self._missing:
            return ""
        left, whole = len(self._missing), len(self.index)
        return f"Ranked by words alone: the vectors of {left} of {whole} tools are still being computed."

    async def _take_all(self) -> None:
        for _ in range(len(self._missing) // LOOKED_UP + 1):
            self._take()
            await asyncio.sleep(0)

    def _take(self) -> None:
        """Take over newly computed vectors of some tools; the others come next time."""
        if self._meaning is None:
            return
        for row, key in list(islice(self._missing.items(), LOOKED_UP)):
            del self._missing[row]
            embedded = self._meaning.get(key)
            if embedded is None:
                self._missing[row] = key  # now the last one
                continue
            if self._vectors is None or self._vectors.dimension != len(embedded.vector):
                self._vectors = Vectors(len(embedded.vector))
            self._vectors.put(row, embedded)
            self._texts.pop(key, None)

    def put(self, row: int, tool: Tool) -> None:
        if self._meaning is None or self._meaning.embedder is None:
            return
        text = passage(tool.definition.name, tool.server or "", tool.definition.description)
        key = key_of(text)
        self._missing[row] = key
        self._texts[key] = text

    def drop(self, row: int) -> None:
        self._missing.pop(row, None)
        if self._vectors is not None:
            self._vectors.drop(row)

    def renumber(self, fresh: Mapping[int, int]) -> None:
        self._missing = {fresh[row]: key for row, key in self._missing.items()}
        if self._vectors is not None:
            self._vectors.renumber(fresh)


def _blend(one: Mapping[str, Fit], other: Mapping[str, Fit], share: float) -> dict[str, Fit]:
    none = (0.0, 1.0)
    return {
        name: (
            (1 - share) * one.get(name, none)[0] + share * other.get(name, none)[0],
            one.get(name, other.get(name, none))[1],
        )
        for name in {*one, *other}
    }
