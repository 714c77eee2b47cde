"""Sessions and their transactions."""

from __future__ import annotations

from typing import Any

from toolcrib.bundled.desktop.automation_sessions import (
    AutomationSession,
    IsolationLevel,
)
from toolcrib.bundled.desktop.grpc.names import last_part
from toolcrib.bundled.desktop.grpc.pages import page_of
from toolcrib.bundled.desktop.grpc.records import to_message
from toolcrib.bundled.desktop.grpc.schema import Empty, v1
from toolcrib.bundled.desktop.grpc.served import ServedDesktop

PAGE = 50


class SessionMethods:
    def __init__(self, desktop: ServedDesktop) -> None:
        self._desktop = desktop
        self._sessions = desktop.session.automation

    async def create_session(self, request: Any) -> Any:
        given = request.session
        return session_message(
            self._sessions.create(given.display_name, dict(given.metadata), request.session_id)
        )

    async def get_session(self, request: Any) -> Any:
        return session_message(self._find(request.name))

    async def list_sessions(self, request: Any) -> Any:
        page, following = page_of(request, self._sessions.all(), PAGE)
        return v1.ListSessionsResponse(
            sessions=[session_message(each) for each in page], next_page_token=following
        )

    async def delete_session(self, request: Any) -> Any:
        self._find(request.name)
        self._sessions.delete(request.name, force=request.force)
        return Empty()

    async def begin_transaction(self, request: Any) -> Any:
        found = self._find(request.session)
        reading = request.isolation_level == v1.BeginTransactionRequest.ISOLATION_LEVEL_READ_COMMITTED
        level: IsolationLevel = "read_committed" if reading else "serializable"
        begun = self._sessions.begin(request.session, level)
        return v1.BeginTransactionResponse(
            transaction_id=begun.transaction_id, session=session_message(found)
        )

    async def commit_transaction(self, request: Any) -> Any:
        found = self._find(request.name)
        return _ended(self._sessions.commit(request.name, request.transaction_id), found)

    async def rollback_transaction(self, request: Any) -> Any:
        """Ends the transaction; what was done on the desktop stays."""
        found = self._find(request.name)
        return _ended(self._sessions.roll_back(request.name, request.transaction_id), found)

    async def get_session_snapshot(self, request: Any) -> Any:
        found = self._find(request.name.removesuffix("/snapshot"))
        used = {each.partition("/observations/")[0] for each in found.resources}
        return v1.SessionSnapshot(
            session=session_message(found),
            applications=sorted(each for each in used if each.startswith("applications/")),
            observations=[each for each in found.resources if "/observations/" in each],
            history=[to_message(v1.OperationRecord, each) for each in found.history],
        )

    def _find(self, name: str) -> AutomationSession:
        last_part(name, "sessions")
        return self._sessions.get(name)


def offer_methods(desktop: ServedDesktop) -> SessionMethods:
    return SessionMethods(desktop)


def session_message(session: AutomationSession) -> Any:
    made = to_message(v1.Session, session)
    if session.transaction is not None:
        made.transaction_id = session.transaction.transaction_id
    return made


def _ended(transaction: Any, session: AutomationSession) -> Any:
    made = to_message(v1.Transaction, transaction)
    made.updated_session.CopyFrom(session_message(session))
    return made
