"""What a bundled server says about a call before it is approved: a preview (mail, event, message, screenshot)
and what the call acts on; with timeouts and limits of the texts and the picture.

Previews come from the method `toolcrib/preview`, scopes from `toolcrib/scope`. Only known fields of known
types are used.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any

from toolcrib.approvals.sessions import unknown_scope
from toolcrib.errors import ToolcribError
from toolcrib.schema.approvals import CallScope
from toolcrib.schema.tools import ToolCall
from toolcrib.serverkit.caller_context import CALL_ID, asked_call
from toolcrib.serverkit.data_flow import is_scoped
from toolcrib.servers.pool import Pool

PREVIEW = "toolcrib/preview"
SCOPE = "toolcrib/scope"
DEADLINE = 15.0
"""Seconds for a preview, which may fetch a mail; after that the question is asked without one."""
SCOPE_DEADLINE = 5.0
"""Seconds for a scope, which is read before every call; after that each call needs its own approval."""
KINDS = ("email", "event", "message", "screen")
LONGEST_LABEL = 300
LARGEST_PICTURE = 300_000
"""Bytes of a JPEG."""
LARGEST_SIDE = 4_096
LONGEST_TEXT = 100_000
MOST_NAMES = 1_000
_TEXTS = (
    "action",
    "account",
    "sender",
    "subject",
    "text",
    "calendar",
    "title",
    "start",
    "end",
    "where",
    "recurrence",
    "service",
    "channel",
    "application",
    "element",
)
_LISTS = ("to", "cc", "bcc", "attendees", "mentions")
_FLAGS = ("all_day", "notify")


class ServicePreviews:
    """Asks servers for previews."""

    def __init__(self, servers: Pool) -> None:
        self._servers = servers

    async def of(self, call: ToolCall) -> dict[str, Any] | None:
        """What a call would send or change; None if its server does not describe it."""
        reads = call.tool.definition.read_only and not is_scoped(call.tool.definition.raw)
        answer = None if reads else await self._request(PREVIEW, call, DEADLINE)
        return None if answer is None else read_preview(answer.get("preview"))

    async def scope_of(self, call: ToolCall) -> CallScope | None:
        """What a call acts on; None if its tool has no scopes."""
        if not is_scoped(call.tool.definition.raw):
            return None
        answer = await self._request(SCOPE, call, SCOPE_DEADLINE)
        found = None if answer is None else read_scope(answer.get("scope"))
        return found or unknown_scope(call.tool.definition.name)

    async def _request(self, method: str, call: ToolCall, timeout: float) -> Mapping[str, Any] | None:
        server = call.tool.server
        if call.tool.origin != "mcp" or server is None:
            return None
        params = {
            "name": call.tool.definition.name,
            "arguments": dict(call.arguments),
            "_meta": {CALL_ID: call.id},
        }
        asked_call.set(call.id)  # from now on, the server compares the call with what it described
        try:
            session = await self._servers.session(server, call.principal.session)
            answer: Mapping[str, Any] = await session.request(method, params, timeout=timeout)
        except ToolcribError:
            return None
        return answer


def read_scope(raw: Any) -> CallScope | None:
    """The scope that a server describes; None if it is not one."""
    if not isinstance(raw, Mapping) or not isinstance(raw.get("key"), str) or not raw.get("label"):
        return None
    label, reason, refusal = (
        str(raw.get(key) or "")[:LONGEST_LABEL] for key in ("label", "reason", "refusal")
    )
    return CallScope(key=raw["key"], label=label, reason=reason, refusal=refusal)


def read_preview(raw: Any) -> dict[str, Any] | None:
    """The known fields of a preview; None if it is not one."""
    if not isinstance(raw, Mapping) or raw.get("kind") not in KINDS:
        return None
    shown: dict[str, Any] = {"kind": raw["kind"]}
    given = {**raw, "sender": raw.get("sender", raw.get("from"))}
    for key in _TEXTS:
        if isinstance(given.get(key), str):
            shown[key] = _cut(given[key])
    for key in _LISTS:
        names = [given[key]] if isinstance(given.get(key), str) else given.get(key)
        if isinstance(names, list | tuple):
            shown[key] = _first([_cut(str(name)) for name in names if name])
    for key in _FLAGS:
        if isinstance(given.get(key), bool):
            shown[key] = given[key]
    if raw["kind"] == "screen":
        shown.update(_picture(given))
    if isinstance(given.get("attachments"), list | tuple):
        shown["attachments"] = [_attachment(item) for item in given["attachments"][:MOST_NAMES]]
    return shown


def _picture(given: Mapping[str, Any]) -> dict[str, Any]:
    """A screenshot with the part that is meant, in its own pixels; nothing if it is not one."""
    picture, width, height = given.get("picture"), given.get("width"), given.get("height")
    if not isinstance(picture, str) or not _is_side(width) or not _is_side(height) or not _is_jpeg(picture):
        return {}
    shown: dict[str, Any] = {"picture": picture, "width": width, "height": height}
    target = given.get("target")
    sides = ("x", "y", "width", "height")
    if isinstance(target, Mapping) and all(type(target.get(side)) is int for side in sides):
        shown["target"] = {side: target[side] for side in sides}
    return shown


def _is_side(value: Any) -> bool:
    return type(value) is int and 0 < value <= LARGEST_SIDE


def _is_jpeg(encoded: str) -> bool:
    if len(encoded) > LARGEST_PICTURE * 4 // 3 + 4:
        return False
    try:
        return base64.b64decode(encoded, validate=True).startswith(b"\xff\xd8")
    except (binascii.Error, ValueError):
        return False


def _cut(text: str) -> str:
    """The text; what is left out of a long one is counted, because it would be sent as well."""
    more = len(text) - LONGEST_TEXT
    return text if more <= 0 else f"{text[:LONGEST_TEXT]}… ({more} more characters)"


def _first(names: list[str]) -> list[str]:
    more = len(names) - MOST_NAMES
    return names if more <= 0 else [*names[:MOST_NAMES], f"… and {more} more"]


def _attachment(item: Any) -> dict[str, Any]:
    found = item if isinstance(item, Mapping) else {}
    size = found.get("size")
    return {"name": str(found.get("name", "")), "size": size if isinstance(size, int) else 0}
