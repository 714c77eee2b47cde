"""Creates and upgrades the tables, ours and those of DBOS, before the engine uses them.

On SQLite everything happens in one transaction. DBOS alone does it in many, and a process that is killed in
between leaves a database that can never be opened again.
"""

from __future__ import annotations

import re
import sqlite3
import time
from typing import Any

import sqlalchemy as sa
from sqlalchemy import event

from toolcrib.features.workflows.engine.dbos_internals import DefaultSerializer, SystemDatabase
from toolcrib.features.workflows.engine.tables import metadata

CREATE_LOCK = 7_316_001
"""Any number, the same in all workers: the advisory lock of PostgreSQL under which tables are created."""
LOCK_PAUSE = 0.1
SCHEMA = "dbos"
"""The schema of DBOS in PostgreSQL, unless the URL has a schema for our tables; then `NAME_dbos`."""
_SEARCH_PATH = re.compile(r"-c\s*search_path=([A-Za-z0-9_]+)")


def schema_of(url: str) -> str:
    """The schema of DBOS: cribs with schemas of their own can share a database."""
    own = _own_schema(url)
    return f"{own}_{SCHEMA}" if own else SCHEMA


def _own_schema(url: str) -> str | None:
    """The schema of our tables, if the URL names one."""
    options = sa.make_url(url).query.get("options", "")
    found = _SEARCH_PATH.search(options if isinstance(options, str) else " ".join(options))
    return found[1] if found else None


def migrate_sqlite(url: str, patience_ms: int) -> None:
    """One transaction for all tables; other processes wait for it."""
    engine = sa.create_engine(url, poolclass=sa.NullPool)

    @event.listens_for(engine, "connect")
    def own_transactions(connection: sqlite3.Connection, record: Any) -> None:
        # Python's own transactions leave out CREATE TABLE.
        connection.isolation_level = None
        connection.execute(f"PRAGMA busy_timeout={patience_ms}")
        connection.execute("PRAGMA auto_vacuum=INCREMENTAL")
        connection.execute("PRAGMA journal_mode=WAL")

    @event.listens_for(engine, "begin")
    def begin(connection: sa.Connection) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    _migrate_dbos(url, engine, SCHEMA)
    _create(engine)
    engine.dispose()


def migrate_postgres(url: str, engine: sa.Engine, schema: str) -> None:
    """Workers may start at the same moment: one after the other creates the tables."""
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        # Polled: a query that waits for the lock would block the creation of indexes by the one who has it.
        while not connection.execute(sa.select(sa.func.pg_try_advisory_lock(CREATE_LOCK))).scalar():
            time.sleep(LOCK_PAUSE)
        try:
            _migrate_dbos(url, engine, schema)
            if own := _own_schema(url):
                connection.execute(sa.schema.CreateSchema(own, if_not_exists=True))
            _create(engine)
        finally:
            connection.execute(sa.select(sa.func.pg_advisory_unlock(CREATE_LOCK)))


def _create(engine: sa.Engine) -> None:
    """Our tables, and the indexes that those of an earlier version have not."""
    metadata.create_all(engine)
    for table in metadata.tables.values():
        for index in table.indexes:
            index.create(engine, checkfirst=True)
    if engine.dialect.name == "sqlite":
        # For lists of runs in one state. In PostgreSQL, DBOS has made what is needed.
        with engine.begin() as connection:
            connection.exec_driver_sql(
                "CREATE INDEX IF NOT EXISTS crib_runs_by_status ON workflow_status (status, workflow_uuid)"
            )


def _migrate_dbos(url: str, engine: sa.Engine, schema: str) -> None:
    system = SystemDatabase.create(
        system_database_url=url,
        engine_kwargs={},
        engine=engine,
        schema=schema,
        serializer=DefaultSerializer(),
        executor_id=None,
    )
    system.run_migrations()
