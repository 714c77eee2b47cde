"""Our own tables of the engine (runs, begun calls, waits, events, workers), beside those of DBOS in the same
database; their prefix keeps the names apart.
"""

from __future__ import annotations

import sqlalchemy as sa

metadata = sa.MetaData()

runs = sa.Table(
    "crib_runs",
    metadata,
    sa.Column("run", sa.Text, primary_key=True),
    sa.Column("workflow", sa.Text, nullable=False),
    sa.Column("parent", sa.Text),
    sa.Column("from_run", sa.Text),
    sa.Column("created", sa.Float, nullable=False),
    sa.Column("paused", sa.Boolean, nullable=False, default=False),
    sa.Column("breakpoints", sa.Text, nullable=False, default="[]"),
    sa.Column("paused_at", sa.Text, nullable=False, default="[]"),
    sa.Column("passed", sa.Text, nullable=False, default="[]"),
    sa.Index("crib_runs_by_time", "created"),
    sa.Index("crib_runs_by_workflow", "workflow", "created"),
)
"""Every run that a user sees, and how it is controlled. Items of maps have no row."""

begun = sa.Table(
    "crib_begun_calls",
    metadata,
    sa.Column("run", sa.Text, primary_key=True),
    sa.Column("step", sa.Text, primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("tool", sa.Text, nullable=False),
    sa.Column("started", sa.Float, nullable=False),
)
"""Calls that must not be repeated, written before they begin."""

waits = sa.Table(
    "crib_waits",
    metadata,
    sa.Column("run", sa.Text, primary_key=True),
    sa.Column("step", sa.Text, primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("root", sa.Text, nullable=False, index=True),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("content", sa.Text, nullable=False),
    sa.Column("since", sa.Float, nullable=False),
    sa.Column("until", sa.Float),
    sa.Column("answer", sa.Text),
)
sa.Index(
    "crib_waits_open",
    waits.c.kind,
    sqlite_where=waits.c.answer.is_(None),
    postgresql_where=waits.c.answer.is_(None),
)
"""What a visit waits for: an answer, a moment or an event."""

events = sa.Table(
    "crib_events",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("run", sa.Text, nullable=False, index=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("data", sa.Text, nullable=False),
    sa.Column("sent", sa.Float, nullable=False),
    sa.Column("source", sa.Text, nullable=False, default=""),
    sa.Column("taken", sa.Text),
)
"""Events sent to a run, kept until a visit takes them. `source` names where untrusted data is from."""

workers = sa.Table(
    "crib_workers",
    metadata,
    sa.Column("worker", sa.Text, primary_key=True),
    sa.Column("host", sa.Text, nullable=False),
    sa.Column("process", sa.Integer, nullable=False),
    sa.Column("started", sa.Float, nullable=False),
    sa.Column("beats", sa.BigInteger, nullable=False),
)
"""Processes that run workflows. `beats` grows while one is alive."""
