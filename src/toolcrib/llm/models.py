"""Opens models by name (`vendor:model`) and keeps them open, and lists those of a vendor; a vendor's module
is imported on first use. Decides the default model, and the error messages for an unknown model or vendor.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Protocol, cast

from toolcrib import plugins
from toolcrib.config.settings import AgentSettings, EndpointSettings
from toolcrib.errors import NoModel, NotFound
from toolcrib.llm.context import ModelContext, ModelVendor
from toolcrib.llm.model import Model
from toolcrib.llm.model_limits import is_own_address
from toolcrib.llm.model_lists import REMEMBERED, ListedModel, choices, known_choices
from toolcrib.llm.trial import Trials
from toolcrib.suggestions import did_you_mean


@dataclass(frozen=True)
class ModelName:
    """A model's name: `vendor:model`, or `demo`."""

    vendor: str
    model: str

    def __str__(self) -> str:
        return f"{self.vendor}:{self.model}" if self.model else self.vendor


def read_name(text: str) -> ModelName:
    """Splits a name; raises `NoModel`. The model part may contain colons."""
    vendor, _, model = text.strip().partition(":")
    if not vendor or (not model and vendor != "demo"):
        raise NoModel(
            f"{text!r} is not a model's name.",
            hint="Use vendor:model, such as ollama:qwen3, or demo to try it out.",
        )
    return ModelName(vendor, model)


PROVIDERS = "toolcrib.llm.providers"
VARIABLE = "TOOLCRIB_MODEL"
NO_MODEL_HINT = "Choose one with --model vendor:model, or try it without an account: --model demo"


class Provider(Protocol):
    """A module of `llm/providers`."""

    VENDOR: ModelVendor

    def open_model(self, model: str, context: ModelContext) -> Model:
        """The vendor's model of this name; sends nothing."""

    # `async def list_models(context) -> list[ListedModel]`: its models, which not every vendor can list.


def find_provider(module: str) -> Provider:
    """The provider with this module name; raises `NotFound`."""
    return cast("Provider", plugins.find(PROVIDERS, module))


def variables() -> set[str]:
    """Environment variables with vendors' keys and addresses, and with the default model."""
    vendors = [find_provider(module).VENDOR for module in plugins.names(PROVIDERS)]
    return {VARIABLE, *(name for vendor in vendors for name in (*vendor.keys, *vendor.addresses))}


class ModelRegistry:
    """The models of a host. `settings` may be replaced; open models are not affected."""

    def __init__(self, context: ModelContext, settings: AgentSettings) -> None:
        self.settings = settings
        self.context = context
        self.trials = Trials()
        self._open: dict[tuple[str, object], Model] = {}
        self._lists: dict[tuple[str, object], tuple[float, tuple[ListedModel, ...]]] = {}
        """The lists of vendors, and until when each is remembered."""

    def get(self, name: str) -> Model:
        """The model of this name; raises `NoModel` for an unknown vendor. Sends nothing."""
        read = read_name(name)
        endpoint = self.settings.endpoints.get(read.vendor)
        key = (str(read), endpoint)
        if key not in self._open:
            self._open[key] = self._make(read)
        return self._open[key]

    def choose(self, name: str | None = None) -> str:
        """The given name, or the one from the environment or the settings; raises `NoModel`."""
        chosen = name or self.context.environ.get(VARIABLE, "").strip() or self.settings.model
        if chosen:
            return chosen
        raise NoModel("No model is chosen.", hint=NO_MODEL_HINT)

    async def close(self) -> None:
        for model in self._open.values():
            await model.close()
        self._open.clear()

    def lend(self, environ: Mapping[str, str]) -> ModelRegistry:
        """Models with additional environment variables, for a command in another process; must be closed."""
        both = {**self.context.environ, **environ}
        return ModelRegistry(replace(self.context, environ=both), self.settings)

    def trying(
        self, name: str, endpoint: EndpointSettings | None, environ: Mapping[str, str]
    ) -> ModelRegistry:
        """Models with an address or a key that is not stored yet; must be closed."""
        lent = self.lend(environ)
        if endpoint is not None:
            lent.settings = self.settings.replace(endpoints={**self.settings.endpoints, name: endpoint})
        return lent

    async def listed(self, vendor: str, *, again: bool = False) -> tuple[ListedModel, ...]:
        """The chat models that a vendor or an address lists, the usual one first, else the newest.

        Remembered for an hour unless asked for `again`. Raises `ModelError`.
        """
        key = (vendor, self.settings.endpoints.get(vendor))
        until, kept = self._lists.get(key, (0.0, ()))
        now = self.context.clock.monotonic()
        if kept and now < until and not again:
            return kept
        provider, context = self._reached(vendor)
        ask = getattr(provider, "list_models", None)
        own = is_own_address(context, provider.VENDOR)
        asked = await ask(context) if ask else ()
        found = choices(asked, provider.VENDOR, vendor, self.settings.prices, own=own)
        self._lists[key] = (now + REMEMBERED, found)
        return found

    def known(self, vendor: str) -> tuple[ListedModel, ...]:
        """The models of a vendor that this version knows; none of an address in the settings."""
        if vendor in self.settings.endpoints:
            return ()
        return known_choices(self._module(vendor).VENDOR, self.settings.prices)

    def vendors(self) -> list[ModelVendor]:
        """All vendors, by name; imports all providers."""
        return [find_provider(module).VENDOR for module in plugins.names(PROVIDERS)]

    def _make(self, name: ModelName) -> Model:
        provider, context = self._reached(name.vendor)
        return provider.open_model(name.model, context)

    def _reached(self, vendor: str) -> tuple[Provider, ModelContext]:
        """The provider of a vendor or of an address in the settings, and what it gets."""
        own = replace(
            self.context, max_tokens=self.settings.max_tokens, context_tokens=self.settings.context_tokens
        )
        endpoint = self.settings.endpoints.get(vendor)
        if endpoint is None:
            return self._module(vendor), own
        there = replace(
            own,
            address=endpoint.url,
            key_name=endpoint.key,
            alias=vendor,
            context_tokens=endpoint.context_tokens or own.context_tokens,
        )
        return self._module(endpoint.protocol), there

    def _module(self, vendor: str) -> Provider:
        module = vendor.replace("-", "_")
        try:
            return find_provider(module)
        except NotFound:
            known = [name.replace("_", "-") for name in plugins.names(PROVIDERS)] + list(
                self.settings.endpoints
            )
            listed = f"Known: {', '.join(sorted(known))}."
            raise NoModel(
                f"There is no model vendor called {vendor!r}.",
                hint=did_you_mean(vendor, known, otherwise=listed),
            ) from None
