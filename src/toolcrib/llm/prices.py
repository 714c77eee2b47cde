"""Computes the cost of a request in US dollars, from prices in the settings or the vendors' list prices in
`known_models.py`; tokens read from or written to a cache have their own price.

Prices in the settings take precedence. A request of unknown price has no cost.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date

from toolcrib.config.settings import PriceSettings
from toolcrib.llm.known_models import Price, known_model
from toolcrib.schema.messages import Usage

__all__ = ["Price", "cost"]

MILLION = 1_000_000


def cost(
    model: str, usage: Usage, own: Mapping[str, PriceSettings] | None = None, *, today: date | None = None
) -> float | None:
    """Dollars for one request; None if the price is unknown."""
    price = _own(model, own or {}) or _listed(model, usage, today or date.today())
    if price is None or (usage.cached and price.cached is None) or (usage.written and price.written is None):
        return None
    fresh = max(0, usage.input - usage.cached - usage.written)
    sent = fresh * price.input + usage.cached * (price.cached or 0) + usage.written * (price.written or 0)
    return round((sent + usage.output * price.output) / MILLION, 6)


def price_of(model: str, own: Mapping[str, PriceSettings], *, listed: bool) -> Price | None:
    """The price of a short request, from the settings or, if `listed`, the vendor's list; None if unknown."""
    return _own(model, own) or (_listed(model, Usage(), date.today()) if listed else None)


def own_cost(model: str, usage: Usage, own: Mapping[str, PriceSettings]) -> float | None:
    """The same by the prices of the settings only."""
    return cost(model, usage, own) if _own(model, own) else None


def _own(model: str, prices: Mapping[str, PriceSettings]) -> Price | None:
    """The price from the settings, by the beginning of the name; the cache costs what other input costs."""
    fitting = [name for name in prices if model.startswith(name)]
    if not fitting:
        return None
    price = prices[max(fitting, key=len)]
    cached = price.input if price.cached is None else price.cached
    written = price.input if price.cache_write is None else price.cache_write
    return Price(price.input, price.output, cached, written)


def _listed(model: str, usage: Usage, today: date) -> Price | None:
    price = known_model(model).price
    if price is None or (price.until and today.isoformat() > price.until):
        return None
    return price if price.up_to is None or usage.input <= price.up_to else price.beyond
