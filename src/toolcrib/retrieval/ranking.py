"""Decides the final order of a tool search by words and meaning: how many candidates are taken, which
features count (server named in the question, matching verb, clauses), and the score, a weighted sum of
them (weights: `model/order.json`).

Features cover the whole question and its clauses, words and meaning, tool and server. They mean the same for
three tools as for fifty thousand, so that fitted weights carry over; the model is linear for the same reason,
and so that each part of a score can be explained.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from toolcrib.retrieval.documents import SATURATION
from toolcrib.retrieval.embedder import QueryVectors
from toolcrib.retrieval.index import Index
from toolcrib.retrieval.query import Query
from toolcrib.retrieval.vectors import Vectors
from toolcrib.retrieval.words import stems, verbs_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Column = NDArray[np.float64]
    Table = NDArray[np.float64]
    Rows = NDArray[np.int64]
    Floats = NDArray[np.float64]


BY_MEANING, BY_WORDS, BY_CLAUSE = 100, 40, 40
"""Candidates taken by meaning, by words, and by each clause."""
_LONG = 20
"""Words; longer questions count as this long."""
_UNHEARD = 6.0
"""The rarity of a word that no tool has."""
_SOFT = 1e-6


@dataclass(frozen=True)
class Evidence:
    """The candidates of a question and their features."""

    rows: Rows
    table: Table
    """A row for each candidate, a column for each of `COLUMNS`."""


def gather(asked: Query, parts: Sequence[QueryVectors], index: Index, vectors: Vectors) -> Evidence:
    """Find candidates and compute their features; `parts` are the whole question and then its clauses."""
    import numpy as np

    size = index.postings.size
    known = vectors.known(size)
    near = [_standard(vectors.dense(part, size), known) for part in parts]
    words, clause_words = index.scores(asked), [index.postings.score(terms) for terms in asked.clauses]
    rows = _candidates(near, [words, *clause_words])
    rows = rows[[index.has(row) for row in rows.tolist()]]
    peak = float(index.postings.score(asked.terms).max(initial=0.0)) / _ideal(asked, index)
    table = {
        **_meaning(parts[0], near[0], vectors, rows, peak, _length(asked)),
        **_words(words, clause_words, rows, peak, _length(asked)),
        **_clauses(parts[1:], near[1:], vectors, rows),
        **_names(asked, index, rows),
    }
    return Evidence(rows, np.stack([table[name] for name in COLUMNS], 1))


def _candidates(near: Sequence[Column], words: Sequence[Column]) -> Rows:
    import numpy as np

    chosen = [_best(near[0] + 0.1 * _scaled(words[0]), BY_MEANING), _best(words[0], BY_WORDS)]
    chosen += [_best(ranked, BY_CLAUSE) for ranked in (*near[1:], *words[1:])]
    return np.unique(np.concatenate(chosen))


def _meaning(
    part: QueryVectors, near: Column, vectors: Vectors, rows: Rows, peak: float, length: float
) -> dict[str, Column]:
    """Similarity by meaning; it counts more if words say little, and in short questions."""
    forth, back = vectors.late(part, rows)
    near_gap, late_gap = near[rows] - near[rows].max(), forth - forth.max()
    return {
        "near x rest": near_gap * (1 - peak),
        "late x rest": late_gap * (1 - peak),
        "near x short": near_gap * (1 - length),
        "late x short": late_gap * (1 - length),
        "covered": back - back.max(),
    }


def _words(
    words: Column, clauses: Sequence[Column], rows: Rows, peak: float, length: float
) -> dict[str, Column]:
    """Similarity by words; it counts as far as the best match is good, and in long questions."""
    import numpy as np

    share = words[rows] / (float(words.max(initial=0.0)) + _SOFT)
    best = np.zeros(len(rows))
    for column in clauses:
        best = np.maximum(best, column[rows] / (float(column.max(initial=0.0)) + _SOFT))
    return {
        "words x long": share * length,
        "words x peak x long": share * peak * length,
        "words rank x peak": _rank(words[rows]) * peak,
        "clause words x peak x long": best * peak * length,
    }


def _clauses(
    parts: Sequence[QueryVectors], near: Sequence[Column], vectors: Vectors, rows: Rows
) -> dict[str, Column]:
    """The best clause of each candidate, relative to the clause's own best."""
    import numpy as np

    if not parts:
        return {"clause": np.zeros(len(rows)), "clause near": np.zeros(len(rows))}
    best, dense = np.full(len(rows), -9.0), np.full(len(rows), -9.0)
    for part, column in zip(parts, near, strict=True):
        forth, _ = vectors.late(part, rows)
        late, here = forth - forth.max(), column[rows] - column[rows].max()
        best, dense = np.maximum(best, late + here / 8), np.maximum(dense, here)
    return {"clause": best, "clause near": dense}


