"""What the engine uses of DBOS beyond its documentation; after an upgrade, these tests say what changed."""

from __future__ import annotations

import ast
import inspect
import time
from pathlib import Path

import sqlalchemy as sa
from dbos import DBOS
from dbos._queue import Queue
from dbos._sys_db import SystemDatabase

import toolcrib
from toolcrib.features.workflows.engine import dbos_internals

SOURCES = Path(toolcrib.__file__).parent


def test_no_other_module_uses_private_names_of_dbos() -> None:
    users = {
        path.relative_to(SOURCES).as_posix()
        for path in (SOURCES / "features" / "workflows").rglob("*.py")
        if any(name.startswith("dbos._") for name in _imported(path))
    }

    assert users == {"features/workflows/engine/dbos_internals.py"}


def test_a_run_outside_of_a_workflow_has_no_owner_token() -> None:
    assert dbos_internals.owner_token("no-run") is None


def test_the_tables_have_the_columns_that_are_read() -> None:
    status = dbos_internals.SystemSchema.workflow_status.c
    steps = dbos_internals.SystemSchema.operation_outputs.c

    assert {"workflow_uuid", "status", "executor_id", "queue_name", "owner_xid", "inputs"} <= set(
        status.keys()
    )
    assert {"workflow_uuid", "function_id", "function_name", "output", "completed_at_epoch_ms"} <= set(
        steps.keys()
    )


def test_the_time_of_the_database_is_exact_to_the_millisecond(tmp_path: Path) -> None:
    """All times that DBOS takes from the database are made by one method."""
    system = SystemDatabase.create(
        system_database_url=f"sqlite:///{tmp_path / 'runs.sqlite'}",
        engine_kwargs={},
        engine=None,
        schema=None,
        serializer=dbos_internals.DefaultSerializer(),
        executor_id=None,
    )
    with system.engine.connect() as connection:
        before = time.time_ns() // 1_000_000
        read = [connection.execute(sa.select(system._now_ms_sql())).scalar_one() for _ in range(20)]
        after = time.time_ns() // 1_000_000
    system.destroy()

    assert before <= read[0] <= read[-1] <= after
    assert inspect.getsource(SystemDatabase).count("strftime") == 1


def test_runs_are_requeued_and_recovered_with_the_known_arguments() -> None:
    requeue = inspect.signature(SystemDatabase.reenqueue_for_recovery)
    recover = inspect.signature(DBOS._recover_pending_workflows)

    assert len(requeue.parameters) == 4, "self, the run, its executors, the queue"
    assert next(iter(recover.parameters)) == "executor_ids"


def test_a_queue_of_no_concurrency_gives_out_no_runs() -> None:
    assert "self._worker_concurrency = worker_concurrency" in inspect.getsource(Queue)
    assert "max(0, queue._worker_concurrency - local_running_count)" in inspect.getsource(SystemDatabase)


def test_the_queues_that_are_listened_to_are_read_again_and_again() -> None:
    from dbos._queue import queue_thread

    loop = inspect.getsource(queue_thread).partition("while not stop_event.is_set()")[2]
    assert "dbos._listening_queues" in loop


def _imported(path: Path) -> list[str]:
    found: list[str] = []
    for part in ast.walk(ast.parse(path.read_text())):
        if isinstance(part, ast.ImportFrom):
            found.append(part.module or "")
        elif isinstance(part, ast.Import):
            found += [name.name for name in part.names]
    return found
