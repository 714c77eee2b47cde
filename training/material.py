"""Reads the training material and cuts it into tokens, so that the machine with the GPU needs nothing else.

What is never trained on: a question that also stands in a development set. The pairs hold some of the public
ones; they are left out here.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import lzma
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Tokenizer

from toolcrib.retrieval.finder import spaced
from training.texts import views

FOLDS = 4
LONGEST_QUESTION = 64
LONGEST_TOOL = 80
DEVELOPMENT = ("mcp_real", "bfcl", "metatool", "sealtools")
WRITTEN = "questions"
"""The source that the written questions are counted under."""


@dataclass
class Material:
    """Everything a run needs, as lists of token ids."""

    sources: list[str] = field(default_factory=list)
    questions: list[list[int]] = field(default_factory=list)
    source: list[int] = field(default_factory=list)
    fold: list[int] = field(default_factory=list)
    """Of a written question: the fold of its server, and of a tool's own words the same; otherwise -1."""
    right: list[list[int]] = field(default_factory=list)
    """Tools that answer the question."""
    spared: list[list[int]] = field(default_factory=list)
    """Tools that may answer it too: never a counterexample."""
    siblings: list[list[int]] = field(default_factory=list)
    """Tools of the same server that surely do not: the counterexamples that matter."""
    tools: list[list[list[int]]] = field(default_factory=list)
    """Each tool's views."""


def fold_of(server: str) -> int:
    """All tools of a server fall into the same fold, on every machine."""
    return int(hashlib.sha256(server.encode()).hexdigest(), 16) % FOLDS


def read_lines(path: Path) -> list[dict[str, Any]]:
    """The objects of a `.jsonl` file, compressed or not."""
    opened = {".gz": gzip.open, ".xz": lzma.open}.get(path.suffix, open)
    with opened(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]


def read_material(data: Path, tokenizer: Tokenizer) -> Material:
    """The public pairs and the written questions of a data folder."""
    tools = read_lines(data / "written/tools.jsonl.gz")
    asked = read_lines(data / "written/queries.jsonl.gz")
    kept_apart = {
        question["query"].strip().lower()
        for name in DEVELOPMENT
        for question in read_lines(data / name / "queries.jsonl.gz")
    }
    pairs = [
        pair
        for pair in read_lines(data / "train/pairs.jsonl.xz")
        if pair["q"].strip().lower() not in kept_apart
    ]
    builder = _Builder(tokenizer)
    builder.add_written(tools, asked)
    builder.add_pairs(pairs, {_signature(tool): fold_of(tool["server"]) for tool in tools})
    return builder.finish()


class _Builder:
    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._material = Material()
        self._questions: list[str] = []
        self._views: list[list[str]] = []
        self._keys: dict[str, int] = {}
        self._sources: dict[str, int] = {}

    def add_written(self, tools: Sequence[Mapping[str, Any]], asked: Iterable[Mapping[str, Any]]) -> None:
        by_server: dict[str, list[str]] = {}
        servers = {tool["id"]: tool["server"] for tool in tools}
        for tool in tools:
            self._tool(f"written|{tool['id']}", views(tool))
            by_server.setdefault(tool["server"], []).append(tool["id"])
        index = {tool["id"]: self._keys[f"written|{tool['id']}"] for tool in tools}
        for question in asked:
            server = servers[question["relevant"][0]]
            fitting = {*question["relevant"], *question["acceptable"]}
            near = {servers[one] for one in question["relevant"]}
            self._add(
                question["query"],
                WRITTEN,
                fold_of(server),
                right=[index[one] for one in question["relevant"]],
                spared=[index[one] for one in question["acceptable"]],
                siblings=[index[one] for home in near for one in by_server[home] if one not in fitting],
            )

    def add_pairs(self, pairs: Iterable[Mapping[str, Any]], folds: Mapping[str, int]) -> None:
        for pair in pairs:
            several = isinstance(pair["d"][0], list)
            right = []
            fold = -1
            for position, key in enumerate(pair["t"]):
                texts = pair["d"][position] if several else pair["d"]
                right.append(self._tool(key, texts))
                fold = max(fold, *(folds.get(_flat(text), -1) for text in texts))
            self._add(pair["q"], pair["s"], fold, right=right, spared=[], siblings=[])

    def finish(self) -> Material:
        """Cut everything into tokens."""
        made = self._material
        made.sources = list(self._sources)
        made.questions = self._cut(self._questions, LONGEST_QUESTION)
        flat = [text for texts in self._views for text in texts]
        cut = iter(self._cut(flat, LONGEST_TOOL))
        made.tools = [[next(cut) for _ in texts] for texts in self._views]
        return made

    def _add(self, question: str, source: str, fold: int, **lists: list[int]) -> None:
        self._questions.append(question)
        made = self._material
        made.source.append(self._sources.setdefault(source, len(self._sources)))
        made.fold.append(fold)
        made.right.append(lists["right"])
        made.spared.append(lists["spared"])
        made.siblings.append(lists["siblings"])

    def _tool(self, key: str, texts: Sequence[str]) -> int:
        if key not in self._keys:
            self._keys[key] = len(self._views)
            self._views.append([])
        known = self._views[self._keys[key]]
        known += [text for text in dict.fromkeys(texts) if text not in known and len(known) < 8]
        return self._keys[key]

    def _cut(self, texts: Sequence[str], longest: int) -> list[list[int]]:
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(longest)
        return [found.ids for found in self._tokenizer.encode_batch(list(texts))]


def _signature(tool: Mapping[str, Any]) -> str:
    return _flat(f"{spaced(tool['server'])} {spaced(tool['name'])}")


def _flat(text: str) -> str:
    return " ".join(text.replace(":", " ").lower().split())


def save(material: Material, path: Path) -> None:
    """Write it as one compressed file of plain arrays."""
    arrays: dict[str, Any] = {
        "sources": np.array(material.sources),
        "source": np.array(material.source, np.uint8),
        "fold": np.array(material.fold, np.int8),
    }
    lists = {
        "questions": material.questions,
        "right": material.right,
        "spared": material.spared,
        "siblings": material.siblings,
        "views": [[len(views_)] for views_ in material.tools],
        "tools": [view for views_ in material.tools for view in views_],
    }
    for name, rows in lists.items():
        arrays[f"{name}.length"] = np.array([len(row) for row in rows], np.uint16)
        arrays[name] = np.array([one for row in rows for one in row], np.uint32)
    np.savez_compressed(path, **arrays)


def load(path: Path) -> Material:
    """Read what `save` wrote."""
    with np.load(path) as arrays:
        rows = {
            name: _rows(arrays[name], arrays[f"{name}.length"])
            for name in ("questions", "right", "spared", "siblings", "views", "tools")
        }
        made = Material(
            sources=[str(name) for name in arrays["sources"]],
            questions=rows["questions"],
            source=arrays["source"].tolist(),
            fold=arrays["fold"].tolist(),
            right=rows["right"],
            spared=rows["spared"],
            siblings=rows["siblings"],
        )
    texts = iter(rows["tools"])
    made.tools = [[next(texts) for _ in range(count)] for [count] in rows["views"]]
    return made


def _rows(flat: np.ndarray, lengths: np.ndarray) -> list[list[int]]:
    ends = np.cumsum(lengths.astype(np.int64))
    return [part.tolist() for part in np.split(flat, ends[:-1])]
