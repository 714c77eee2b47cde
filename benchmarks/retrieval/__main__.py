"""Compares ways to find tools on labelled questions, and measures what ours costs.

python -m benchmarks.retrieval FOLDER… [--only NAME…] [--most N] [--costs]

A folder holds `tools.jsonl` and `queries.jsonl`, gzipped or not; `benchmarks.retrieval.corpus` makes the
first from real servers.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib
import pkgutil
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.retrieval import contenders
from benchmarks.retrieval.contract import Contender
from benchmarks.retrieval.costs import costs
from toolcrib.retrieval import arithmetic
from toolcrib.retrieval.evaluation import Labelled, RankingScore, read_questions, read_tools
from toolcrib.schema.tools import Tool

HEADER = f"{'':28}{'recall@1':>9}{'recall@5':>9}{'recall@10':>10}{'nDCG@10':>9}{'CPU ms':>8}"


def main() -> None:
    """Print a table for each set."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--only", nargs="*", help="contenders, by file name")
    parser.add_argument("--most", type=int, help="questions of a set")
    parser.add_argument(
        "--costs",
        action="store_true",
        help="what ours costs: the first folder, 50,000 tools",
    )
    options = parser.parse_args()
    arithmetic.prepare()
    for folder in options.folders:
        asyncio.run(_compare(folder, options.only, options.most))
    if options.costs:
        asyncio.run(costs(read_tools(_file(options.folders[0], "tools")) if options.folders else ()))


async def _compare(folder: Path, only: Sequence[str] | None, most: int | None) -> None:
    tools = read_tools(_file(folder, "tools"))
    questions = read_questions(_file(folder, "queries"))[:most]
    print(f"\n{folder.name}: {len(questions)} questions over {len(tools)} tools\n{HEADER}")
    for module in pkgutil.iter_modules(contenders.__path__):
        if only and module.name not in only:
            continue
        contender: Contender = importlib.import_module(f"{contenders.__name__}.{module.name}")
        try:
            print(f"{contender.NAME:28}{await _measured(contender, tools, questions)}", flush=True)
        except ImportError as error:
            print(f"{contender.NAME:28} not installed: {error.name}")


async def _measured(contender: Contender, tools: Sequence[Tool], questions: Sequence[Labelled]) -> str:
    search = await contender.prepare(tools)
    await search(questions[0].query)
    tally = RankingScore()
    for question in questions:
        started = time.process_time()
        found = await search(question.query)
        tally.add(question, found, time.process_time() - started)
    told = tally.as_json()
    shares = (told["recall_at_1"], told["recall_at_5"], told["recall_at_10"], told["ndcg_at_10"])
    return (
        "{:9.1f}{:9.1f}{:10.1f}{:9.1f}".format(*(100 * one for one in shares))
        + f"{told['ms_per_query']:8.1f}"
    )


def _file(folder: Path, name: str) -> Path:
    zipped = folder / f"{name}.jsonl.gz"
    return zipped if zipped.exists() else folder / f"{name}.jsonl"


if __name__ == "__main__":
    main()
