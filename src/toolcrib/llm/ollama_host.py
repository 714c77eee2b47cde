"""Finds Ollama, its models and their capabilities: default port, `OLLAMA_HOST`, timeout. Never raises."""

from __future__ import annotations

import asyncio
import http.client
import urllib.error
import urllib.request
from dataclasses import dataclass
from typing import Any

from toolcrib.llm.json_values import count, decode, encode, table, tables, text
from toolcrib.llm.model import ModelTraits

PATIENCE = 2.0
DEFAULT_PORT = 11434


@dataclass(frozen=True, kw_only=True)
class LocalModel:
    """A model installed in Ollama."""

    name: str
    bytes: int = 0


def address_of(host: str) -> str:
    """`OLLAMA_HOST` as an address: scheme and port are optional, and 0.0.0.0 means this machine."""
    address = host if "://" in host else f"http://{host}"
    scheme, _, rest = address.partition("://")
    name, slash, path = rest.partition("/")
    if name.startswith("0.0.0.0"):  # noqa: S104 - not listened on
        name = name.replace("0.0.0.0", "127.0.0.1", 1)  # noqa: S104
    if ":" not in name.rpartition("]")[2] and scheme == "http":
        name = f"{name}:{DEFAULT_PORT}"
    return f"{scheme}://{name}{slash}{path}".rstrip("/")


async def find_models(address: str) -> list[LocalModel] | None:
    """The installed models; None if Ollama does not answer."""
    found = await _ask(f"{address}/api/tags", None)
    if found is None:
        return None
    models = found.get("models")
    return [
        LocalModel(name=text(model.get("name")), bytes=count(model.get("size")))
        for model in tables(models)
        if text(model.get("name"))
    ]


async def describe(address: str, model: str, wanted_context: int) -> ModelTraits:
    """A model's capabilities; all of them if unknown."""
    found = await _ask(f"{address}/api/show", {"model": model}) or {}
    capabilities = found.get("capabilities")
    known = capabilities if isinstance(capabilities, list) else ["tools", "vision"]
    info = found.get("model_info")
    lengths = [
        value for key, value in table(info).items() if key.endswith(".context_length") and count(value)
    ]
    return ModelTraits(
        context_tokens=min([wanted_context, *lengths]),
        tools="tools" in known,
        images="vision" in known,
        structured=True,
        list_price="://ollama.com" not in address,
    )


async def _ask(url: str, body: dict[str, Any] | None) -> dict[str, Any] | None:
    return await asyncio.to_thread(_ask_now, url, body)


def _ask_now(url: str, body: dict[str, Any] | None) -> dict[str, Any] | None:
    if not url.startswith(("http://", "https://")):
        return None
    data = None if body is None else encode(body)
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"})  # noqa: S310
    # No proxy: it is on this machine or in the local network.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=PATIENCE) as response:
            found = decode(response.read().decode("utf-8", "replace"))
    except (OSError, ValueError, urllib.error.URLError, http.client.HTTPException):
        return None
    return found if isinstance(found, dict) else None
