"""Finds model servers on this machine that no setting names yet: the usual ports of LM Studio, llama.cpp and
vLLM, the variable that replaces them, the deadline, and how such a server is told from any other program.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from toolcrib.errors import ConfigError, ModelError
from toolcrib.llm.context import ModelVendor
from toolcrib.llm.http import fetch_document
from toolcrib.llm.json_values import Json, tables, text
from toolcrib.llm.model_lists import is_chat_model

VARIABLE = "TOOLCRIB_LOCAL_MODELS"
"""Addresses to look at instead, separated by commas; `off` for none."""
USUAL = ("http://127.0.0.1:1234/v1", "http://127.0.0.1:8080/v1", "http://127.0.0.1:8000/v1")
"""LM Studio, llama.cpp and vLLM; Ollama has its own protocol and variables."""
PATIENCE = 1.0
"""Seconds for all of them, which are asked at once."""
_PROGRAMS = {
    "organization_owner": ("lm-studio", "LM Studio"),
    "llamacpp": ("llama-cpp", "llama.cpp"),
    "vllm": ("vllm", "vLLM"),
}
"""Name and title by what a server says of its models' owner."""
_ASKED = ModelVendor(name="local", title="The server")


@dataclass(frozen=True, kw_only=True)
class LocalServer:
    """A model server on this machine; `name` is free in the settings."""

    name: str
    title: str
    address: str
    models: tuple[str, ...]


async def find_local_servers(
    environ: Mapping[str, str], known: Collection[str], taken: Collection[str]
) -> list[LocalServer]:
    """Those at addresses that are not known, by names that are not taken. Never raises."""
    ours = {_plain(address) for address in known}
    addresses = [address for address in _addresses(environ) if _plain(address) not in ours]
    found = await asyncio.gather(*(_look_at(address, taken) for address in addresses))
    return [server for server in found if server is not None]


def _addresses(environ: Mapping[str, str]) -> tuple[str, ...]:
    given = environ.get(VARIABLE, "").strip()
    if not given:
        return USUAL
    listed = (part.strip().rstrip("/") for part in given.split(","))
    return tuple(address for address in listed if address.startswith(("http://", "https://")))


def _plain(address: str) -> str:
    return address.rstrip("/").removesuffix("/v1").replace("://localhost", "://127.0.0.1")


async def _look_at(address: str, taken: Collection[str]) -> LocalServer | None:
    try:
        async with asyncio.timeout(PATIENCE):
            await _connect(address)
            found = await fetch_document(_ASKED, f"{address}/models", {}, timeout=PATIENCE)
    except (OSError, ValueError, TimeoutError, ModelError, ConfigError):
        return None
    rows = tables(found.get("data"))
    models = tuple(name for row in rows if is_chat_model(name := text(row.get("id"))))
    if not _is_list(found, rows) or not models:
        return None
    port = urlsplit(address).port or 80
    name, title = _PROGRAMS.get(text(rows[0].get("owned_by")), (f"local-{port}", "Model server"))
    free = name if name not in taken else f"{name}-{port}"
    return LocalServer(name=free, title=title, address=address, models=models)


async def _connect(address: str) -> None:
    """Raise unless something listens, which it seldom does: the HTTP client is then not loaded at all."""
    parts = urlsplit(address)
    _, writer = await asyncio.open_connection(parts.hostname, parts.port or 80)
    writer.close()


def _is_list(found: Json, rows: list[Json]) -> bool:
    """Whether this is a list of models, and not the answer of another program at the same port."""
    listed = found.get("object") == "list" and bool(rows)
    return listed and all(text(row.get("id")) and row.get("object") == "model" for row in rows)
