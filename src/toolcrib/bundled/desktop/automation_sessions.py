"""Sessions that group what a client does: metadata, a history, and transactions that only keep account.
Limits: when a session expires, most sessions, metadata and history entries; error messages for active or
missing transactions.

A session expires an hour after its last use. Expiry is checked when sessions are used, so there is no timer.
Rolling a transaction back does not undo what was done on the desktop. All of it is lost with the process.
"""

from __future__ import annotations

import time
import uuid
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from toolcrib.bundled.desktop.resources import ResourceExists, SessionMissing, id_of, new_id, timestamp
from toolcrib.serverkit.context import ToolFailure

COLLECTION = "sessions"
LIFETIME = 3600.0
MAX_SESSIONS = 100
MAX_METADATA = 64
MAX_METADATA_TEXT = 2_000
MAX_HISTORY = 1_000

SessionStateWord = Literal["active", "in_transaction", "expired"]
TransactionStateWord = Literal["active", "committed", "rolled_back"]


class TransactionConflict(ToolFailure):
    """A transaction is active."""

    kind = "transaction_conflict"
    reason = "TRANSACTION_IN_PROGRESS"


class TransactionMissing(ToolFailure):
    """There is no such active transaction."""

    kind = "no_transaction"
    reason = "NO_TRANSACTION_IN_PROGRESS"


@dataclass(frozen=True)
class OperationRecord:
    operation_time: str | None
    operation_type: str
    resource: str
    success: bool
    error: str = ""
    transaction_id: str = ""


@dataclass
class SessionTransaction:
    transaction_id: str
    session: str
    start_time: str | None
    state: TransactionStateWord = "active"
    operations_count: int = 0


@dataclass
class AutomationSession:
    name: str
    display_name: str
    metadata: Mapping[str, str]
    create_time: float
    last_access_time: float
    expire_time: float
    history: deque[OperationRecord] = field(default_factory=lambda: deque(maxlen=MAX_HISTORY))
    transaction: SessionTransaction | None = None
    is_expired: bool = False

    @property
    def state(self) -> SessionStateWord:
        if self.is_expired:
            return "expired"
        return "in_transaction" if self.transaction is not None else "active"

    @property
    def resources(self) -> list[str]:
        """What its operations touched, in the order of their first use."""
        return list(dict.fromkeys(record.resource for record in self.history if record.resource))


class AutomationSessions:
    """The sessions of a server."""

    def __init__(self, now: Callable[[], float] = time.time, lifetime: float = LIFETIME) -> None:
        self._now = now
        self._lifetime = lifetime
        self._known: dict[str, AutomationSession] = {}

    def create(
        self, display_name: str = "", metadata: Mapping[str, str] | None = None, session_id: str | None = None
    ) -> AutomationSession:
        """Raises `ToolFailure` if the id is taken or there are too many."""
        self._expire()
        _check_metadata(metadata or {})
        chosen = new_id(session_id)
        if chosen in self._known and not self._known[chosen].is_expired:
            raise ResourceExists(f"There is already a session {chosen!r}.", "Choose another session_id.")
        self._make_room()
        now = self._now()
        made = AutomationSession(
            name=f"{COLLECTION}/{chosen}",
            display_name=display_name[:200],
            metadata=dict(metadata or {}),
            create_time=now,
            last_access_time=now,
            expire_time=now + self._lifetime,
        )
        self._known[chosen] = made
        return made

    def get(self, name: str) -> AutomationSession:
        """Also one that has expired, as long as it is remembered; raises `ToolFailure`."""
        self._expire()
        found = self._known.get(id_of(name, COLLECTION))
        if found is None:
            raise SessionMissing(f"There is no session {name!r}.", "Create one with create_session.")
        if not found.is_expired:
            self._touch(found)
        return found

    def all(self) -> list[AutomationSession]:
        """In the order of their creation; looking at them does not count as use."""
        self._expire()
        return list(self._known.values())

    def delete(self, name: str, *, force: bool = False) -> None:
        """With an active transaction only if forced."""
        found = self.get(name)
        if found.transaction is not None and not force:
            raise TransactionConflict(
                f"{found.name} has an active transaction.", "Commit or roll it back, or use force."
            )
        del self._known[id_of(name, COLLECTION)]

    def begin(self, name: str) -> SessionTransaction:
        found = self._usable(name)
        if found.transaction is not None:
            raise TransactionConflict(
                f"{found.name} already has the transaction {found.transaction.transaction_id}.",
                "Commit it or roll it back first.",
            )
        found.transaction = SessionTransaction(uuid.uuid4().hex, found.name, timestamp(self._now()))
        return found.transaction

    def record(self, name: str, operation_type: str, resource: str, error: str = "") -> None:
        """Add to the history what was done in a session; counted in its active transaction."""
        found = self._usable(name)
        active = found.transaction
        if active is not None:
            active.operations_count += 1
        transaction_id = active.transaction_id if active is not None else ""
        now = timestamp(self._now())
        found.history.append(
            OperationRecord(now, operation_type, resource, not error, error[:500], transaction_id)
        )

    def end(self, name: str, transaction_id: str, state: TransactionStateWord) -> SessionTransaction:
        """Commit the active transaction, or roll it back."""
        found = self._usable(name)
        active = found.transaction
        if active is None or active.transaction_id != transaction_id:
            raise TransactionMissing(
                f"{found.name} has no active transaction {transaction_id!r}.", "Begin one first."
            )
        active.state = state
        found.transaction = None
        return active

    def _usable(self, name: str) -> AutomationSession:
        found = self.get(name)
        if found.is_expired:
            raise ToolFailure(f"{found.name} has expired.", "Create a new session.")
        return found

    def _touch(self, session: AutomationSession) -> None:
        session.last_access_time = self._now()
        session.expire_time = session.last_access_time + self._lifetime

    def _expire(self) -> None:
        """Mark those whose time is over, and forget those that expired long ago."""
        now = self._now()
        for key, session in list(self._known.items()):
            if session.expire_time + self._lifetime < now:
                del self._known[key]
            elif session.expire_time <= now and not session.is_expired:
                session.is_expired = True
                session.transaction = None

    def _make_room(self) -> None:
        for key in [key for key, session in self._known.items() if session.is_expired]:
            if len(self._known) >= MAX_SESSIONS:
                del self._known[key]
        if len(self._known) >= MAX_SESSIONS:
            raise ToolFailure(
                f"There are already {MAX_SESSIONS} sessions.", "Delete some with delete_session."
            )


def _check_metadata(metadata: Mapping[str, str]) -> None:
    if len(metadata) > MAX_METADATA:
        raise ToolFailure(f"The metadata of a session has at most {MAX_METADATA} entries.")
    if any(len(key) + len(value) > MAX_METADATA_TEXT for key, value in metadata.items()):
        raise ToolFailure(f"An entry of the metadata has at most {MAX_METADATA_TEXT} characters.")
