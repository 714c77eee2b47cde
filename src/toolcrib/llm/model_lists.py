"""Lists of models to choose from: context length and price of each, which names are chat models, the order
(newest first), the seconds that a vendor has, and how long its list is remembered.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from toolcrib.config.settings import PriceSettings
from toolcrib.errors import ModelError
from toolcrib.llm.context import ModelVendor
from toolcrib.llm.http import fetch_document
from toolcrib.llm.json_values import Json, tables
from toolcrib.llm.known_models import KNOWN, VERSION, known_model
from toolcrib.llm.prices import price_of

PATIENCE = 10.0
"""Seconds for a vendor to list its models."""
REMEMBERED = 3600.0
"""Seconds after which a list is asked for again."""
MOST = 2000
"""Models of one vendor; more are left out."""
_LONGEST_NAME = 200
_OTHER_WORK = re.compile(
    r"embed|rerank|moderation|guard|whisper|transcri|speech|\btts\b|audio|realtime|\blive\b|image|dall-e|diffusion"
    r"|\bflux\b|sora|\bveo\b|lyria|\baqa\b|robotics|davinci|babbage|gpt-3.5-turbo-instruct|\b(?:bge|gte|e5)-"
)
"""Parts of the names of models that do not chat; vendors rarely say so in their lists."""
_NUMBERS = re.compile(r"\d+")


@dataclass(frozen=True, kw_only=True)
class ListedModel:
    """A model of a list; prices are dollars for a million tokens."""

    name: str
    """Without the vendor."""
    context: int | None = None
    """In tokens; None if unknown."""
    input: float | None = None
    output: float | None = None
    created: str = ""
    """The date, if the vendor says it."""


async def fetch_list(
    vendor: ModelVendor, url: str, headers: Mapping[str, str], key: str, *, key_name: str
) -> list[Json]:
    """The rows under this key of a vendor's list; raises `ModelError` for anything else."""
    found = await fetch_document(vendor, url, headers, key_name=key_name, timeout=PATIENCE)
    if isinstance(found.get(key), list):
        return tables(found[key])
    raise ModelError(f"{vendor.title} has no list of models at {url}.", hint="Type the model's name.")


def is_chat_model(name: str) -> bool:
    """Whether a name may be that of a model that chats."""
    return not _OTHER_WORK.search(name.lower())


def choices(
    found: Iterable[ListedModel],
    vendor: ModelVendor,
    name: str,
    prices: Mapping[str, PriceSettings],
    *,
    own: bool,
) -> tuple[ListedModel, ...]:
    """The chat models of a list in the order of a choice. `own`: the vendor itself serves them."""
    named = {model.name: model for model in found if 0 < len(model.name) <= _LONGEST_NAME}
    chatting = [model for model in named.values() if is_chat_model(model.name)]
    ordered = _in_order(chatting, vendor, frozenset(named))[:MOST]
    return tuple(_filled(model, vendor, name, prices, own=own) for model in ordered)


def known_choices(vendor: ModelVendor, prices: Mapping[str, PriceSettings]) -> tuple[ListedModel, ...]:
    """The models of a vendor that this version knows, for when its list cannot be had."""
    start = f"{vendor.variant_of or vendor.name}:"
    names = [name.removeprefix(start) for name in KNOWN if name.startswith(start)]
    found = [ListedModel(name=name) for name in sorted(names, key=lambda name: name != vendor.usual)]
    return tuple(_filled(model, vendor, vendor.name, prices, own=True) for model in found)


def _in_order(models: list[ListedModel], vendor: ModelVendor, names: frozenset[str]) -> list[ListedModel]:
    """The usual one, then the newest; a dated version of a listed name is of interest to few."""
    known = {name: -place for place, name in enumerate(KNOWN)}

    def worth(model: ListedModel) -> tuple[bool, bool, str, int, list[int]]:
        usual = model.name == vendor.usual
        undated = VERSION.sub("", model.name)
        alone = undated == model.name or undated not in names
        place = known.get(f"{vendor.name}:{undated}", -len(known))
        return (
            usual,
            alone,
            model.created,
            place,
            [int(number[:9]) for number in _NUMBERS.findall(model.name)],
        )

    return sorted(sorted(models, key=lambda model: model.name), key=worth, reverse=True)


def _filled(
    model: ListedModel, vendor: ModelVendor, name: str, prices: Mapping[str, PriceSettings], *, own: bool
) -> ListedModel:
    """With the context and the price that are known here; those of the list count where it has them."""
    listed = f"{vendor.variant_of or vendor.name}:{model.name}"
    price = price_of(f"{name}:{model.name}", prices, listed=False) or price_of(listed, {}, listed=own)
    context = model.context or (known_model(listed).context if own else None)
    if price is None:
        return replace(model, context=context)
    return replace(model, context=context, input=price.input, output=price.output)
