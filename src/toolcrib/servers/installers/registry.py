"""A `server.json` of the MCP registry, from a file or URL: names a package and its settings. Decides which
package types are supported, the limits and timeout of a download, and the questions asked.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from toolcrib.errors import FetchFailed, InstallFailed, NotFound, UsageError
from toolcrib.serverkit.bounded_read import read_bounded
from toolcrib.servers.installers import bundle, npm, python
from toolcrib.servers.installers.engine.contract import InstallContext, InstallProgress
from toolcrib.servers.installers.engine.plan import (
    InstallQuestion,
    InstallRequest,
    LaunchCommand,
    Plan,
    Record,
    literal,
    slot,
)

if TYPE_CHECKING:
    from toolcrib.serverkit.network import NetworkPolicy

LARGEST = 1024 * 1024
LARGEST_BUNDLE = 512 * 1024 * 1024
TIMEOUT = 30.0
"""Seconds without a byte."""
DEADLINE = 3600.0
"""Seconds for a whole download."""
SUPPORTED = ("npm", "pypi", "mcpb")


def recognises(reference: str) -> bool:
    return _is_url(reference) or reference.endswith(".json")


def _is_url(reference: str) -> bool:
    return reference.startswith(("https://", "http://"))


async def plan(request: InstallRequest, context: InstallContext) -> Plan:
    """The plan of the first installable package, with the file's settings as questions."""
    context.progress(InstallProgress("ask", request.reference))
    policy = _policy(request.reference)
    described = read_server_json(await _content(request.reference, policy), request.reference)
    package = _choose(described, request)
    asking = InputQuestions()
    args, env = asking.arguments(package.package_arguments), asking.variables(package.environment_variables)
    found = await _plan_package(package, request, context, policy)
    if found.package and package.registry_type == "mcpb":
        return found
    entry = {
        **found.entry,
        "args": [*args, *found.entry.get("args", ())],
        "env": {**env, **found.entry.get("env", {})},
    }
    said = f"Its name in {request.reference} is {described.name}."
    update: dict[str, Any] = {"questions": tuple(asking.questions), "entry": entry}
    return found.model_copy(update={**update, "remarks": (*found.remarks, said)})


async def apply(plan: Plan, folder: Path, context: InstallContext) -> LaunchCommand:
    """Never used: plans name the installer of the package."""
    raise InstallFailed(f"The plan for {plan.name} has no installer.")


async def newest(record: Record, context: InstallContext) -> str | None:
    """Never used, like `apply`."""
    return None


def _choose(described: ServerJson, request: InstallRequest) -> RegistryPackage:
    for package in described.packages:
        if package.registry_type in SUPPORTED and package.transport.type == "stdio":
            return package
    if described.remotes:
        address = described.remotes[0].url
        raise UsageError(
            f"{described.name} is a remote server: nothing to install.",
            hint=f"Add it with: toolcrib add {request.name} {address}",
        )
    kinds = ", ".join(sorted({package.registry_type for package in described.packages})) or "none"
    raise UsageError(
        f"{described.name} has no installable package (found: {kinds}).",
        hint="npm, PyPI and bundles are supported. Add a container as a command: -- docker run -i --rm IMAGE",
    )


async def _plan_package(
    package: RegistryPackage, request: InstallRequest, context: InstallContext, policy: NetworkPolicy
) -> Plan:
    if package.registry_type == "npm":
        reference = f"{npm.PREFIX}{package.identifier}" + (f"@{package.version}" if package.version else "")
        return await npm.plan(request.model_copy(update={"reference": reference}), context)
    if package.registry_type == "pypi":
        reference = f"{python.PREFIX}{package.identifier}" + (
            f"=={package.version}" if package.version else ""
        )
        return await python.plan(request.model_copy(update={"reference": reference}), context)
    file = await _fetch_bundle(package, context, policy)
    return await bundle.plan(request.model_copy(update={"reference": str(file)}), context)


async def _fetch_bundle(package: RegistryPackage, context: InstallContext, policy: NetworkPolicy) -> Path:
    """The bundle's file, cached by its hash, which must match the registry's."""
    wanted = package.file_sha256.lower()
    if len(wanted) != 64:
        raise InstallFailed("The bundle has no hash and is refused.", hint="Download the file yourself.")
    file = context.cache / "bundles" / f"{wanted}.mcpb"
    if not file.exists():
        if context.offline:
            raise InstallFailed("The bundle is not in the local cache.", hint="Try again without --offline.")
        context.progress(InstallProgress("fetch", package.identifier))
        content = await _fetch(package.identifier, policy, LARGEST_BUNDLE)
        if hashlib.sha256(content).hexdigest() != wanted:
            raise InstallFailed(
                f"{package.identifier} does not match the registry's hash.", hint="Do not use it."
            )
        await asyncio.to_thread(_keep, file, content)
    return file


def _keep(file: Path, content: bytes) -> None:
    from toolcrib.config.paths import make_private
    from toolcrib.config.safe_files import write_atomic

    make_private(file.parent)
    write_atomic(file, content)


async def _content(reference: str, policy: NetworkPolicy) -> bytes:
    if _is_url(reference):
        return await _fetch(reference, policy, LARGEST)
    try:
        return await asyncio.to_thread(_read, Path(reference))
    except OSError as error:
        raise NotFound(f"{reference} cannot be read: {error.strerror}.") from None


def _read(file: Path) -> bytes:
    return read_bounded(file, LARGEST)


