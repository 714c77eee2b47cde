"""Searches a configured MCP registry, with limits on time, size and number of results.

The answers are untrusted: only expected fields are read, and they are only shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolcrib.catalog.listing import CatalogEntry, Variable
from toolcrib.errors import RemoteUnreachable

PATH = "/v0.1/servers"
DEADLINE = 5.0
"""Seconds for the whole search; the built-in list does not wait longer."""
MOST_BYTES = 4 * 1024 * 1024
MOST_SERVERS = 50
LONGEST = 500
"""The most characters of any text."""
_PREFIXES = {"npm": ("npm:", "@"), "pypi": ("pypi:", "==")}


async def search_registry(base: str, question: str, limit: int = 30) -> list[CatalogEntry]:
    """The servers that a registry finds; raises `RemoteUnreachable` for any error."""
    import asyncio

    import httpx2

    wanted = {"search": question, "limit": str(min(limit, MOST_SERVERS)), "version": "latest"}
    try:
        async with asyncio.timeout(DEADLINE), httpx2.AsyncClient(timeout=DEADLINE) as client:
            return _read(await _body(client, f"{base.rstrip('/')}{PATH}", wanted))[:limit]
    except (TimeoutError, OSError, ValueError, httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise RemoteUnreachable(
            f"The registry at {base} could not be searched ({type(error).__name__}).",
            hint="Check `registryUrl` in the settings. The built-in list is searched anyway.",
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


def _read(answer: Any) -> list[CatalogEntry]:
    found = answer.get("servers") if isinstance(answer, Mapping) else None
    if not isinstance(found, list):
        raise ValueError("no list of servers")
    listed = [_listed(item) for item in found if isinstance(item, Mapping) and _is_active(item)]
    return [item for item in listed if item is not None]


def _is_active(item: Mapping[str, Any]) -> bool:
    meta = item.get("_meta")
    states = (
        [value.get("status") for value in meta.values() if isinstance(value, Mapping)]
        if isinstance(meta, Mapping)
        else []
    )
    return "deleted" not in states


def _listed(item: Mapping[str, Any]) -> CatalogEntry | None:
    server = item.get("server", item)
    if not isinstance(server, Mapping) or not isinstance(server.get("name"), str):
        return None
    package = next((made for made in map(_package, _list(server, "packages")) if made), ("", ()))
    remote = next((str(r["url"]) for r in _list(server, "remotes") if isinstance(r.get("url"), str)), "")
    if not package[0] and not remote:
        return None
    return CatalogEntry(
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
            name=_text(item.get("name")),
            about=_text(item.get("description")),
            secret=item.get("isSecret") is True,
            required=item.get("isRequired") is True,
        )
        for item in wanted
    )
    return reference, env


def _list(data: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    found = data.get(key)
    return [item for item in found if isinstance(item, Mapping)] if isinstance(found, list) else []


def _text(value: object) -> str:
    return value[:LONGEST] if isinstance(value, str) else ""
