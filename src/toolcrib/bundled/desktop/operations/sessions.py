"""Tools for sessions and their transactions: create, read, list, delete, begin, commit, roll back. Decides
how much history is shown."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypedDict

from toolcrib.bundled.desktop.automation_sessions import (
    AutomationSession,
    OperationRecord,
    SessionTransaction,
)
from toolcrib.bundled.desktop.operations.table import KEEPING, Desktop, Reply, operation
from toolcrib.bundled.desktop.resources import timestamp

HISTORY_SHOWN = 50
PAGE = 50
READING = replace(KEEPING, read_only=True)


class SessionArgument(TypedDict, total=False):
    display_name: str
    metadata: dict[str, str]


@dataclass(frozen=True)
class SessionRecord:
    name: str
    display_name: str
    state: str
    create_time: str | None
    last_access_time: str | None
    expire_time: str | None
    transaction_id: str
    metadata: dict[str, str]


@dataclass(frozen=True)
class SessionDetails(SessionRecord):
    history: list[OperationRecord]


@dataclass(frozen=True)
class SessionList:
    sessions: list[SessionRecord]
    next_page_token: str


@dataclass(frozen=True)
class SessionDeleted:
    name: str


@dataclass(frozen=True)
class TransactionBegun:
    transaction_id: str
    session: SessionRecord


@dataclass(kw_only=True)
class TransactionEnded(SessionTransaction):
    updated_session: SessionRecord


@dataclass(frozen=True)
class SessionSnapshot:
    session: SessionRecord
    applications: list[str]
    observations: list[str]
    history: list[OperationRecord]


@operation("Create a session", replace(KEEPING, destructive=False))
async def create_session(
    desktop: Desktop, session: SessionArgument | None = None, session_id: str | None = None
) -> Reply[SessionRecord]:
    given = session or {}
    made = desktop.session.automation.create(given.get("display_name", ""), given.get("metadata"), session_id)
    data = _record(made)
    return Reply(data, f"Created {made.name}; it expires at {data.expire_time} unless it is used.")


@operation("Read a session", READING)
async def get_session(desktop: Desktop, name: str) -> SessionDetails:
    found = _find(desktop, name)
    return SessionDetails(**vars(_record(found)), history=list(found.history)[-HISTORY_SHOWN:])


@operation("List sessions", READING)
async def list_sessions(desktop: Desktop, page_size: int = 0, page_token: str = "") -> Reply[SessionList]:
    sessions = desktop.session.automation.all()
    page = desktop.page(sessions, page_size, page_token, "sessions", default=PAGE, rpc_default=PAGE)
    data = SessionList([_record(session) for session in page.items], page.next_page_token)
    lines = [f"{session.name} {session.display_name!r} {session.state}" for session in page.items]
    return Reply(data, "\n".join(lines) or "No sessions.")


@operation("Delete a session", replace(KEEPING, destructive=True))
async def delete_session(desktop: Desktop, name: str, force: bool = False) -> SessionDeleted:
    desktop.check_name(name, "sessions")
    desktop.session.automation.delete(name, force=force)
    return SessionDeleted(name)


@operation("", KEEPING)
async def begin_transaction(desktop: Desktop, session: str) -> TransactionBegun:
    found = _find(desktop, session)
    begun = desktop.session.automation.begin(session)
    return TransactionBegun(begun.transaction_id, _record(found))


@operation("", KEEPING)
async def commit_transaction(desktop: Desktop, name: str, transaction_id: str) -> TransactionEnded:
    found = _find(desktop, name)
    return _ended(desktop.session.automation.end(name, transaction_id, "committed"), found)


@operation("", KEEPING)
async def rollback_transaction(desktop: Desktop, name: str, transaction_id: str) -> TransactionEnded:
    """Ends the transaction; what was done on the desktop stays."""
    found = _find(desktop, name)
    return _ended(desktop.session.automation.end(name, transaction_id, "rolled_back"), found)


@operation("", READING)
async def get_session_snapshot(desktop: Desktop, name: str) -> SessionSnapshot:
    found = _find(desktop, name.removesuffix("/snapshot"))
    used = {resource.partition("/observations/")[0] for resource in found.resources}
    return SessionSnapshot(
        session=_record(found),
        applications=sorted(resource for resource in used if resource.startswith("applications/")),
        observations=[resource for resource in found.resources if "/observations/" in resource],
        history=list(found.history),
    )


def _find(desktop: Desktop, name: str) -> AutomationSession:
    desktop.check_name(name, "sessions")
    return desktop.session.automation.get(name)


def _record(session: AutomationSession) -> SessionRecord:
    return SessionRecord(
        name=session.name,
        display_name=session.display_name,
        state=session.state,
        create_time=timestamp(session.create_time),
        last_access_time=timestamp(session.last_access_time),
        expire_time=timestamp(session.expire_time),
        transaction_id=session.transaction.transaction_id if session.transaction else "",
        metadata=dict(session.metadata),
    )


def _ended(transaction: SessionTransaction, session: AutomationSession) -> TransactionEnded:
    return TransactionEnded(**vars(transaction), updated_session=_record(session))
