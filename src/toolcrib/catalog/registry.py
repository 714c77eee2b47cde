"""Asks an MCP registry that somebody set: bounded in time, size and number, and never in the way.

What it says was written by strangers: it is read for what it must hold, and only shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolcrib.catalog.listing import Listed, Variable
from toolcrib.errors import RemoteUnreachable

PATH = "/v0.1/servers"
DEADLINE = 5.0
"""Seconds for everything; the list that ships with us does not wait longer."""
MOST_BYTES = 4 * 1024 * 1024
MOST_SERVERS = 50
LONGEST = 500
"""Characters of any text."""
_PREFIXES = {"npm": ("npm:", "@"), "pypi": ("pypi:", "==")}


async def search_registry(base: str, question: str, limit: int = 30) -> list[Listed]:
    """The servers that a registry finds; raises `RemoteUnreachable` whatever went wrong."""
    import asyncio

    import httpx2

    wanted = {"search": question, "limit": str(min(limit, MOST_SERVERS)), "version": "latest"}
    try:
        async with asyncio.timeout(DEADLINE), httpx2.AsyncClient(timeout=DEADLINE) as client:
            return _read(await _body(client, f"{base.rstrip('/')}{PATH}", wanted))[:limit]
    except (TimeoutError, OSError, ValueError, httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise RemoteUnreachable(
            f"The registry at {base} does not answer as it should ({type(error).__name__}).",
            hint="Check `registryUrl` in the settings; the list that comes with Toolcrib is searched anyway.",
        ) from None


async def _body(client: Any, url: str, wanted: dict[str, str]) -> Any:
    import json

    content = bytearray()
    async with client.stream("GET", url, params=wanted, headers={"Accept": "application/json"}) as answer:
        answer.raise_for_status()
        async for piece in answer.aiter_bytes():
            content += piece
            if len(content) > MOST_BYTES:
                raise ValueError("too large")
    return json.loads(content)


def _read(answer: Any) -> list[Listed]:
    found = answer.get("servers") if isinstance(answer, Mapping) else None
    if not isinstance(found, list):
        raise ValueError("no list of servers")
    listed = [_listed(one) for one in found if isinstance(one, Mapping) and _is_active(one)]
    return [one for one in listed if one is not None]


def _is_active(one: Mapping[str, Any]) -> bool:
    meta = one.get("_meta")
    states = (
        [value.get("status") for value in meta.values() if isinstance(value, Mapping)]
        if isinstance(meta, Mapping)
        else []
    )
    return "deleted" not in states


def _listed(one: Mapping[str, Any]) -> Listed | None:
    server = one.get("server", one)
    if not isinstance(server, Mapping) or not isinstance(server.get("name"), str):
        return None
    package = next((made for made in map(_package, _list(server, "packages")) if made), ("", ()))
    remote = next((str(r["url"]) for r in _list(server, "remotes") if isinstance(r.get("url"), str)), "")
    if not package[0] and not remote:
        return None
    return Listed(
        name=_text(server["name"]).rpartition("/")[2] or "server",
        title=_text(server.get("title") or server["name"]),
        about=_text(server.get("description")),
        origin="registry",
        reference=package[0],
        url=_text(remote),
        env=package[1],
        version=_text(server.get("version")),
    )


def _package(package: Mapping[str, Any]) -> tuple[str, tuple[Variable, ...]] | None:
    prefix, sign = _PREFIXES.get(str(package.get("registryType") or package.get("registry_type")), ("", ""))
    if not prefix:
        return None
    version = _text(package.get("version"))
    reference = f"{prefix}{_text(package.get('identifier'))}{f'{sign}{version}' if version else ''}"
    wanted = _list(package, "environmentVariables") or _list(package, "environment_variables")
    env = tuple(
        Variable(
            name=_text(one.get("name")),
            about=_text(one.get("description")),
            secret=one.get("isSecret") is True,
            required=one.get("isRequired") is True,
        )
        for one in wanted
    )
    return reference, env


def _list(data: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    found = data.get(key)
    return [one for one in found if isinstance(one, Mapping)] if isinstance(found, list) else []


def _text(value: object) -> str:
    return value[:LONGEST] if isinstance(value, str) else ""
