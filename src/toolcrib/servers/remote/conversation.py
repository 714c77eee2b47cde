"""What the messages that pass by say about an HTTP conversation, and the headers that follow from it.

A request that carries its protocol version in `_meta` is modern: everything about it is mirrored in headers.
Any other belongs to the legacy era: the session id and version that `initialize` brought go with it. Nothing
here touches the network.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from toolcrib.servers.link import Message
from toolcrib.servers.remote.event_stream import Event
from toolcrib.servers.remote.headers import ToolMarks, modern_version, standard_headers
from toolcrib.servers.sessions.codec import NotAMessage, decode_any

SESSION_ID = "Mcp-Session-Id"
METHOD_NOT_FOUND = -32601


class Conversation:
    """The state of one conversation, as far as headers need it."""

    def __init__(self) -> None:
        self.session_id: str | None = None
        """The legacy session, once the server has named one."""
        self._modern_version: str | None = None
        self._agreed_version: str | None = None
        self._marks = ToolMarks()

    @property
    def modern(self) -> bool:
        """True when the latest request was of the modern era."""
        return self._modern_version is not None

    def headers_for(self, message: Message) -> dict[str, str]:
        """The headers to send this message with."""
        if is_request(message):
            self._modern_version = modern_version(message)
        if self._modern_version is not None:
            return standard_headers(message, self._modern_version) | self._marks.headers_for(message)
        if message.get("method") == "initialize":
            self.session_id = self._agreed_version = None  # what an earlier attempt brought does not count
        return self.session_headers()

    def session_headers(self) -> dict[str, str]:
        """The headers of everything that belongs to a legacy session."""
        headers: dict[str, str] = {}
        if self.session_id is not None:
            headers[SESSION_ID] = self.session_id
        if self._agreed_version is not None:
            headers["MCP-Protocol-Version"] = self._agreed_version
        return headers

    def needs_no_sending(self, message: Message) -> bool:
        """True for what the modern era expresses otherwise: closing the stream cancels, nobody replies."""
        if not self.modern or is_request(message):
            return False
        return "method" not in message or message["method"] == "notifications/cancelled"

    def learn(self, request: Message, reply: Message) -> tuple[Message, list[str]]:
        """The reply as it may be passed on, and complaints about what was left out of it."""
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
        """True when this refusal means that the server no longer knows our legacy session.

        The rule is 404. Servers grown from the well-known Express example say 400 and name the session.
        """
        if self.session_id is None or self.modern:
            return False
        error = refusal.get("error") if refusal is not None else None
        error = error if isinstance(error, dict) else {}
        is_answer = refusal is not None and request_id is not None and refusal.get("id") == request_id
        if status == 404:
            return not (is_answer and error.get("code") == METHOD_NOT_FOUND)
        return status == 400 and not is_answer and "session" in str(error.get("message")).lower()


async def messages_in(event: Event, complain: Callable[[str], None]) -> list[Message]:
    """The messages of one event of a stream; what is none is complained about and left out."""
    if event.type != "message":
        return []
    try:
        return await decode_any(event.data)
    except NotAMessage as error:
        complain(f"not a message: {event.data[:200].decode('utf-8', 'replace')}")
        return [] if error.answer is None else [error.answer]


def is_request(message: Message) -> bool:
    """True for a message that wants an answer."""
    return "method" in message and "id" in message


def is_reply(message: Message) -> bool:
    """True for a result or an error."""
    return "method" not in message and ("result" in message or "error" in message)


def answers_another(answered_id: Any, request_id: Any) -> bool:
    """True when an answer that came on a request's own stream is nevertheless for another request.

    A missing id, ours in quotes, or a word in place of one (some servers say "server-error") is still ours.
    """
    if answered_id is None or str(answered_id) == str(request_id):
        return False
    return type(answered_id) is type(request_id) or str(answered_id).isdigit()
