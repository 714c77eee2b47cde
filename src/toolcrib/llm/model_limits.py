"""Finds a model's context length and longest answer: in the settings, among the known models, or from its
vendor (the field names of compatible servers); else assumes them. Also the error for an unknown effort.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from toolcrib.errors import ConfigError, ModelError
from toolcrib.llm.context import ModelContext, ModelVendor
from toolcrib.llm.http import fetch_document
from toolcrib.llm.json_values import Json, count, tables
from toolcrib.llm.known_models import known_model
from toolcrib.llm.model import ModelTraits

PATIENCE = 3.0
"""Seconds for a vendor to describe a model."""
_CONTEXT_NAMES = (
    "context_length",
    "max_model_len",
    "context_window",
    "max_context_length",
    "max_input_tokens",
)
"""As OpenRouter, vLLM, Groq, LM Studio and LiteLLM call it in their lists."""


@dataclass(frozen=True)
class ListedLimits:
    """What a vendor says of a model; 0 for what it does not say."""

    context: int = 0
    output: int = 0


async def find_traits(
    context: ModelContext,
    vendor: ModelVendor,
    name: str,
    ask: Callable[[], Awaitable[ListedLimits]],
    default: int,
    *,
    structured: bool = False,
) -> ModelTraits:
    """The traits of `vendor:model`; `ask` asks about one that is not known, or served by somebody else."""
    known = known_model(name)
    own = is_own_address(context, vendor)
    held = context.context_tokens or (known.context if own else None)
    listed = ListedLimits() if held else await ask()
    found = held or listed.context or known.context
    return ModelTraits(
        context_tokens=found or default,
        max_output=known.output or listed.output or None,
        assumed=not found,
        structured=structured,
        list_price=own,
    )


def is_own_address(context: ModelContext, vendor: ModelVendor) -> bool:
    """Whether the vendor itself is asked, and not somebody else in its protocol."""
    return urlsplit(context.address_of(vendor)).hostname == urlsplit(vendor.address).hostname


async def fetch_json(vendor: ModelVendor, url: str, headers: Mapping[str, str]) -> Json:
    """A vendor's description of a model or all models; empty if it gives none."""
    try:
        return await fetch_document(vendor, url, headers, timeout=PATIENCE)
    except (ModelError, ConfigError):
        return {}


async def compatible_limits(
    vendor: ModelVendor, address: str, headers: Mapping[str, str], model: str
) -> ListedLimits:
    """The limits in the list of a server with OpenAI's protocol."""
    models = tables((await fetch_json(vendor, f"{address}/models", headers)).get("data"))
    found: Json = next((listed for listed in models if listed.get("id") == model), {})
    return ListedLimits(compatible_context(found))


def compatible_context(listed: Json) -> int:
    """The context in a row of such a list; 0 if it does not say."""
    return next((size for name in _CONTEXT_NAMES if (size := count(listed.get(name)))), 0)


def checked_effort(name: str, effort: str) -> str:
    """The effort, if the model has it or is not known; raises `ModelError`."""
    known = known_model(name).efforts
    if known is None or not effort or effort in known:
        return effort
    has = f"It has: {', '.join(known)}." if known else "Leave it out for this model."
    raise ModelError(f"{name} has no effort {effort}.", hint=has)
