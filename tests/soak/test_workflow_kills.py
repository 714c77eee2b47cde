"""A thousand kills over runs of hundreds of nodes, on SQLite and on PostgreSQL with three workers.

SOAK_KILLS=100 for less.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.databases.postgres import PostgresProcess, postgres  # noqa: F401 - a fixture
from tests.features.workflows.engine.test_kills import kill, new_schema

KILLS = int(os.environ.get("SOAK_KILLS", "1000"))
PART = 50
"""Kills in one database; then a new one begins."""
HOURS = 6 * 3600.0
pytestmark = [pytest.mark.soak, pytest.mark.timeout(HOURS)]


def kill_often(folder: Path, url: str | None, seed: int, *options: str) -> int:
    place = ("--url", url) if url else ()
    sizes = (
        "--runs",
        "6",
        "--nodes",
        "300",
        "--longest",
        "4",
        "--patience",
        "3600",
        "--kills",
        str(min(PART, KILLS)),
    )
    found = kill(folder, *place, *sizes, "--seed", str(seed), *options, seconds=HOURS)
    print(found)
    assert found["problems"] == []
    return int(found["killed"])


def test_a_thousand_kills_on_sqlite(tmp_path: Path) -> None:
    killed, part = 0, 0
    while killed < KILLS:
        (tmp_path / str(part)).mkdir()
        killed += max(1, kill_often(tmp_path / str(part), None, part))
        part += 1


def test_a_thousand_kills_of_three_workers_on_postgresql(
    tmp_path: Path,
    postgres: PostgresProcess,  # noqa: F811
) -> None:
    killed, part = 0, 0
    while killed < KILLS:
        (tmp_path / str(part)).mkdir()
        url = new_schema(postgres, f"soak_{part}")
        killed += max(1, kill_often(tmp_path / str(part), url, part, "--workers", "3", "--frozen", "0.1"))
        part += 1
