"""The tables of triggers that were turned on, and of what they started, as numbered steps; which columns are
signed and copied.
"""

from __future__ import annotations

from toolcrib.store.tables import FeatureTables, SignedTable, Table, TableStep

TRIGGERS = "workflow_triggers"
STARTS = "workflow_starts"
# The texts of the statements, blanks included, are part of the schema that a backup must have.
_CREATED = (
    """
        CREATE TABLE workflow_triggers (
            workflow TEXT NOT NULL,
            trigger_key TEXT NOT NULL,
            active INTEGER NOT NULL,
            fingerprint TEXT NOT NULL,  -- of the settings that the user agreed to
            since INTEGER NOT NULL,
            checked_until TEXT NOT NULL,
            machine TEXT NOT NULL,
            hook TEXT NOT NULL,  -- the public part of a webhook's token; empty without one
            token_hash TEXT NOT NULL,
            PRIMARY KEY (workflow, trigger_key)
        )
        """,
    "CREATE INDEX workflow_triggers_by_hook ON workflow_triggers (hook)",
    """
        CREATE TABLE workflow_starts (
            run TEXT PRIMARY KEY,
            workflow TEXT NOT NULL,
            trigger_key TEXT NOT NULL,
            occurrence TEXT NOT NULL,
            state TEXT NOT NULL,
            event TEXT,  -- JSON; null once the run has started
            due INTEGER NOT NULL,
            updated INTEGER NOT NULL,
            note TEXT NOT NULL
        )
        """,
    "CREATE INDEX workflow_starts_by_trigger ON workflow_starts (workflow, trigger_key, state, due)",
    "CREATE INDEX workflow_starts_by_state ON workflow_starts (state, updated)",
)
_CREATED_SHARED = (
    """
    CREATE TABLE workflow_triggers (
        workflow TEXT COLLATE "C" NOT NULL,
        trigger_key TEXT COLLATE "C" NOT NULL,
        active INTEGER NOT NULL,
        fingerprint TEXT COLLATE "C" NOT NULL,
        since BIGINT NOT NULL,
        checked_until TEXT COLLATE "C" NOT NULL,
        machine TEXT COLLATE "C" NOT NULL,
        hook TEXT COLLATE "C" NOT NULL,
        token_hash TEXT COLLATE "C" NOT NULL,
        PRIMARY KEY (workflow, trigger_key)
    )
    """,
    "CREATE INDEX workflow_triggers_by_hook ON workflow_triggers (hook)",
    """
    CREATE TABLE workflow_starts (
        run TEXT COLLATE "C" PRIMARY KEY,
        workflow TEXT COLLATE "C" NOT NULL,
        trigger_key TEXT COLLATE "C" NOT NULL,
        occurrence TEXT COLLATE "C" NOT NULL,
        state TEXT COLLATE "C" NOT NULL,
        event TEXT,
        due BIGINT NOT NULL,
        updated BIGINT NOT NULL,
        note TEXT NOT NULL
    )
    """,
    "CREATE INDEX workflow_starts_by_trigger ON workflow_starts (workflow, trigger_key, state, due)",
    "CREATE INDEX workflow_starts_by_state ON workflow_starts (state, updated)",
)
_DECIDED = tuple(
    f"ALTER TABLE {table} ADD COLUMN decided TEXT NOT NULL DEFAULT ''" for table in (TRIGGERS, STARTS)
)
SIGNED = {
    TRIGGERS: SignedTable(
        title="workflow trigger",
        key=("workflow", "trigger_key"),
        columns=(
            "workflow",
            "trigger_key",
            "active",
            "fingerprint",
            "since",
            "machine",
            "hook",
            "token_hash",
        ),
    ),
    STARTS: SignedTable(
        title="start of a workflow",
        key=("run",),
        columns=("run", "workflow", "trigger_key", "occurrence", "event", "due"),
        # The event of a start is forgotten once its run has started.
        open_states=("pending", "starting"),
    ),
}
COPIED = (
    Table(
        name="workflow_triggers",
        columns=(
            "workflow",
            "trigger_key",
            "active",
            "fingerprint",
            "since",
            "checked_until",
            "machine",
            "hook",
            "token_hash",
            "decided",
        ),
        key=("workflow", "trigger_key"),
        decided="since",
    ),
    Table(
        name="workflow_starts",
        columns=(
            "run",
            "workflow",
            "trigger_key",
            "occurrence",
            "state",
            "event",
            "due",
            "updated",
            "note",
            "decided",
        ),
        key=("run",),
    ),
)
TABLES = FeatureTables(
    steps=(
        TableStep(adds=(TRIGGERS, "workflow"), sqlite=_CREATED, postgres=_CREATED_SHARED),
        TableStep(adds=(TRIGGERS, "decided"), sqlite=_DECIDED, postgres=_DECIDED),
    ),
    signed=SIGNED,
    copied=COPIED,
)
