"""Takes a little of everything, so that the whole way from data to file is gone in minutes on any machine."""

from __future__ import annotations

import gzip
import json
import lzma
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from training.material import DEVELOPMENT, fold_of, read_lines

PAIRS, QUESTIONS, TOOLS = 400, 40, 120
"""Of the training pairs, and of each set."""


def sample(data: Path, folder: Path) -> Path:
    """Write a folder in the form of the data; returns it."""
    (folder / "train").mkdir(parents=True, exist_ok=True)
    pairs = read_lines(data / "train/pairs.jsonl.xz")
    with lzma.open(folder / "train/pairs.jsonl.xz", "wt", encoding="utf-8") as file:
        file.write(_lines(_spread(pairs, PAIRS)))
    for name in (*DEVELOPMENT, "written"):
        _sample_set(data / name, folder / name)
    return folder


def _sample_set(source: Path, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    tools, asked = read_lines(source / "tools.jsonl.gz"), read_lines(source / "queries.jsonl.gz")
    servers = {tool["id"]: tool.get("server") or "" for tool in tools}
    # One fold after another: each of them has to have questions.
    asked.sort(key=lambda question: fold_of(servers[question["relevant"][0]]))
    asked = _spread(asked, QUESTIONS)
    named = {
        one for question in asked for part in ("relevant", "acceptable") for one in question.get(part, ())
    }
    right = [tool for tool in tools if tool["id"] in named]
    others = [tool for tool in tools if tool["id"] not in named]
    kept = [*right, *_spread(others, max(TOOLS - len(right), 0))]
    for name, rows in (("tools", kept), ("queries", asked)):
        with gzip.open(folder / f"{name}.jsonl.gz", "wt", encoding="utf-8") as file:
            file.write(_lines(rows))


def _spread(rows: list[dict[str, Any]], count: int) -> list[dict[str, Any]]:
    """So many, evenly over the whole."""
    if len(rows) <= count:
        return rows
    return [rows[number * len(rows) // count] for number in range(count)]


def _lines(rows: Iterable[Mapping[str, Any]]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
