"""SQLite's full-text search: names and descriptions, stemmed, any of the words, ranked by BM25."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence

from benchmarks.retrieval.contract import DEPTH, Search, prefixed
from toolcrib.schema.tools import Tool

NAME = "SQLite FTS5"


async def prepare(tools: Sequence[Tool]) -> Search:
    """Fill a table."""
    base = sqlite3.connect(":memory:")
    base.execute("create virtual table tools using fts5(name, description, tokenize='porter')")
    rows = [(prefixed(tool).replace("_", " "), tool.definition.description) for tool in tools]
    base.executemany("insert into tools(name, description) values (?, ?)", rows)

    async def search(question: str) -> list[str]:
        words = dict.fromkeys(re.findall(r"\w+", question.lower()))
        asked = " OR ".join(f'"{word}"' for word in words)
        if not asked:
            return []
        found = base.execute(
            "select rowid from tools where tools match ? order by rank limit ?", (asked, DEPTH)
        )
        return [tools[row - 1].name for (row,) in found]

    return search
