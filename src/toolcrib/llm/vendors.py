"""Which vendors and addresses can be used: keys found, Ollama's models, and advice if there is nothing ("No
model is chosen").
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Literal

from toolcrib.errors import NoModel
from toolcrib.llm.context import ModelContext, ModelVendor
from toolcrib.llm.model_lists import is_chat_model
from toolcrib.llm.models import ModelRegistry
from toolcrib.llm.ollama_host import address_of, find_models

KeyPlace = Literal["environment", "secret"]
LOCAL = "ollama"


@dataclass(frozen=True, kw_only=True)
class VendorStatus:
    vendor: str
    title: str
    address: str
    keys: tuple[str, ...]
    """Names under which a key is looked for."""
    key: str | None = None
    """The name under which one was found."""
    place: KeyPlace | None = None
    ready: bool = False
    models: tuple[str, ...] = ()
    """Models known without asking a vendor: those of Ollama."""
    usual: str = ""
    """The model that is suggested first."""
    protocol: str = ""
    """Of an address in the settings; empty for a vendor."""


async def survey(models: ModelRegistry) -> list[VendorStatus]:
    """Every vendor and every address in the settings; contacts only the local Ollama."""
    known = [await _look_at(vendor, models.context) for vendor in models.vendors() if not vendor.variant_of]
    for name, endpoint in models.settings.endpoints.items():
        keys = (endpoint.key,) if endpoint.key else ()
        found = await _key(keys, models.context)
        known.append(
            VendorStatus(
                vendor=name,
                title=name,
                address=endpoint.url,
                keys=keys,
                key=found[0] if found else None,
                place=found[1] if found else None,
                ready=not keys or found is not None,
                protocol=endpoint.protocol,
            )
        )
    return known


async def no_model(models: ModelRegistry) -> NoModel:
    """The error if no model is chosen, with what could be."""
    offers = await survey(models)
    local = next((offer for offer in offers if offer.vendor == LOCAL), None)
    if local is not None and local.models:
        return NoModel(
            "No model is chosen.",
            hint=f"Ollama is running and has {', '.join(local.models[:5])}: --model ollama:{local.models[0]}",
        )
    keyed = [offer for offer in offers if offer.key and offer.vendor != LOCAL]
    if keyed:
        found = ", ".join(f"{vendor.title} ({vendor.key})" for vendor in keyed)
        return NoModel(
            "No model is chosen.",
            hint=f"There is a key for {found}; choose a model with --model {keyed[0].vendor}:MODEL",
        )
    names = [offer.keys[0] for offer in offers if offer.keys and offer.vendor != LOCAL]
    keys = ", ".join(dict.fromkeys(names))
    seen = "has no model yet (ollama pull qwen3)" if local is not None and local.ready else "does not answer"
    return NoModel(
        f"No model is chosen. No vendor's key was found, and Ollama {seen}.",
        hint=f"Store a key ({keys}) with: toolcrib secret set NAME; or try without an account: --model demo",
    )


async def _look_at(vendor: ModelVendor, context: ModelContext) -> VendorStatus:
    address = context.address_of(vendor)
    found = await _key(vendor.keys, context)
    local = None
    if vendor.name == LOCAL:
        address = address_of(address)
        local = await find_models(address.removesuffix("/v1"))
    elsewhere = bool(address) and address != vendor.address
    return VendorStatus(
        vendor=vendor.name,
        title=vendor.title,
        address=address,
        keys=vendor.keys,
        key=found[0] if found else None,
        place=found[1] if found else None,
        ready=local is not None if vendor.name == LOCAL else bool(found or elsewhere or not vendor.keys),
        models=tuple(model.name for model in local or () if is_chat_model(model.name)),
        usual=vendor.usual,
    )


async def _key(names: tuple[str, ...], context: ModelContext) -> tuple[str, KeyPlace] | None:
    for name in names:
        if context.environ.get(name, "").strip():
            return name, "environment"
        if await asyncio.to_thread(context.secret, name):
            return name, "secret"
    return None
