"""`login`: a person signs in to a remote server in a browser; what comes of it is kept among the secrets."""

from __future__ import annotations

import asyncio
import time

from pydantic import Field

from toolcrib.config.expansion import expand
from toolcrib.control.answers.servers import Server, SignedInTo, SignInPage
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.lookup import check_server
from toolcrib.control.needs import NOTHING, Configured, Emit, Needs
from toolcrib.control.shapes import server_json
from toolcrib.control.switching import settled
from toolcrib.errors import ConfigError, UsageError
from toolcrib.host import Host
from toolcrib.schema.servers import ServerEntry
from toolcrib.servers.connector import find_transport, parse_spec
from toolcrib.servers.remote.spec import RemoteSpec
from toolcrib.servers.signin.login import PATIENCE, Client, sign_in

FOR_PAGES = True

Event = SignInPage


class Params(OperationParams):
    """The server, and how long the person may take."""

    name: str
    patience: float = Field(default=PATIENCE, gt=0, le=3600)
    wait: float = Field(default=0.0, ge=0, le=3600)


def needs(params: Params, configured: Configured) -> Needs:
    """The sign-in makes its own connection."""
    return NOTHING


async def run(host: Host, params: Params, emit: Emit) -> SignedInTo:
    """`{name, issuer, scope, expires_in, renews, server}`; emits `{open: URL}` for the page to be shown."""
    check_server(host, params.name)
    entry = host.config.servers.get(params.name)
    if entry is None:
        raise host.config.broken[params.name]
    distrust = host.trust.distrust(entry)
    if distrust is not None:
        raise distrust
    spec, client = await asyncio.to_thread(_read, host, entry)
    earlier = await asyncio.to_thread(host.credentials.load, params.name)

    async def open_page(address: str) -> None:
        await emit({"open": address})

    kept = await sign_in(
        params.name, spec, open_page, client=client, earlier=earlier, patience=params.patience
    )
    await asyncio.to_thread(host.credentials.save, params.name, kept)
    return {
        "name": params.name,
        "issuer": kept.issuer,
        "scope": kept.scope,
        "expires_in": None if kept.expires_at is None else round(kept.expires_at - time.time()),
        "renews": kept.refresh_token is not None,
        "server": await _restarted(host, params),
    }


async def _restarted(host: Host, params: Params) -> Server | None:
    if params.name not in host.servers.names():
        return None
    await host.servers[params.name].restart()
    status = (
        await settled(host, params.name, params.wait) if params.wait else host.servers.status(params.name)
    )
    return server_json(status, host.caller.counts)


def _read(host: Host, entry: ServerEntry) -> tuple[RemoteSpec, Client]:
    """The address, and how we present ourselves there, with references filled in."""
    raw = expand(entry.raw, host.connector.environ, host.secrets.get)
    spec = parse_spec(find_transport(entry), entry.name, raw)
    if not isinstance(spec, RemoteSpec):
        raise UsageError(
            f"{entry.name} runs on this machine: there is nothing to sign in to.",
            hint="Signing in is for servers with an address.",
        )
    given = raw.get("oauth")
    if given is None:
        return spec, Client()
    if not isinstance(given, dict):
        raise ConfigError(f"{entry.name}: oauth must be an object.", hint='Such as {"clientId": "…"}.')
    return spec, Client(
        client_id=given.get("clientId"),
        client_secret=given.get("clientSecret"),
        metadata_url=given.get("clientMetadataUrl"),
        scope=given.get("scope"),
        port=int(given.get("redirectPort") or 0),
    )
