"""`call_path`: how one call went: who asked, what the gate and the person said, which server."""

from __future__ import annotations

import asyncio
import json
from functools import partial
from typing import Any, cast

from toolcrib.control.answers.activity import CallPath
from toolcrib.control.answers.chats import CallExhibit
from toolcrib.control.call_shapes import shown_call
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.needs import NOTHING, Configured, Emit, Needs
from toolcrib.control.policy_shapes import rule_numbers, shown_rules, speaks_of_tool
from toolcrib.errors import NotFound
from toolcrib.host import Host
from toolcrib.host.approvals import is_ours
from toolcrib.host.call_preview import exhibit
from toolcrib.schema.tools import CallRecord
from toolcrib.store.audit_search import find_one

FOR_PAGES = True


class Params(OperationParams):
    """Which call."""

    call_id: str


def needs(params: Params, configured: Configured) -> Needs:
    """The record is in the database."""
    return NOTHING


async def run(host: Host, params: Params, emit: Emit) -> CallPath:
    """`{call, chat, exhibit, rules, server_state}`; raises `NotFound`."""
    found = await host.audit.look(partial(find_one, call_id=params.call_id))
    if found is None:
        raise NotFound(
            f"No call {params.call_id!r} is in the record.", hint="It may be too old, or run still."
        )
    call = shown_call(host, found, rule_numbers(host))
    server = found.record.server
    return {
        "call": call,
        "chat": await _title(host, found.record),
        "exhibit": await _exhibit(host, found.record),
        "rules": [one for one in await shown_rules(host) if speaks_of_tool(one, server, call["name"])],
        "server_state": _state(host, server),
    }


def _state(host: Host, server: str | None) -> str | None:
    return host.servers.status(server).state.value if server is not None and server in host.servers else None


async def _title(host: Host, record: CallRecord) -> str | None:
    if record.principal != "agent" or not record.session:
        return None
    try:
        return (await host.chats.load(record.session)).info.title
    except NotFound:
        return None


async def _exhibit(host: Host, record: CallRecord) -> CallExhibit:
    """The command part by part, where it is one; files are not looked at, they have changed since."""
    tool = host.registry.snapshot.tools.get(record.tool)
    arguments = _read(record.arguments)
    if tool is None or arguments is None or "path" in arguments:
        return {"kind": "arguments"}
    ours = is_ours(tool, host.config, host.workspace_tools)
    shown = await asyncio.to_thread(exhibit, tool, arguments, ours=ours, folder="")
    return cast("CallExhibit", shown)


def _read(text: str) -> dict[str, Any] | None:
    try:
        read = json.loads(text)
    except ValueError:
        return None  # cut
    return read if isinstance(read, dict) else None
