"""Resources, resource templates and prompts of a server: listing them in parts, reading a resource, filling
in a prompt. How much of a text or picture is given, and what is left out of a list because it has no name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from toolcrib.errors import PeerError
from toolcrib.host import Host
from toolcrib.operations.command import SERVER, Column, Command, CommandParameter
from toolcrib.operations.lookup import check_server
from toolcrib.operations.operation import Strings, named_server, operation
from toolcrib.operations.results.resources import (
    PromptArgument,
    PromptFilled,
    PromptListed,
    PromptMessage,
    ResourceContent,
    ResourceListed,
    ResourceRead,
)
from toolcrib.serverkit.protocol import METHOD_NOT_FOUND
from toolcrib.servers.sessions.session import Session

LIST_TIMEOUT = 30.0
READ_TIMEOUT = 60.0
MOST_TEXT = 200_000
"""Characters of a text that are given."""
MOST_PICTURE = 4 * 1024 * 1024
"""Characters of a picture in base64 that are given."""
LONGEST_WORD = 2000
"""Characters of a name, an address or a description."""
Limit = Annotated[int, Field(ge=1, le=1000)]
Offset = Annotated[int, Field(ge=0)]
_LIMIT = CommandParameter("limit", help="Maximum number.", metavar="N", short="-n")
_OFFSET = CommandParameter("offset", help="Leave out so many first ones.", metavar="N")


@operation(
    page=True,
    needs=named_server,
    command=Command(
        section="Servers",
        help="List the resources of NAME, and its templates of addresses.",
        columns=(
            Column("ADDRESS", "{uri}"),
            Column("KIND", "{kind}"),
            Column("TYPE", "{mime_type}|-"),
            Column("NAME", "{name}|-"),
        ),
        empty="It offers no resources.",
        parameters=(SERVER, _LIMIT, _OFFSET),
    ),
)
async def resources(host: Host, name: str, *, limit: Limit = 500, offset: Offset = 0) -> list[ResourceListed]:
    """List the resources of a server, then its templates of addresses."""
    check_server(host, name)
    session = await host.servers.session(name)
    listed = [_resource(raw, "uri") for raw in await _listed(session, "resources")]
    if session.offers("resources"):
        templates = await _listed(session, "resources/templates", "resourceTemplates")
        listed += [_resource(raw, "uriTemplate") for raw in templates]
    return [one for one in listed if one["uri"]][offset : offset + limit]


@operation(page=True, needs=named_server)
async def resource_read(host: Host, name: str, uri: Annotated[str, Field(max_length=8192)]) -> ResourceRead:
    """Read a resource of a server; long texts are cut, and of other content only pictures are given."""
    check_server(host, name)
    session = await host.servers.session(name)
    found = await session.ask("resources/read", {"uri": uri}, timeout=READ_TIMEOUT)
    contents = [_content(raw) for raw in _objects(found.get("contents"))]
    return {"server": name, "uri": uri, "contents": contents}


@operation(
    page=True,
    needs=named_server,
    command=Command(
        section="Servers",
        help="List the prompts of NAME, and their arguments.",
        columns=(
            Column("NAME", "{name}"),
            Column("DESCRIPTION", "{description}|-"),
        ),
        empty="It offers no prompts.",
        parameters=(SERVER, _LIMIT, _OFFSET),
    ),
)
async def prompts(host: Host, name: str, *, limit: Limit = 500, offset: Offset = 0) -> list[PromptListed]:
    """List the prompts of a server."""
    check_server(host, name)
    session = await host.servers.session(name)
    listed = [_prompt(raw) for raw in await _listed(session, "prompts")]
    return [one for one in listed if one["name"]][offset : offset + limit]


@operation(page=True, needs=named_server)
async def prompt_get(host: Host, name: str, prompt: str, *, arguments: Strings) -> PromptFilled:
    """Fill in a prompt of a server; no model is asked."""
    check_server(host, name)
    session = await host.servers.session(name)
    params = {"name": prompt, "arguments": arguments}
    found = await session.ask("prompts/get", params, timeout=READ_TIMEOUT)
    messages = [_message(raw) for raw in _objects(found.get("messages"))]
    return {
        "server": name,
        "prompt": prompt,
        "description": _word(found, "description"),
        "messages": messages,
    }


async def _listed(session: Session, kind: str, key: str | None = None) -> list[Mapping[str, Any]]:
    """The objects of a list; none if the server does not offer it."""
    if not session.offers(kind.partition("/")[0]):
        return []
    try:
        return _objects(await session.list_all(kind, timeout=LIST_TIMEOUT, key=key))
    except PeerError as error:
        if error.code == METHOD_NOT_FOUND:  # templates are optional
            return []
        raise


def _objects(value: Any) -> list[Mapping[str, Any]]:
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def _word(raw: Mapping[str, Any], key: str) -> str:
    value = raw.get(key)
    return value[:LONGEST_WORD] if isinstance(value, str) else ""


def _resource(raw: Mapping[str, Any], address: str) -> ResourceListed:
    size = raw.get("size")
    return {
        "kind": "resource" if address == "uri" else "template",
        "uri": _word(raw, address),
        "name": _word(raw, "title") or _word(raw, "name"),
        "description": _word(raw, "description"),
        "mime_type": _word(raw, "mimeType"),
        "size": size if isinstance(size, int) else None,
    }


def _content(raw: Mapping[str, Any]) -> ResourceContent:
    text, blob, kind = raw.get("text"), raw.get("blob"), _word(raw, "mimeType")
    is_text = isinstance(text, str)
    is_picture = isinstance(blob, str) and kind.startswith("image/") and len(blob) <= MOST_PICTURE
    size = len(text) if isinstance(text, str) else len(blob) * 3 // 4 if isinstance(blob, str) else 0
    return {
        "uri": _word(raw, "uri"),
        "mime_type": kind,
        "text": text[:MOST_TEXT] if isinstance(text, str) else None,
        "picture": blob if is_picture else None,
        "size": size,
        "cut": is_text and size > MOST_TEXT,
    }


def _prompt(raw: Mapping[str, Any]) -> PromptListed:
    found = _objects(raw.get("arguments"))
    arguments: list[PromptArgument] = [
        {
            "name": _word(one, "name"),
            "description": _word(one, "description"),
            "required": one.get("required") is True,
        }
        for one in found
        if _word(one, "name")
    ]
    return {
        "name": _word(raw, "name"),
        "description": _word(raw, "description") or _word(raw, "title"),
        "arguments": arguments,
    }


def _message(raw: Mapping[str, Any]) -> PromptMessage:
    content = raw.get("content")
    content = content if isinstance(content, Mapping) else {}
    inner = content.get("resource")
    text = content.get("text") or (inner.get("text") if isinstance(inner, Mapping) else None)
    text = text if isinstance(text, str) else ""
    return {
        "role": _word(raw, "role"),
        "type": _word(content, "type"),
        "text": text[:MOST_TEXT],
        "cut": len(text) > MOST_TEXT,
    }
