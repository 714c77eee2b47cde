"""A `server.json` of the MCP registry, a file or an address: names a package, and what it needs to know."""

from __future__ import annotations

import asyncio
import hashlib
import ipaddress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from toolcrib.errors import InstallFailed, NotFound, UsageError
from toolcrib.servers.installers import bundle, npm, python
from toolcrib.servers.installing.context import InstallContext
from toolcrib.servers.installing.plan import Launch, Plan, Record, Request
from toolcrib.servers.installing.progress import Step
from toolcrib.servers.installing.server_json import Asking, Package, ServerJson, read_server_json

LARGEST = 1024 * 1024
LARGEST_BUNDLE = 512 * 1024 * 1024
TIMEOUT = 30.0
SUPPORTED = ("npm", "pypi", "mcpb")


def recognises(reference: str) -> bool:
    """An address, or a JSON file."""
    return reference.startswith(("https://", "http://")) or reference.endswith(".json")


async def plan(request: Request, bench: InstallContext) -> Plan:
    """The plan of the first package that can be installed here, with the questions of the file."""
    bench.progress(Step("resolve", request.reference))
    described = read_server_json(await _content(request.reference), request.reference)
    package = _choose(described, request)
    asking = Asking()
    args, env = asking.arguments(package.package_arguments), asking.variables(package.environment_variables)
    found = await _plan_package(package, request, bench)
    if found.package and package.registry_type == "mcpb":
        return found
    entry = {
        **found.entry,
        "args": [*args, *found.entry.get("args", ())],
        "env": {**env, **found.entry.get("env", {})},
    }
    said = f"{request.reference} calls it {described.name}."
    update: dict[str, Any] = {"questions": tuple(asking.questions), "entry": entry}
    return found.model_copy(update={**update, "remarks": (*found.remarks, said)})


async def apply(plan: Plan, folder: Path, bench: InstallContext) -> Launch:
    """Plans of this installer name the one that does the work."""
    raise InstallFailed(f"The plan for {plan.name} names no installer.")


async def newest(record: Record, bench: InstallContext) -> str | None:
    """As for `apply`: the record names another installer."""
    return None


def _choose(described: ServerJson, request: Request) -> Package:
    for package in described.packages:
        if package.registry_type in SUPPORTED and package.transport.type == "stdio":
            return package
    if described.remotes:
        address = described.remotes[0].url
        raise UsageError(
            f"{described.name} is not installed but reached at an address.",
            hint=f"Add it with: toolcrib add {request.name} {address}",
        )
    kinds = ", ".join(sorted({package.registry_type for package in described.packages})) or "none"
    raise UsageError(
        f"{described.name} comes in no form that can be installed here ({kinds}).",
        hint="npm, PyPI and bundles can be. A container is added as a command: -- docker run -i --rm IMAGE",
    )


async def _plan_package(package: Package, request: Request, bench: InstallContext) -> Plan:
    if package.registry_type == "npm":
        reference = f"{npm.PREFIX}{package.identifier}" + (f"@{package.version}" if package.version else "")
        return await npm.plan(request.model_copy(update={"reference": reference}), bench)
    if package.registry_type == "pypi":
        reference = f"{python.PREFIX}{package.identifier}" + (
            f"=={package.version}" if package.version else ""
        )
        return await python.plan(request.model_copy(update={"reference": reference}), bench)
    file = await _fetch_bundle(package, bench)
    return await bundle.plan(request.model_copy(update={"reference": str(file)}), bench)


async def _fetch_bundle(package: Package, bench: InstallContext) -> Path:
    """The bundle's file, kept in the cache by its hash, which must be the one the registry promised."""
    wanted = package.file_sha256.lower()
    if len(wanted) != 64:
        raise InstallFailed("The bundle comes without a hash, and is refused.", hint="Get the file yourself.")
    file = bench.cache / "bundles" / f"{wanted}.mcpb"
    if not file.exists():
        if bench.offline:
            raise InstallFailed("The bundle is not on this machine.", hint="Try again without --offline.")
        bench.progress(Step("fetch", package.identifier))
        content = await _fetch(package.identifier, LARGEST_BUNDLE)
        if hashlib.sha256(content).hexdigest() != wanted:
            raise InstallFailed(
                f"{package.identifier} is not the file that the registry promised.", hint="Do not use it."
            )
        await asyncio.to_thread(_keep, file, content)
    return file


def _keep(file: Path, content: bytes) -> None:
    from toolcrib.config.atomic import write_atomic
    from toolcrib.config.paths import make_private

    make_private(file.parent)
    write_atomic(file, content)


async def _content(reference: str) -> bytes:
    if reference.startswith(("https://", "http://")):
        return await _fetch(reference, LARGEST)
    try:
        return await asyncio.to_thread(_read, Path(reference))
    except OSError as error:
        raise NotFound(f"{reference} cannot be read: {error.strerror}.") from None


def _read(file: Path) -> bytes:
    with file.open("rb") as opened:
        return opened.read(LARGEST)


async def _fetch(address: str, most: int) -> bytes:
    import httpx2

    _check_address(address)
    parts: list[bytes] = []
    size = 0
    try:
        async with (
            httpx2.AsyncClient(timeout=TIMEOUT, follow_redirects=True, max_redirects=5) as client,
            client.stream("GET", address) as answer,
        ):
            answer.raise_for_status()
            _check_address(str(answer.url))
            async for chunk in answer.aiter_bytes():
                size += len(chunk)
                if size > most:
                    raise InstallFailed(f"{address} is larger than {most >> 20} MB.")
                parts.append(chunk)
    except httpx2.HTTPError as error:
        raise InstallFailed(f"{address} could not be fetched: {error}.", hint="Check the address.") from None
    return b"".join(parts)


def _check_address(address: str) -> None:
    """In the clear only on this machine: whoever stands between could put another server in its place."""
    parts = urlsplit(address)
    if parts.scheme == "https" or (parts.scheme == "http" and _is_here(parts.hostname or "")):
        return
    raise UsageError(f"{address[:200]} is not a safe address to install from.", hint="Use https.")


def _is_here(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
