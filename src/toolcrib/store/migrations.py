"""The tables, columns and indexes of the SQLite database as numbered steps (migrations); `user_version`
counts the steps applied to a file.

A released step is never changed; changes are new steps at the end.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from toolcrib.errors import ConfigError
from toolcrib.store.tables import FeatureTables, TableStep, feature_tables

STEPS: tuple[tuple[str, ...], ...] = (
    (
        """
        CREATE TABLE calls (
            id INTEGER PRIMARY KEY,
            time INTEGER NOT NULL,  -- microseconds since 1970, UTC
            tool TEXT NOT NULL,
            server TEXT,
            principal TEXT NOT NULL,
            session TEXT,
            outcome TEXT NOT NULL,
            ms REAL NOT NULL,
            bytes INTEGER NOT NULL,
            arguments TEXT NOT NULL,
            error TEXT,
            call_id TEXT NOT NULL,
            extra TEXT
        )
        """,
        "CREATE INDEX calls_by_time ON calls (time)",
    ),
    (
        """
        CREATE TABLE tool_history (
            server TEXT NOT NULL,  -- empty for native tools
            tool TEXT NOT NULL,
            hash TEXT NOT NULL,
            parts TEXT NOT NULL,  -- JSON: a digest of each top-level part
            first_seen INTEGER NOT NULL,
            last_changed INTEGER NOT NULL,
            previous_hash TEXT,
            changes TEXT NOT NULL,  -- JSON: names of parts
            PRIMARY KEY (server, tool)
        ) WITHOUT ROWID
        """,
    ),
    (
        """
        CREATE TABLE tool_lists (
            server TEXT PRIMARY KEY,
            fingerprint TEXT NOT NULL,
            protocol TEXT NOT NULL,
            version TEXT,
            definitions TEXT NOT NULL,  -- JSON, as listed
            saved_at INTEGER NOT NULL
        )
        """,
    ),
    (
        """
        CREATE TABLE trust (
            server TEXT PRIMARY KEY,
            launch TEXT NOT NULL,  -- JSON: what was agreed to
            agreed_at INTEGER NOT NULL
        )
        """,
        """
        CREATE TABLE tool_pins (
            server TEXT NOT NULL,
            tool TEXT NOT NULL,
            hash TEXT NOT NULL,
            definition TEXT NOT NULL,  -- JSON, as approved
            pinned_at INTEGER NOT NULL,
            PRIMARY KEY (server, tool)
        ) WITHOUT ROWID
        """,
    ),
    (
        """
        CREATE TABLE approval_rules (
            id TEXT PRIMARY KEY,
            rule TEXT NOT NULL,  -- JSON
            made_at INTEGER NOT NULL
        )
        """,
        """
        CREATE TABLE approval_requests (
            id TEXT PRIMARY KEY,
            digest TEXT NOT NULL,  -- the same for the same call of the same session
            question TEXT NOT NULL,  -- JSON
            asked_at INTEGER NOT NULL,
            answer TEXT  -- JSON; null while nobody has answered
        )
        """,
        "CREATE INDEX approval_requests_by_digest ON approval_requests (digest)",
    ),
    (
        """
        CREATE TABLE chats (
            id TEXT PRIMARY KEY,
            title TEXT NOT NULL,
            model TEXT NOT NULL,
            created INTEGER NOT NULL,
            updated INTEGER NOT NULL,
            parent TEXT  -- the chat it was forked from
        )
        """,
        "CREATE INDEX chats_by_time ON chats (updated)",
        """
        CREATE TABLE chat_entries (
            chat TEXT NOT NULL REFERENCES chats (id) ON DELETE CASCADE,
            position INTEGER NOT NULL,
            time INTEGER NOT NULL,
            kind TEXT NOT NULL,
            body TEXT NOT NULL,  -- JSON
            PRIMARY KEY (chat, position)
        ) WITHOUT ROWID
        """,
    ),
    (
        """
        CREATE TABLE page_keys (
            id TEXT PRIMARY KEY,
            hash TEXT NOT NULL,  -- of the key; the key itself is kept by the page alone
            name TEXT NOT NULL,  -- what the browser says of itself
            made_at INTEGER NOT NULL,
            used_at INTEGER NOT NULL
        )
        """,
    ),
    (
        "ALTER TABLE chats ADD COLUMN project TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE chats ADD COLUMN pinned TEXT NOT NULL DEFAULT '[]'",  # JSON: names of tools
        "ALTER TABLE chats ADD COLUMN banned TEXT NOT NULL DEFAULT '[]'",
        "ALTER TABLE chats ADD COLUMN deleted INTEGER",  # when; null while it is there
        "CREATE VIRTUAL TABLE chat_words USING fts5"
        " (chat UNINDEXED, position UNINDEXED, text, tokenize = 'trigram')",
        """
        CREATE TRIGGER chat_entries_can_be_found AFTER INSERT ON chat_entries WHEN new.kind = 'said' BEGIN
            INSERT INTO chat_words (chat, position, text)
            SELECT new.chat, new.position, group_concat(json_extract(part.value, '$.text'), char(10))
            FROM json_each(new.body, '$.parts') AS part
            WHERE json_extract(part.value, '$.type') = 'text'
            GROUP BY new.chat;
        END
        """,
        """
        CREATE TRIGGER chats_are_forgotten AFTER DELETE ON chats BEGIN
            DELETE FROM chat_words WHERE chat = old.id;
        END
        """,
        """
        INSERT INTO chat_words (chat, position, text)
        SELECT entry.chat, entry.position, group_concat(json_extract(part.value, '$.text'), char(10))
        FROM chat_entries AS entry, json_each(entry.body, '$.parts') AS part
        WHERE entry.kind = 'said' AND json_extract(part.value, '$.type') = 'text'
        GROUP BY entry.chat, entry.position
        """,
    ),
    (
        "ALTER TABLE approval_rules ADD COLUMN off INTEGER NOT NULL DEFAULT 0",
        # Only contains calls that the gate decided about.
        "CREATE INDEX calls_by_rule ON calls (json_extract(extra, '$.rule'), time) WHERE extra IS NOT NULL",
        "CREATE INDEX turns_by_time ON chat_entries (time) WHERE kind = 'took'",
    ),
    (
        # Interrupted answers are rewritten while they grow, so they are not in `chat_words`.
        "CREATE INDEX partial_answers ON chat_entries (kind) WHERE kind = 'partial'",
    ),
    (),  # the triggers of workflows, which the feature creates now
    # JSON: who decided, at which host and when; with a signature if the database is shared.
    tuple(
        f"ALTER TABLE {table} ADD COLUMN decided TEXT NOT NULL DEFAULT ''"
        for table in (
            "approval_rules",
            "approval_requests",
            "tool_pins",
            "tool_lists",
            "trust",
            "page_keys",
        )
    ),
    ("ALTER TABLE chats ADD COLUMN pinned_at INTEGER",),  # when it was pinned to the top of the list; or null
)


def migrate(connection: sqlite3.Connection) -> None:
    """Apply missing steps, those of features last; several processes may do so at once."""
    apply_steps(connection, STEPS)
    for tables in feature_tables():
        for step in tables.steps[applied_steps(connection, tables) :]:
            _add(connection, step)


def is_current(connection: sqlite3.Connection) -> bool:
    return _version(connection) == len(STEPS) and all(
        applied_steps(connection, tables) == len(tables.steps) for tables in feature_tables()
    )


def applied_steps(connection: sqlite3.Connection, tables: FeatureTables) -> int:
    """How many steps of a feature the file has."""
    return tables.applied(lambda table, column: _has_column(connection, table, column))


def apply_steps(connection: sqlite3.Connection, steps: tuple[tuple[str, ...], ...]) -> None:
    """Apply missing ones of these, all or none."""
    if _version(connection) < len(steps):
        with _writing(connection):
            _apply(connection, steps)
    version = _version(connection)
    if version > len(steps):
        raise ConfigError(
            "The database was written by a newer Toolcrib.",
            hint="Update Toolcrib. To stay with this version, set TOOLCRIB_HOME to another folder, or put "
            "back the copy that was made before the update: it is in the folder backups beside it.",
        )


def _apply(connection: sqlite3.Connection, steps: tuple[tuple[str, ...], ...]) -> None:
    # Another process may have applied some meanwhile.
    while (version := _version(connection)) < len(steps):
        for statement in steps[version]:
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {version + 1}")


def _add(connection: sqlite3.Connection, step: TableStep) -> None:
    with _writing(connection):
        if not _has_column(connection, *step.adds):
            for statement in step.sqlite:
                connection.execute(statement)


@contextmanager
def _writing(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def _has_column(connection: sqlite3.Connection, table: str, column: str) -> bool:
    found = connection.execute("SELECT 1 FROM pragma_table_info(?) WHERE name = ?", (table, column))
    return found.fetchone() is not None


def _version(connection: sqlite3.Connection) -> int:
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return version
