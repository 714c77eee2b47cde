"""Workers that are killed with SIGKILL at random moments: nothing is lost and nothing completed is repeated.

`make soak` does it a thousand times: see tests/soak/test_workflow_kills.py.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.databases.postgres import PostgresProcess, postgres  # noqa: F401 - a fixture

ROOT = Path(__file__).parents[4]


def kill(folder: Path, *options: str, seconds: float = 280) -> dict[str, Any]:
    """The findings of `tests.features.workflows.engine.killing`."""
    command = [sys.executable, "-m", "tests.features.workflows.engine.killing", str(folder), *options]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=seconds, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    findings: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return findings


def new_schema(server: PostgresProcess, name: str) -> str:
    with psycopg.connect(server.url(), autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}".encode())
    return server.url(schema=name)


@pytest.mark.acceptance
def test_runs_on_sqlite_survive_kills_at_random_moments(tmp_path: Path) -> None:
    found = kill(tmp_path, "--kills", "5", "--runs", "2", "--nodes", "12", "--longest", "2.5", "--seed", "7")

    assert found["problems"] == []
    assert found["steps"] == 2 * 35
    assert found["repeated"] <= found["killed"] * 4


@pytest.mark.acceptance
def test_other_workers_take_over_on_postgresql(tmp_path: Path, postgres: PostgresProcess) -> None:  # noqa: F811
    url = new_schema(postgres, "kills")
    options = (
        "--kills",
        "10",
        "--runs",
        "4",
        "--nodes",
        "20",
        "--longest",
        "2",
        "--workers",
        "3",
        "--frozen",
        "0.2",
    )
    found = kill(tmp_path, "--url", url, *options)

    assert found["problems"] == []
    assert found["steps"] == 4 * 43