def _names(asked: Query, index: Index, rows: Rows) -> dict[str, Column]:
    """Whether the question names the server, and whether the tool's verb matches."""
    import numpy as np

    rarity = {term: index.postings.rarity(term) or _UNHEARD for term in asked.terms}
    whole = sum(rarity.values()) + _SOFT
    wanted = verbs_of(asked.spoken.values())
    found = []
    for row in rows.tolist():
        tool = index.tool(row)
        server, _ = _stems_and_verbs(tool.server or "")
        named = sum(rarity[term] for term in server if term in rarity)
        _, verbs = _stems_and_verbs(tool.definition.name)
        found.append((named > 0, named / whole, not verbs.isdisjoint(wanted)))
    names = ("server met", "server share", "verb met")
    return dict(zip(names, np.array(found, np.float64).reshape(-1, len(names)).T, strict=True))


COLUMNS = (
    *("near x rest", "late x rest", "near x short", "late x short", "covered"),
    *("words x long", "words x peak x long", "words rank x peak", "clause words x peak x long"),
    *("clause", "clause near"),
    *("server met", "server share", "verb met"),
)
"""Higher values never count against a candidate: the weights are 0 or more."""


def _length(asked: Query) -> float:
    return min(len(asked.terms), _LONG) / _LONG


def _ideal(asked: Query, index: Index) -> float:
    """The score of a tool that had every word of the question."""
    rarity = index.postings.rarity
    return (
        sum((rarity(term) or _UNHEARD) * weight for term, weight in asked.terms.items()) * (SATURATION + 1)
        + _SOFT
    )


def _standard(near: NDArray[np.float32], known: NDArray[np.bool_]) -> Column:
    """In standard deviations from the mean; a row without a vector is at the mean."""
    import numpy as np

    held = near[known] if not known.all() else near
    if not len(held):
        return np.zeros(len(near))
    mean, spread = float(held.mean()), float(held.std()) + _SOFT
    return np.where(known, (near.astype(np.float64) - mean) / spread, 0.0)


def _scaled(values: Column) -> Column:
    return values / (float(values.std()) + _SOFT)


def _best(values: Column, count: int) -> Rows:
    import numpy as np

    if len(values) <= count:
        return np.arange(len(values))
    return np.argpartition(-values, count)[:count]


def _rank(values: Column) -> Column:
    import numpy as np

    order = np.empty(len(values))
    order[np.argsort(-values, kind="stable")] = np.arange(len(values))
    return 1 / (1 + order)


@lru_cache(maxsize=65_536)
def _stems_and_verbs(name: str) -> tuple[tuple[str, ...], frozenset[str]]:
    found = tuple(dict.fromkeys(stems(name)))
    return found, verbs_of(found[:3])


WEIGHTS = Path(__file__).parent / "model" / "order.json"
WITH_TOKENS, DENSE_ONLY = "late interaction", "dense"
_OF_MEANING = ("near", "late", "covered", "clause", "clause near")


@cache
def weights(kind: str) -> Floats:
    """The weight of each column, for embedders with or without token vectors."""
    import numpy as np

    told = json.loads(WEIGHTS.read_text(encoding="utf-8"))[kind]
    return np.array([told[name] for name in COLUMNS])


def likelihood(evidence: Evidence, kind: str) -> Floats:
    """The probability of each candidate; they sum up to 1."""
    import numpy as np

    scores = evidence.table @ weights(kind)
    grown = np.exp(scores - scores.max(initial=-np.inf))
    likely: Floats = grown / grown.sum()
    return likely


def share_of_meaning(evidence: Evidence, kind: str) -> Floats:
    """For each candidate, the share of its lead that is due to meaning rather than words."""
    import numpy as np

    lead = (evidence.table - evidence.table.mean(0)) * weights(kind)
    of_meaning = np.array([name.partition(" x ")[0] in _OF_MEANING for name in COLUMNS])
    seen, spoken = (np.maximum(lead[:, columns].sum(1), 0) for columns in (of_meaning, ~of_meaning))
    share: Floats = seen / np.maximum(seen + spoken, 1e-9)
    return share
