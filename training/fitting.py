"""Fits the order with the finished models and says what it reaches.

    python -m training.fitting DATA BUILD

Written questions are seen through the run that left out their fold; `mcp_real` is only measured.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from toolcrib.retrieval.embedders.builtin import BuiltIn
from toolcrib.retrieval.evidence import COLUMNS
from toolcrib.retrieval.ordering import DENSE_ONLY, WITH_TOKENS
from toolcrib.retrieval.passages import passage
from toolcrib.retrieval.question import read_question
from training.material import FOLDS, fold_of, read_lines
from training.ordering import Ranked, fit, look, measure

FITTED = ("bfcl", "metatool", "sealtools")
ONLY_MEASURED = ("mcp_real",)
SHARES = {"written": 2.0}
OF_TOKENS = ("late x rest", "late x short", "covered")
PARTS = 5


def main(data: Path, build: Path) -> None:
    """Write `order.json` beside the model."""
    sets = {name: _look(data / name, build / "model") for name in (*FITTED, *ONLY_MEASURED)}
    sets["written"] = Ranked("written")
    for fold in range(FOLDS):
        sets["written"].asked += _look(data / "written", build / "folds" / f"r{fold}", fold).asked
    fitted = [sets[name] for name in (*FITTED, "written")]
    weights = {
        WITH_TOKENS: fit(fitted, shares=SHARES),
        DENSE_ONLY: fit(fitted, shares=SHARES, leave_out=OF_TOKENS),
    }
    for kind, found in weights.items():
        for name in ONLY_MEASURED:
            print(f"{kind}: {name}, not fitted on: {_told(measure(sets[name], found))}")
    for ranked in fitted:
        print(f"{ranked.name}, in {PARTS} folds: {_told(_in_folds(ranked, fitted))}")
    told = {
        kind: {name: round(float(weight), 5) for name, weight in zip(COLUMNS, found, strict=True)}
        for kind, found in weights.items()
    }
    (build / "model" / "order.json").write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")


def _look(folder: Path, model: Path, fold: int | None = None) -> Ranked:
    tools, asked = read_lines(folder / "tools.jsonl.gz"), read_lines(folder / "queries.jsonl.gz")
    if fold is not None:
        servers = {tool["id"]: tool["server"] for tool in tools}
        asked = [question for question in asked if fold_of(servers[question["relevant"][0]]) == fold]
    embedder = BuiltIn(model)
    embedded = embedder.embed([_passage(tool) for tool in tools])
    parts = [embedder.read(one["query"], read_question(one["query"]).spans) for one in asked]
    return look(folder.name, tools, asked, embedded, parts)


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


def _told(found: dict[str, float]) -> str:
    return ", ".join(f"{name} {found[name]:.1f}" for name in ("r1", "r5", "r10", "ndcg"))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
