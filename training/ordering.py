"""Fits the weights of the last step: a linear order of the candidates, listwise, on several sets at once.

Written questions are looked at through runs that never saw them; the public sets are development sets, and
a set that is being reported is measured in folds or with weights that were fitted without it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.optimize import minimize

from toolcrib.retrieval.embedder import Embedded, QueryVectors
from toolcrib.retrieval.index import Index
from toolcrib.retrieval.query import read_query
from toolcrib.retrieval.ranking import COLUMNS, gather
from toolcrib.retrieval.vectors import Vectors
from toolcrib.schema.tools import Tool, ToolDefinition


@dataclass
class Asked:
    """One question: its candidates, what speaks for each, and which are right."""

    rows: np.ndarray
    table: np.ndarray
    right: np.ndarray
    needed: int
    kind: str = ""


@dataclass
class Ranked:
    """A set of questions."""

    name: str
    asked: list[Asked] = field(default_factory=list)


def as_tool(raw: Mapping[str, Any]) -> Tool:
    """A tool of a data set as the index takes it."""
    definition = ToolDefinition(name=raw["name"], raw=raw)
    return Tool(
        name=str(raw["id"]),
        server=raw.get("server") or None,
        origin="mcp",
        definition=definition,
        hash=str(raw["id"]),
        tokens=0,
    )


def look(
    name: str,
    tools: Sequence[Mapping[str, Any]],
    questions: Sequence[Mapping[str, Any]],
    embedded: Sequence[Embedded],
    parts: Iterable[Sequence[QueryVectors]],
) -> Ranked:
    """Gather the evidence for every question of a set."""
    index = Index([as_tool(raw) for raw in tools])
    vectors = Vectors(len(embedded[0].vector))
    for raw, one in zip(tools, embedded, strict=True):
        vectors.put(index.rows[str(raw["id"])], one)
    made = Ranked(name)
    for question, vectors_of in zip(questions, parts, strict=True):
        found = gather(read_query(question["query"]), vectors_of, index, vectors)
        named = [*question["relevant"], *question.get("acceptable", ()), *question.get("same_name", ())]
        fitting = {index.rows[str(one)] for one in named if str(one) in index.rows}
        right = np.array([row in fitting for row in found.rows.tolist()])
        made.asked.append(
            Asked(found.rows, found.table, right, len(question["relevant"]), question.get("kind") or "")
        )
    return made


def fit(
    sets: Sequence[Ranked],
    *,
    push: float = 0.002,
    shares: Mapping[str, float] | None = None,
    leave_out: Sequence[str] = (),
) -> np.ndarray:
    """Weights for `COLUMNS`: the likelihood of the right candidates among all of their question."""
    tables, rights, importance = [], [], []
    for one in sets:
        for asked in one.asked:
            if asked.right.any() and not asked.right.all():
                tables.append(asked.table)
                rights.append(asked.right / asked.right.sum())
                importance.append((shares or {}).get(one.name, 1.0) / len(one.asked) ** 0.5)
    counts = np.array([len(table) for table in tables])
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    group = np.repeat(np.arange(len(counts)), counts)
    everything = np.vstack(tables)
    # A column that is constant within a question cannot order it: what counts is the spread inside.
    centred = everything - (np.add.reduceat(everything, starts) / counts[:, None])[group]
    scale = centred.std(0) + 1e-6
    x, wanted = centred / scale, np.concatenate(rights)
    weight = np.array(importance) / sum(importance)

    def loss(w: np.ndarray) -> tuple[float, np.ndarray]:
        scores = x @ w
        scores -= np.maximum.reduceat(scores, starts)[group]
        grown = np.exp(scores)
        total = np.add.reduceat(grown, starts)[group]
        pulled = weight[group] * (grown / total - wanted)
        value = -(weight[group] * wanted * (scores - np.log(total))).sum() + push * (w @ w)
        return value, x.T @ pulled + 2 * push * w

    # No weight below 0: a column that is turned against its meaning would be turned by accident.
    bounds = [(0.0, None if name not in leave_out else 0.0) for name in COLUMNS]
    start = np.zeros(len(COLUMNS))
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": 300})
    return found.x / scale


def measure(ranked: Ranked, weights: np.ndarray, chosen: Iterable[int] | None = None) -> dict[str, float]:
    """Recall at 1, 5, 10 and nDCG at 10 in per cent."""
    found: dict[str, list[float]] = {}
    for number in range(len(ranked.asked)) if chosen is None else chosen:
        asked = ranked.asked[number]
        hits = asked.right[np.argsort(-(asked.table @ weights), kind="stable")]
        for k in (1, 5, 10):
            found.setdefault(f"r{k}", []).append(min(hits[:k].sum(), asked.needed) / asked.needed)
        places = np.flatnonzero(hits[:10])[: asked.needed]
        ideal = sum(1 / math.log2(place + 2) for place in range(min(asked.needed, 10)))
        found.setdefault("ndcg", []).append(sum(1 / math.log2(place + 2) for place in places) / ideal)
        if asked.kind:
            found.setdefault(asked.kind, []).append(found["r5"][-1])
        found.setdefault("pool", []).append(min(asked.right.sum(), asked.needed) / asked.needed)
    return {name: 100 * float(np.mean(values)) for name, values in found.items()}
