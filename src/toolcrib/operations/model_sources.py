"""Connecting models: lists of models with context length and price, model servers found on this machine, and
testing and storing a vendor's key or an address of the user's own; which names such an address may have.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

from pydantic import Field

from toolcrib.config.sections import InvalidValue
from toolcrib.config.settings import EndpointSettings
from toolcrib.config.settings_file import change_settings
from toolcrib.errors import ModelError, ModelKeyRefused, NoModel, NotFound, UsageError
from toolcrib.host import Host
from toolcrib.llm.local_servers import LocalServer, find_local_servers
from toolcrib.llm.models import ModelRegistry
from toolcrib.llm.trial import try_model
from toolcrib.operations.operation import operation
from toolcrib.operations.params_model import OperationParams
from toolcrib.operations.results.models import EndpointRemoved, ModelConnected, ModelList

PATIENCE = 120.0
"""Seconds for the answer to a test: a server on this machine may first have to load the model."""


class ModelSource(OperationParams):
    """A vendor or an address, as it is stored or, with an `api_key` or a `url`, as it would be."""

    vendor: str = Field(min_length=1, max_length=60)
    """A vendor, or the name of an address in the settings or of a new one."""
    url: str = ""
    protocol: str = "openai"
    api_key: str = Field(default="", repr=False)


class ModelListParams(ModelSource):
    again: bool = False
    """Ask even if the list is remembered."""


class NewModelSource(ModelSource):
    model: str = ""
    """The model to test; empty for the first of the list."""
    replace: bool = False
    """Change an address that is there; it keeps its key on the same host unless a new one is given."""


@operation(page=True)
async def model_list(host: Host, params: ModelListParams) -> ModelList:
    """List the models of a vendor with context length and price, from its own list if it can be asked.

    Raises `NoModel` for an unknown vendor.
    """
    async with _source(host, params) as models:
        known = models.known(params.vendor)
        try:
            listed = await models.listed(params.vendor, again=params.again)
        except ModelError as error:
            reason = f"{error.message} {error.hint}".strip()
            return {"vendor": params.vendor, "models": list(known), "listed": False, "reason": reason}
    return {"vendor": params.vendor, "models": list(listed), "listed": True, "reason": ""}


@operation(page=True)
async def local_models(host: Host) -> list[LocalServer]:
    """Find model servers on the usual ports of this machine that no setting names, besides Ollama."""
    models = host.chats.models
    endpoints = models.settings.endpoints
    vendors = models.vendors()
    known = [endpoint.url for endpoint in endpoints.values()]
    known += [models.context.address_of(vendor) for vendor in vendors]
    taken = {*endpoints, *(vendor.name for vendor in vendors)}
    return await find_local_servers(models.context.environ, known, taken)


@operation(page=True)
async def model_connect(host: Host, params: NewModelSource) -> ModelConnected:
    """Test a vendor with a key, or an address, and store it if it answers: the key as a secret.

    It becomes the default model if there is none. Raises `ModelError` or `UsageError` if nothing was stored.
    """
    source = _checked(host, params)
    async with _source(host, source) as models:
        model = params.model.strip() or await _first(models, source.vendor)
        tried = await try_model(models.get(f"{source.vendor}:{model}"), timeout=PATIENCE)
        endpoint = models.settings.endpoints.get(source.vendor)
    changes: dict[str, Any] = {}
    if endpoint is not None:
        written = endpoint.as_json().items()
        changes[f"agent.endpoints.{source.vendor}"] = {key: value for key, value in written if value}
    default = _default(host) is None
    if default:
        changes["agent.model"] = tried.model
    secret = _secret_of(host, source)
    place = await asyncio.to_thread(host.core.secrets.set, secret, source.api_key) if source.api_key else None
    await asyncio.to_thread(change_settings, host.core.config_store, changes)
    await host.reload()
    trials = host.chats.models.trials
    trials.forget_failures()
    trials.worked(source.vendor, tried)
    return {"model": tried.model, "ms": tried.ms, "default": default, "place": place}


@operation(page=True)
async def model_disconnect(host: Host, name: str) -> EndpointRemoved:
    """Remove an address from the settings, and the secret that was stored with it.

    The default model is unset if it is one of its models. Raises `NotFound`.
    """
    endpoint = host.settings.agent.endpoints.get(name)
    if endpoint is None:
        raise NotFound(f"There is no address called {name!r}.", hint="List them with: toolcrib models")
    default = host.settings.agent.model.startswith(f"{name}:")
    changes = {f"agent.endpoints.{name}": None, **({"agent.model": None} if default else {})}
    await asyncio.to_thread(change_settings, host.core.config_store, changes)
    await host.reload()
    secret = endpoint.key if endpoint.key == secret_name(name) else None
    if secret is None or await asyncio.to_thread(host.core.secrets.place, secret) is None:
        return {"name": name, "secret": None, "default": default}
    await asyncio.to_thread(host.core.secrets.delete, secret)
    return {"name": name, "secret": secret, "default": default}


_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,59}")


def secret_name(name: str) -> str:
    """The secret of an address; no environment variable can have this name and take its place."""
    return f"models.{name}"


def _default(host: Host) -> str | None:
    try:
        return host.chats.models.choose()
    except NoModel:
        return None


def _checked(host: Host, params: NewModelSource) -> NewModelSource:
    """The source, if it can be stored; raises `UsageError`."""
    models = host.chats.models
    vendors = {vendor.name: vendor for vendor in models.vendors()}
    if not params.url:
        models.known(params.vendor)  # Raises for an unknown vendor.
        names = vendors[params.vendor].keys if params.vendor in vendors else ()
        found = next((name for name in names if models.context.environ.get(name, "").strip()), None)
        if params.api_key and found:
            raise UsageError(
                f"{found} is set in the environment, where keys are looked for first.",
                hint="Change it there, or unset it and restart Toolcrib.",
            )
        return params
    if not _NAME.fullmatch(params.vendor) or params.vendor in vendors:
        raise UsageError(
            f"{params.vendor!r} cannot be the name of an address.",
            hint="Use letters, digits, - and _, and not the name of a vendor.",
        )
    if params.vendor in models.settings.endpoints and not params.replace:
        raise UsageError(
            f"There is already an address called {params.vendor!r}.", hint="Choose another name."
        )
    if urlsplit(params.url).username is not None or urlsplit(params.url).password is not None:
        raise UsageError("The address contains a password.", hint="Enter it as the API key instead.")
    return params


def _secret_of(host: Host, source: ModelSource) -> str:
    """The name under which the key of a source is stored."""
    if source.url or source.vendor in host.settings.agent.endpoints:
        return secret_name(source.vendor)
    vendor = next(one for one in host.chats.models.vendors() if one.name == source.vendor)
    return next(iter(vendor.keys), secret_name(source.vendor))


@asynccontextmanager
async def _source(host: Host, source: ModelSource) -> AsyncIterator[ModelRegistry]:
    """The host's models, or others that have an address and a key which are not stored."""
    models = host.chats.models
    if not source.url and not source.api_key:
        yield models
        return
    secret = _secret_of(host, source)
    stored = models.settings.endpoints.get(source.vendor)
    raw = None if stored is None else stored.as_json()
    if source.url:
        kept = dict(raw or {})
        if stored is not None and _origin(stored.url) != _origin(source.url):
            kept.pop("key", None)  # It is for the old host alone.
        raw = {**kept, "url": source.url.strip(), "protocol": source.protocol}
    if raw is not None and source.api_key:
        raw["key"] = secret
    try:
        endpoint = None if raw is None else EndpointSettings.read(raw, ("address",))
    except InvalidValue as error:
        raise UsageError(f"The address {error.problem}.") from None
    tried = models.trying(source.vendor, endpoint, {secret: source.api_key} if source.api_key else {})
    try:
        yield tried
    finally:
        await tried.close()


def _origin(url: str) -> tuple[str, str]:
    parts = urlsplit(url.strip())
    return parts.scheme.lower(), parts.netloc.lower()


async def _first(models: ModelRegistry, vendor: str) -> str:
    """The model that a vendor is tested with if none was chosen; raises `ModelError`."""
    try:
        listed = await models.listed(vendor)
    except ModelKeyRefused:
        raise
    except ModelError as error:
        known = models.known(vendor)
        if known:
            return known[0].name
        raise NoModel(error.message, hint=f"{error.hint} Or enter the name of a model.".strip()) from error
    if not listed:
        raise NoModel(f"{vendor} lists no chat models.", hint="Enter the name of a model.")
    return listed[0].name
