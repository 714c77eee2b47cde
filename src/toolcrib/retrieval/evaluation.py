"""Scores labelled questions: how often the right tools are among the first 1, 5 and 10, and nDCG. Reads the
files of questions and tools, with error messages for invalid lines.

A question is a line of JSON with `query`, `relevant` (names or ids of tools) and optionally `acceptable`
ones, which are right but not required. With R the relevant and A the acceptable tools, recall at k is
min(|first k in R or A|, |R|) / |R|; nDCG gives a gain of 1 to the first |R| hits.
"""

from __future__ import annotations

import gzip
import json
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toolcrib.errors import UsageError
from toolcrib.schema.tools import Tool, ToolDefinition
from toolcrib.serverkit.bounded_read import read_bounded

DEPTH = 10
_MOST_BYTES = 512 * 1024 * 1024


@dataclass(frozen=True)
class Labelled:
    query: str
    relevant: frozenset[str]
    fitting: frozenset[str]
    """The relevant and the acceptable tools."""


def read_questions(path: Path) -> list[Labelled]:
    """The questions of a `.jsonl` file, gzipped or not; raises `UsageError` with the line."""
    rows = _read(path)
    made = []
    for number, row in rows:
        relevant = _names(row.get("relevant"))
        if not isinstance(row.get("query"), str) or not relevant:
            raise UsageError(
                f"{path}, line {number}: a question needs a text `query` and a list `relevant`.",
                hint='Such as: {"query": "open an issue", "relevant": ["github__create_issue"]}',
            )
        others = _names(row.get("acceptable")) | _names(row.get("same_name"))
        made.append(Labelled(row["query"], relevant, relevant | others))
    if not made:
        raise UsageError(f"{path} contains no questions.", hint="Use a file with one JSON object per line.")
    return made


def read_tools(path: Path) -> list[Tool]:
    """The tools of such a file: `id` or `name`, `description`, `inputSchema`, `server`."""
    made: dict[str, Tool] = {}
    for number, row in _read(path):
        name = row.get("name")
        if not isinstance(name, str) or not name:
            raise UsageError(f"{path}, line {number}: a tool needs a `name`.", hint="")
        key = row.get("id", name)
        server = row.get("server")
        made[str(key)] = Tool(
            name=str(key),
            server=server if isinstance(server, str) and server else None,
            origin="mcp",
            definition=ToolDefinition(name=name, raw=row),
            hash=str(number),
            tokens=0,
        )
    return list(made.values())


@dataclass
class RankingScore:
    n: int = 0
    found_1: float = 0.0
    found_5: float = 0.0
    found_10: float = 0.0
    gain: float = 0.0
    seconds: float = 0.0

    def add(self, question: Labelled, order: Sequence[str], seconds: float) -> None:
        """Add one answer: tool names, best first."""
        self.n += 1
        self.seconds += seconds
        self.found_1 += recall(question, order, 1)
        self.found_5 += recall(question, order, 5)
        self.found_10 += recall(question, order, 10)
        self.gain += ndcg(question, order)

    def as_json(self) -> dict[str, float]:
        """Means from 0 to 1."""
        n = max(self.n, 1)
        return {
            "n": self.n,
            "recall_at_1": round(self.found_1 / n, 4),
            "recall_at_5": round(self.found_5 / n, 4),
            "recall_at_10": round(self.found_10 / n, 4),
            "ndcg_at_10": round(self.gain / n, 4),
            "ms_per_query": round(1000 * self.seconds / n, 2),
        }


def recall(question: Labelled, order: Sequence[str], k: int) -> float:
    """The share of the relevant tools among the first `k`."""
    hits = sum(name in question.fitting for name in order[:k])
    return min(hits, len(question.relevant)) / len(question.relevant)


def ndcg(question: Labelled, order: Sequence[str]) -> float:
    """How early the hits are, compared with the best possible order."""
    places = [place for place, name in enumerate(order[:DEPTH]) if name in question.fitting]
    needed = len(question.relevant)
    ideal = _gain(range(min(needed, DEPTH)))
    return _gain(places[:needed]) / ideal


def _gain(places: Collection[int]) -> float:
    return sum(1 / math.log2(place + 2) for place in places)


def _names(value: Any) -> frozenset[str]:
    return frozenset(str(item) for item in value) if isinstance(value, list) else frozenset()


def _read(path: Path) -> list[tuple[int, Mapping[str, Any]]]:
    try:
        data = read_bounded(path, _MOST_BYTES)
        if data[:2] == b"\x1f\x8b":
            with gzip.open(path) as file:
                data = file.read(_MOST_BYTES + 1)
        text = data[:_MOST_BYTES].decode("utf-8")
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise UsageError(
            f"{path} cannot be read: {error}.", hint="Use a .jsonl file, gzipped or not."
        ) from error
    rows = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            rows.append((number, _object(path, number, line)))
    return rows


def _object(path: Path, number: int, line: str) -> Mapping[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path}, line {number}: not JSON.", hint="Use one JSON object per line.") from error
    if not isinstance(row, dict):
        raise UsageError(f"{path}, line {number}: not an object.", hint="Use one JSON object per line.")
    return row