def _policy(reference: str) -> NetworkPolicy:
    """Any host of the public internet, and the one that the user typed."""
    from toolcrib.serverkit.network import NetworkPolicy, endpoint_of

    typed = frozenset({endpoint_of(reference)}) if _is_url(reference) else frozenset[str]()
    return NetworkPolicy(allow_private=typed, ports=None)


async def _fetch(address: str, policy: NetworkPolicy, most: int) -> bytes:
    from toolcrib.serverkit.network import FetchLimits, fetch

    _check_address(address)
    limits = FetchLimits(max_bytes=most, idle=TIMEOUT, deadline=DEADLINE)
    try:
        answer = await fetch(address, policy, limits=limits, proxies=True)
    except FetchFailed as error:
        raise InstallFailed(f"Could not download {address}: {error.message}", hint=error.hint) from None
    for passed in (*answer.redirects, answer.url):
        _check_address(passed)
    if not 200 <= answer.status < 300:
        raise InstallFailed(f"Could not download {address}: HTTP {answer.status}.", hint="Check the address.")
    return answer.content


def _check_address(address: str) -> None:
    """Plain http only on this machine: an attacker on the network could replace the server."""
    from toolcrib.serverkit.network.urls import is_local

    parts = urlsplit(address)
    if parts.scheme == "https" or (parts.scheme == "http" and is_local(parts.hostname or "")):
        return
    raise UsageError(f"{address[:200]} is not a safe address to install from.", hint="Use https.")


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", alias_generator=to_camel, populate_by_name=True)


class RegistryInput(_Model):
    """A value that is fixed, has a default, or must be asked for."""

    name: str = ""
    type: str = "positional"
    value: str | None = None
    value_hint: str = ""
    default: str | None = None
    description: str = ""
    is_required: bool = False
    is_secret: bool = False
    is_repeated: bool = False
    choices: tuple[str, ...] | None = ()
    format: str = "string"
    variables: dict[str, RegistryInput] = {}


class RegistryTransport(_Model):
    type: str = "stdio"
    url: str = ""


class RegistryPackage(_Model):
    registry_type: str = Field(
        default="", validation_alias=AliasChoices("registryType", "registry_type", "registry_name")
    )
    identifier: str = Field(default="", validation_alias=AliasChoices("identifier", "name"))
    version: str = ""
    file_sha256: str = Field(default="", validation_alias=AliasChoices("fileSha256", "file_sha256"))
    package_arguments: tuple[RegistryInput, ...] = ()
    environment_variables: tuple[RegistryInput, ...] = ()
    transport: RegistryTransport = RegistryTransport()


class RegistryRemote(_Model):
    """The URL of a remote server."""

    type: str = "streamable-http"
    url: str


class ServerJson(_Model):
    name: str
    description: str = ""
    version: str = ""
    packages: tuple[RegistryPackage, ...] = ()
    remotes: tuple[RegistryRemote, ...] = ()


def read_server_json(content: bytes, source: str) -> ServerJson:
    """Raises `InstallFailed` if invalid."""
    try:
        data = json.loads(content.decode("utf-8-sig"))
        # Responses of the registry wrap it in `server`.
        if isinstance(data, dict) and isinstance(data.get("server"), dict):
            data = data["server"]
        return ServerJson.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise InstallFailed(f"{source} is not a valid server.json: {where}: {first['msg']}.") from None
    except (ValueError, RecursionError) as error:
        raise InstallFailed(f"{source} is not valid JSON: {error}") from None


class InputQuestions:
    """Turns inputs into arguments and variables, and open values into questions."""

    def __init__(self) -> None:
        self.questions: list[InstallQuestion] = []

    def arguments(self, inputs: tuple[RegistryInput, ...]) -> list[str]:
        """The arguments in order, with slots for answers."""
        words: list[str] = []
        for given in inputs:
            value = self._value(given, given.name.lstrip("-") or given.value_hint or "value")
            if given.type != "named":
                words.append(value or "")
            elif value is None:
                words.append(literal(given.name))
            else:
                # One argument, so that a missing answer removes the name too.
                words.append(f"{literal(given.name)}={value}")
        return [word for word in words if word]

    def variables(self, inputs: tuple[RegistryInput, ...]) -> dict[str, str]:
        """The variables, with slots for answers."""
        found = {given.name: self._value(given, given.name) for given in inputs if given.name}
        return {name: value for name, value in found.items() if value is not None}

    def _value(self, given: RegistryInput, key: str) -> str | None:
        if given.value is not None:
            return self._with_variables(given)
        if given.type == "named" and given.default is None and not given.is_required and not given.value_hint:
            return None
        return self._ask(given, key)

    def _with_variables(self, given: RegistryInput) -> str:
        parts = re.split(r"\{([^}]+)\}", given.value or "")
        shown = [literal(parts[0])]
        for name, rest in zip(parts[1::2], parts[2::2], strict=True):
            variable = given.variables.get(name)
            shown.append(self._ask(variable, name) if variable else f"{{{name}}}")
            shown.append(literal(rest))
        return "".join(shown)

    def _ask(self, given: RegistryInput, key: str) -> str:
        if any(question.key == key for question in self.questions):
            key = f"{key}_{len(self.questions) + 1}"
        kinds: dict[str, Any] = {"filepath": "file", "number": "number", "boolean": "boolean"}
        self.questions.append(
            InstallQuestion(
                key=key,
                title=key,
                description=given.description,
                kind=kinds.get(given.format, "string"),
                required=given.is_required,
                default=given.default,
                multiple=given.is_repeated,
                secret=given.is_secret,
                choices=given.choices or (),
            )
        )
        return slot(key)
