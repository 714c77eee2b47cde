"""The state of an HTTP session, learned from its messages, and the headers that follow from it: session id
and protocol version.

A request with its protocol version in `_meta` is modern: headers repeat its method and name. Any other
request is legacy and carries the session id and version of `initialize`. Uses no network.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from toolcrib.servers.metered import THREAD_WEIGHT, running
from toolcrib.servers.remote.event_stream import ServerSentEvent
from toolcrib.servers.remote.headers import ToolMarks, modern_version, standard_headers
from toolcrib.servers.sessions.codec import NotAMessage, decode_timed
from toolcrib.servers.transport import Message

SESSION_ID = "Mcp-Session-Id"
METHOD_NOT_FOUND = -32601


class Conversation:
    """The session state that headers need."""

    def __init__(self) -> None:
        self.session_id: str | None = None
        """The id of the legacy session, if the server gave one."""
        self._modern_version: str | None = None
        self._agreed_version: str | None = None
        self._marks = ToolMarks()

    @property
    def modern(self) -> bool:
        """Whether the latest request was modern."""
        return self._modern_version is not None

    def headers_for(self, message: Message) -> dict[str, str]:
        if is_request(message):
            self._modern_version = modern_version(message)
        if self._modern_version is not None:
            return standard_headers(message, self._modern_version) | self._marks.headers_for(message)
        if message.get("method") == "initialize":
            self.session_id = self._agreed_version = None  # forget an earlier attempt
        return self.session_headers()

    def session_headers(self) -> dict[str, str]:
        """The headers of a legacy session."""
        headers: dict[str, str] = {}
        if self.session_id is not None:
            headers[SESSION_ID] = self.session_id
        if self._agreed_version is not None:
            headers["MCP-Protocol-Version"] = self._agreed_version
        return headers

    def needs_no_sending(self, message: Message) -> bool:
        """Whether the modern era has no such message: closing the stream cancels, and nothing is replied."""
        if not self.modern or is_request(message):
            return False
        return "method" not in message or message["method"] == "notifications/cancelled"

    def learn(self, request: Message, reply: Message) -> tuple[Message, list[str]]:
        """The reply to pass on, and why parts of it were removed."""
        result = reply.get("result")
        if not isinstance(result, dict):
            return reply, []
        if request["method"] == "initialize":
            version = result.get("protocolVersion")
            self._agreed_version = version if isinstance(version, str) else None
        if request["method"] != "tools/list" or modern_version(request) is None:
            return reply, []
        kept, complaints = self._marks.learn(result)
        return ({**reply, "result": kept} if complaints else reply), complaints

    def ended_by(self, status: int, refusal: dict[str, Any] | None, request_id: Any = None) -> bool:
        """Whether this refusal means that the server no longer knows our legacy session.

        The standard is 404. Servers based on the Express example answer 400 and mention the session.
        """
        if self.session_id is None or self.modern:
            return False
        error = refusal.get("error") if refusal is not None else None
        error = error if isinstance(error, dict) else {}
        is_answer = (
            refusal is not None and request_id is not None and is_same_id(refusal.get("id"), request_id)
        )
        if status == 404:
            return not (is_answer and error.get("code") == METHOD_NOT_FOUND)
        return status == 400 and not is_answer and "session" in str(error.get("message")).lower()


async def messages_in(event: ServerSentEvent, complain: Callable[[str], None]) -> list[Message]:
    """The messages of one event; anything else is logged and skipped."""
    if event.type != "message":
        return []
    try:
        messages, seconds = await decode_timed(event.data)
    except NotAMessage as error:
        _charge(error.seconds)
        complain(f"not a message: {event.data[:200].decode('utf-8', 'replace')}")
        return [] if error.answer is None else [error.answer]
    if seconds and not any(map(is_reply, messages)):
        _charge(seconds)
    return messages


def _charge(seconds: float) -> None:
    metered = running()
    if metered is not None:
        metered.add(seconds * THREAD_WEIGHT)


def is_request(message: Message) -> bool:
    return "method" in message and "id" in message


def is_reply(message: Message) -> bool:
    return "method" not in message and ("result" in message or "error" in message)


def is_same_id(answered: Any, asked: Any) -> bool:
    """Whether an answer has the id of a request: `5` is not "5", `5.0` or `true`."""
    return type(answered) is type(asked) and bool(answered == asked)
