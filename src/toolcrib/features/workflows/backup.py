"""What a backup saves of workflows: files with their earlier versions, runs, and files of runs, each with its
largest size. What is restored starts nothing by itself: triggers are off and unfinished runs cancelled.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

from toolcrib.config.backup_parts import GIB, MIB, WORD, many_files, one_file
from toolcrib.config.paths import Paths
from toolcrib.features.workflows.files import WorkflowFiles, read_file
from toolcrib.features.workflows.imports import IMPORTS, ImportedWorkflows, content_digest

_JSON = ("toolcrib_json", "portable_json")
_ACTIVE_RUNS = ("PENDING", "ENQUEUED", "DELAYED")
_NOTE = "Not started: restored from a backup."


def runs_problem(connection: sqlite3.Connection) -> str:
    """Values that are not JSON could run code when they are read."""
    for (table,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
        if _foreign_values(connection, table):
            return "A run in the backup has values that are not JSON."
    return ""


def _foreign_values(connection: sqlite3.Connection, table: str) -> bool:
    name = '"' + table.replace('"', '""') + '"'
    columns = {row[1] for row in connection.execute(f"PRAGMA table_info({name})")}
    if "serialization" not in columns:
        return False
    places = ", ".join("?" * len(_JSON))
    query = f"SELECT 1 FROM {name} WHERE serialization NOT IN ({places}) LIMIT 1"  # noqa: S608 - quoted
    return connection.execute(query, _JSON).fetchone() is not None


PARTS = (
    many_files(
        "workflows",
        "workflows",
        rf"{WORD}\.json|\.versions/{WORD}/[0-9A-Za-z.-]{{1,99}}\.json",
        lambda paths: paths.workflows,
        8 * MIB,
    ),
    one_file(
        "runs.sqlite",
        "workflow runs",
        lambda paths: paths.runs / "runs.sqlite",
        1024 * GIB,
        database=True,
        shared_as="workflow runs, which are in the shared database",
        problem=runs_problem,
    ),
    many_files(
        "artifacts",
        "files of runs",
        rf"{WORD}/{WORD}(?:\.[a-z]{{3,4}})?",
        lambda paths: paths.runs / "artifacts",
        64 * MIB,
        optional=True,
    ),
)


def clean(key: str, connection: sqlite3.Connection) -> None:
    """A restore starts nothing: what ran or was due since the backup was made would happen twice."""
    if key == "runs.sqlite":
        _stop_runs(connection)
    else:
        _stop_triggers(connection)


def _stop_triggers(connection: sqlite3.Connection) -> None:
    connection.execute("UPDATE workflow_triggers SET active = 0")
    connection.execute(
        "UPDATE workflow_starts SET state = 'skipped', event = NULL, note = ?"
        " WHERE state IN ('pending', 'starting')",
        (_NOTE,),
    )


def _stop_runs(connection: sqlite3.Connection) -> None:
    """Cancel unfinished runs: their next steps may have been done since the backup was made."""
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if "workflow_status" in tables:
        places = ", ".join("?" * len(_ACTIVE_RUNS))
        connection.execute(
            f"UPDATE workflow_status SET status = 'CANCELLED' WHERE status IN ({places})",  # noqa: S608
            _ACTIVE_RUNS,
        )
    for table in tables & {"crib_workers", "crib_waits"}:
        connection.execute(f"DELETE FROM {table}")  # noqa: S608 - names of ours


def distrust(folder: Path, paths: Paths) -> None:
    """Workflows of another home, unpacked in this folder, need a confirmation before they run."""
    stored = (read_file(file).workflow for file in WorkflowFiles(folder / "workflows").all())
    imports = ImportedWorkflows(paths.state / IMPORTS)
    imports.add([content_digest(workflow) for workflow in stored if workflow is not None])
