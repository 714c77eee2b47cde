"""Fits the order with the finished models and says what it reaches.

    python -m training.fitting DATA BUILD

Written questions are seen through the run that left out their fold; `mcp_real` is only measured.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from toolcrib.retrieval.embedders.builtin import BuiltinEmbedder
from toolcrib.retrieval.finder import passage
from toolcrib.retrieval.query import read_query
from toolcrib.retrieval.ranking import COLUMNS, DENSE_ONLY, WITH_TOKENS
from training.material import FOLDS, fold_of, read_lines
from training.ordering import Ranked, fit, look, measure

FITTED = ("bfcl", "metatool", "sealtools")
ONLY_MEASURED = ("mcp_real",)
SHARES = {"written": 2.0}
OF_TOKENS = ("late x rest", "late x short", "covered")
PARTS = 5


def main(data: Path, build: Path) -> None:
    """Write `order.json` and `measured.json` beside the model."""
    sets = _looked_at(data, build)
    fitted = [sets[name] for name in (*FITTED, "written")]
    weights = {
        WITH_TOKENS: fit(fitted, shares=SHARES),
        DENSE_ONLY: fit(fitted, shares=SHARES, leave_out=OF_TOKENS),
    }
    order = {
        kind: {name: round(float(weight), 5) for name, weight in zip(COLUMNS, found, strict=True)}
        for kind, found in weights.items()
    }
    measured: dict[str, dict[str, float]] = {}
    for kind, found in weights.items():
        for name in ONLY_MEASURED:
            measured[f"{name}, {kind}"] = measure(sets[name], found)
    # Threads: nearly all of it is arithmetic on large tables, which they do side by side.
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        parts = pool.map(lambda ranked: _in_folds(ranked, fitted), fitted)
        measured |= {f"{one.name}, in {PARTS} folds": found for one, found in zip(fitted, parts, strict=True)}
    for told, values in measured.items():
        print(f"{told}: {_told(values)}", flush=True)
    _write(build / "model" / "order.json", order)
    _write(build / "model" / "measured.json", measured)


def _looked_at(data: Path, build: Path) -> dict[str, Ranked]:
    """Every set through the finished model, the written one in folds through the run that had not seen it."""
    jobs: list[tuple[Path, Path, int | None]] = [
        (data / name, build / "model", None) for name in (*FITTED, *ONLY_MEASURED)
    ]
    jobs += [(data / "written", build / "folds" / f"r{fold}", fold) for fold in range(FOLDS)]
    sets: dict[str, Ranked] = {}
    workers = min(len(jobs), os.cpu_count() or 1)
    with ProcessPoolExecutor(workers, multiprocessing.get_context("spawn")) as pool:
        for found in pool.map(_look, *zip(*jobs, strict=True)):
            sets.setdefault(found.name, Ranked(found.name)).asked += found.asked
    return sets


def _look(folder: Path, model: Path, fold: int | None = None) -> Ranked:
    tools, asked = read_lines(folder / "tools.jsonl.gz"), read_lines(folder / "queries.jsonl.gz")
    if fold is not None:
        servers = {tool["id"]: tool["server"] for tool in tools}
        asked = [question for question in asked if fold_of(servers[question["relevant"][0]]) == fold]
    embedder = BuiltinEmbedder(model)
    embedded = embedder.embed([_passage(tool) for tool in tools])
    parts = [embedder.read(one["query"], read_query(one["query"]).spans) for one in asked]
    found = look(folder.name, tools, asked, embedded, parts)
    print(f"  {folder.name} through {model.name}: {len(found.asked)} questions", flush=True)
    return found


def _passage(tool: dict[str, Any]) -> str:
    return passage(tool["name"], tool.get("server") or "", tool.get("description") or "")


def _in_folds(ranked: Ranked, everything: list[Ranked]) -> dict[str, float]:
    order = np.random.default_rng(0).permutation(len(ranked.asked))
    others = [one for one in everything if one is not ranked]
    total: dict[str, float] = {}
    for part in range(PARTS):
        out = order[part::PARTS].tolist()
        rest = Ranked(ranked.name, [ranked.asked[n] for n in order.tolist() if n not in set(out)])
        for name, value in measure(ranked, fit([rest, *others], shares=SHARES), out).items():
            total[name] = total.get(name, 0.0) + value * len(out) / len(order)
    return total


def _write(path: Path, told: Any) -> None:
    path.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")


def _told(found: dict[str, float]) -> str:
    return ", ".join(f"{name} {found[name]:.1f}" for name in ("r1", "r5", "r10", "ndcg"))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
