"""The tools for sessions: create, read, list, delete."""

from __future__ import annotations

from typing import Any, TypedDict

from toolcrib.bundled.desktop.automation_sessions import AutomationSession, AutomationSessions
from toolcrib.bundled.desktop.identifiers import timestamp
from toolcrib.bundled.desktop.pages import paginate
from toolcrib.bundled.desktop.session import DesktopSession
from toolcrib.bundled.desktop.tools.offer import Offer, answer
from toolcrib.serverkit.server import ToolServer

HISTORY_SHOWN = 50


class SessionArgument(TypedDict, total=False):
    display_name: str
    metadata: dict[str, str]


class OperationData(TypedDict):
    operation_time: str | None
    operation_type: str
    resource: str
    success: bool
    error: str
    transaction_id: str


class SessionData(TypedDict):
    name: str
    display_name: str
    state: str
    create_time: str | None
    last_access_time: str | None
    expire_time: str | None
    transaction_id: str
    metadata: dict[str, str]


class SessionDetails(SessionData):
    history: list[OperationData]


class SessionList(TypedDict):
    sessions: list[SessionData]
    next_page_token: str


class SessionDeleted(TypedDict):
    name: str


class SessionTools:
    def __init__(self, sessions: AutomationSessions) -> None:
        self._sessions = sessions

    async def create_session(
        self, session: SessionArgument | None = None, session_id: str | None = None
    ) -> SessionData:
        given = session or {}
        made = self._sessions.create(given.get("display_name", ""), given.get("metadata"), session_id)
        data = session_data(made)
        return answer(data, f"Created {made.name}; it expires at {data['expire_time']} unless it is used.")

    async def get_session(self, name: str) -> SessionDetails:
        found = self._sessions.get(name)
        history = [
            OperationData(
                operation_time=timestamp(each.operation_time),
                operation_type=each.operation_type,
                resource=each.resource,
                success=each.success,
                error=each.error,
                transaction_id=each.transaction_id,
            )
            for each in list(found.history)[-HISTORY_SHOWN:]
        ]
        return {**session_data(found), "history": history}

    async def list_sessions(self, page_size: int = 0, page_token: str = "") -> SessionList:
        page = paginate(self._sessions.all(), page_size, page_token, "sessions")
        data: SessionList = {
            "sessions": [session_data(each) for each in page.items],
            "next_page_token": page.next_page_token,
        }
        lines = [f"{each.name} {each.display_name!r} {each.state}" for each in page.items]
        return answer(data, "\n".join(lines) or "No sessions.")

    async def delete_session(self, name: str, force: bool = False) -> SessionDeleted:
        self._sessions.delete(name, force=force)
        return {"name": name}


def offer_tools(server: ToolServer, session: DesktopSession, wanted: frozenset[str] | None) -> None:
    tools, offer = SessionTools(session.automation), Offer(server, wanted)
    reading = {"read_only": True, "open_world": False, "reach": "here"}
    changing: dict[str, Any] = {"open_world": False, "reach": "here"}
    offer(tools.create_session, "Create a session", destructive=False, **changing)
    offer(tools.get_session, "Read a session", **reading)
    offer(tools.list_sessions, "List sessions", **reading)
    offer(tools.delete_session, "Delete a session", destructive=True, **changing)


def session_data(session: AutomationSession) -> SessionData:
    return {
        "name": session.name,
        "display_name": session.display_name,
        "state": session.state,
        "create_time": timestamp(session.create_time),
        "last_access_time": timestamp(session.last_access_time),
        "expire_time": timestamp(session.expire_time),
        "transaction_id": session.transaction.transaction_id if session.transaction else "",
        "metadata": dict(session.metadata),
    }
