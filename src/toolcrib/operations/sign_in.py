"""Signing in to remote servers and out again: which servers have no sign-in, the messages of `toolcrib
logout`, and the restart of the server afterwards."""

from __future__ import annotations

import asyncio
import time

from pydantic import Field

from toolcrib.config.expansion import expand
from toolcrib.errors import ConfigError, UsageError
from toolcrib.host import Host
from toolcrib.operations.command import SERVER, Command
from toolcrib.operations.lookup import check_server
from toolcrib.operations.operation import Invocation, operation
from toolcrib.operations.params_model import OperationParams
from toolcrib.operations.results.servers import Server, SignedInTo, SignedOutOf, SignInPage, server_shown
from toolcrib.operations.servers import settled
from toolcrib.schema.servers import ServerEntry
from toolcrib.servers.connector import find_transport, parse_spec
from toolcrib.servers.remote.spec import RemoteSpec
from toolcrib.servers.signin.login import PATIENCE, OAuthClient, sign_in


class LoginParams(OperationParams):
    """The server, the hosts that the user confirmed, if asked, and how long the user may take."""

    name: str
    hosts: dict[str, str] = Field(default={})
    patience: float = Field(default=PATIENCE, gt=0, le=3600)
    wait: float = Field(default=0.0, ge=0, le=3600)


@operation(page=True)
async def login(host: Host, invocation: Invocation[SignInPage], params: LoginParams) -> SignedInTo:
    """Sign in to a remote server in a browser and store the tokens as secrets.

    Emits `{open: URL, issuer}`, the page to show and to whom it belongs. If issuer, page and token endpoint
    have different hosts, it fails with `hosts_not_confirmed`, and `data` names them: call it again with them
    as `hosts` once the user has confirmed them.
    """
    check_server(host, params.name)
    entry = host.config.servers.get(params.name)
    if entry is None:
        raise host.config.broken[params.name]
    distrust = host.core.trust.distrust(entry)
    if distrust is not None:
        raise distrust
    spec, client = await asyncio.to_thread(_read, host, entry)
    earlier = await asyncio.to_thread(host.core.credentials.load, params.name)

    async def open_page(address: str, issuer: str) -> None:
        await invocation.emit({"open": address, "issuer": issuer})

    kept = await sign_in(
        params.name,
        spec,
        open_page,
        client=client,
        earlier=earlier,
        hosts=params.hosts,
        patience=params.patience,
    )
    await asyncio.to_thread(host.core.credentials.save, params.name, kept)
    return {
        "name": params.name,
        "issuer": kept.issuer,
        "scope": kept.scope,
        "expires_in": None if kept.expires_at is None else round(kept.expires_at - time.time()),
        "renews": kept.refresh_token is not None,
        "server": await _restarted(host, params),
    }


async def _restarted(host: Host, params: LoginParams) -> Server | None:
    if params.name not in host.servers.names():
        return None
    await host.servers[params.name].restart()
    status = (
        await settled(host, params.name, params.wait) if params.wait else host.servers.status(params.name)
    )
    return server_shown(status, host)


def _read(host: Host, entry: ServerEntry) -> tuple[RemoteSpec, OAuthClient]:
    """The address and the OAuth client, with references filled in."""
    raw = expand(entry.raw, host.core.connector.environ, host.core.secrets.get)
    spec = parse_spec(find_transport(entry), entry.name, raw)
    if not isinstance(spec, RemoteSpec):
        raise UsageError(
            f"{entry.name} runs on this machine and needs no sign-in.",
            hint="Only servers with an address need a sign-in.",
        )
    given = raw.get("oauth")
    if given is None:
        return spec, OAuthClient()
    if not isinstance(given, dict):
        raise ConfigError(f"{entry.name}: oauth must be an object.", hint='Such as {"clientId": "…"}.')
    return spec, OAuthClient(
        client_id=given.get("clientId"),
        client_secret=given.get("clientSecret"),
        metadata_url=given.get("clientMetadataUrl"),
        scope=given.get("scope"),
        port=int(given.get("redirectPort") or 0),
    )


@operation(
    page=True,
    command=Command(
        section="Servers",
        help="Sign out of the remote server NAME.\n\n"
        "Deletes the tokens here; the issuer lists the access until you revoke it there.",
        done="Signed out of {name}.",
        done_without=("was_signed_in", "You were not signed in to {name}."),
        parameters=(SERVER,),
    ),
)
async def logout(host: Host, name: str) -> SignedOutOf:
    """Delete the stored sign-in of a remote server."""
    check_server(host, name)
    forgotten = await asyncio.to_thread(host.core.credentials.forget, name)
    if forgotten and name in host.servers.names():
        await host.servers[name].restart()
    return {"name": name, "was_signed_in": forgotten}
