"""The gateway's profiles: list, add, remove, require a token, set where their clients are asked for approval;
and when each was last used, and how often today."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import Field

from toolcrib.config.settings import ClientApprovals
from toolcrib.config.settings_file import (
    put_profile,
    remove_profile,
    set_approvals,
    set_token_hash,
)
from toolcrib.host import Host
from toolcrib.host.sharing import change_profiles
from toolcrib.operations.lookup import check_server
from toolcrib.operations.operation import operation
from toolcrib.operations.params_model import OperationParams
from toolcrib.operations.results.gateway import (
    ProfileRemoved,
    ProfileShown,
    ViewUse,
    profile_json,
)
from toolcrib.schema.json_values import moment
from toolcrib.store.columns import from_stored, to_stored
from toolcrib.store.connection import DatabaseConnection


@operation(page=True)
async def profile_list(host: Host) -> list[ProfileShown]:
    """List the gateway's profiles and which of them need a token; never the token.

    The first has no name and offers everything.
    """
    return [profile_json(host.settings, name) for name in ("", *host.settings.profiles)]


class ProfileAddParams(OperationParams):
    name: str
    servers: list[str] = Field(default_factory=list)
    tools: list[str] = Field(default_factory=list)
    read_only: bool = False
    search: bool = False
    plain_names: bool = False
    k: int | None = Field(default=None, ge=1, le=50)
    always_on: list[str] | None = None
    approvals: ClientApprovals | None = None
    replace: bool = False


@operation(page=True)
async def profile_add(host: Host, params: ProfileAddParams) -> ProfileShown:
    """Add a profile to the config file; a running gateway serves it at once."""
    for server in params.servers:
        check_server(host, server)
    view = {_KEYS[key]: value for key, value in params if key in _KEYS and value not in (None, False, [])}
    await change_profiles(host, lambda store: put_profile(store, params.name, view, replace=params.replace))
    return profile_json(host.settings, params.name)


_KEYS = {
    "servers": "servers",
    "tools": "tools",
    "read_only": "readOnly",
    "search": "search",
    "plain_names": "plainNames",
    "k": "k",
    "always_on": "alwaysOn",
    "approvals": "approvals",
}
"""Parameters and their keys in the config file."""


@operation(page=True)
async def profile_token(
    host: Host,
    *,
    name: str = "",
    token_hash: Annotated[str, Field(max_length=200, pattern=r"^(sha256:[0-9a-f]+:[0-9a-f]{64})?$")] = "",
    tail: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{0,4}$")] = "",
) -> ProfileShown:
    """Require a token for a profile; only its hash and last characters are sent here."""
    await change_profiles(host, lambda store: set_token_hash(store, name, token_hash, tail=tail))
    return profile_json(host.settings, name)


@operation(page=True)
async def profile_approvals(host: Host, *, approvals: ClientApprovals, name: str = "") -> ProfileShown:
    """Set how the clients of a profile are asked before Toolcrib's own tools send, invite or delete.

    `approvals`: in the client if it can ask, else on the page; only on the page; or not at all.
    """
    await change_profiles(host, lambda store: set_approvals(store, name, approvals))
    return profile_json(host.settings, name)


@operation(page=True)
async def profile_remove(host: Host, name: str) -> ProfileRemoved:
    """Remove a profile; its clients are disconnected and its token becomes invalid."""
    await change_profiles(host, lambda store: remove_profile(store, name))
    return {"name": name, "removed": True}


_USED = """SELECT principal, max(time), sum(CASE WHEN time >= ? THEN 1 ELSE 0 END) FROM calls
WHERE principal = 'gateway' OR principal LIKE 'gateway:%' GROUP BY principal"""


@operation(page=True)
async def view_use(host: Host) -> list[ViewUse]:
    """Show when each profile was last used, and how often today.

    In the order of `profile_list`.
    """
    midnight = datetime.now().astimezone().replace(hour=0, minute=0, second=0, microsecond=0)

    def look(connection: DatabaseConnection) -> dict[str, tuple[int, int]]:
        rows = connection.execute(_USED, (to_stored(midnight),))
        return {principal: (last, today) for principal, last, today in rows}

    used = await host.audit.look(look)
    return [_use(name, used.get(_principal(name))) for name in ("", *host.settings.profiles)]


def _principal(name: str) -> str:
    return f"gateway:{name}" if name else "gateway"


def _use(name: str, used: tuple[int, int] | None) -> ViewUse:
    if used is None:
        return {"name": name, "today": 0, "last_call": None}
    last, today = used
    return {"name": name, "today": today, "last_call": moment(from_stored(last))}
