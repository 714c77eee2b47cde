"""Gateway profiles: what is shown of each, with its path (`/mcp/NAME`) and the end of its token."""

from __future__ import annotations

from urllib.parse import quote

from typing_extensions import TypedDict

from toolcrib.approvals.gate import DEFAULT_MODES
from toolcrib.config.settings import ClientApprovals, ProfileSettings, Settings
from toolcrib.schema.approvals import Mode


class ProfileShown(TypedDict):
    """A gateway profile; the one without a name offers all tools."""

    name: str
    path: str
    servers: list[str]
    tools: list[str]
    read_only: bool
    search: bool
    plain_names: bool
    k: int
    always_on: list[str]
    token: bool
    """Whether clients need a token."""
    token_tail: str
    """The token's last characters, if known."""
    mode: Mode
    """When its clients' calls need approval."""
    approvals: ClientApprovals
    """Where they are asked about; `off` if Toolcrib's own tools send, invite and delete without."""


class ProfileRemoved(TypedDict):
    name: str
    removed: bool


class ViewUse(TypedDict):
    """Use of a gateway profile."""

    name: str
    today: int
    """Calls since midnight."""
    last_call: str | None


def profile_json(settings: Settings, name: str) -> ProfileShown:
    guarded = settings.profiles[name] if name else settings.gateway
    own = settings.profiles[name] if name else ProfileSettings()
    always_on = settings.retrieval.always_on if own.always_on is None else own.always_on
    return {
        "name": name,
        "path": f"/mcp/{quote(name, safe='')}" if name else "/mcp",
        "servers": list(own.servers),
        "tools": list(own.tools),
        "read_only": own.read_only,
        "search": own.search,
        "plain_names": own.plain_names,
        "k": own.k or settings.retrieval.k,
        "always_on": list(always_on),
        "token": bool(guarded.token_hash),
        "token_tail": guarded.token_tail if guarded.token_hash else "",
        "mode": _gateway_mode(settings),
        "approvals": guarded.approvals,
    }


def _gateway_mode(settings: Settings) -> Mode:
    """When calls through the gateway need approval."""
    approvals = settings.approvals
    return {**DEFAULT_MODES, **approvals.modes}.get("gateway", approvals.mode)
