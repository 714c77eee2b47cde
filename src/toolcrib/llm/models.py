"""Opens models by name and keeps them open; a vendor's module is imported when the first of its models is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Protocol, cast

from toolcrib import plugins
from toolcrib.config.settings import AgentSettings
from toolcrib.errors import NoModel, NotFound
from toolcrib.llm.context import ModelContext, Vendor
from toolcrib.llm.model import Model
from toolcrib.llm.names import ModelName, read_name
from toolcrib.llm.trial import Trials
from toolcrib.suggestions import did_you_mean

PROVIDERS = "toolcrib.llm.providers"
VARIABLE = "TOOLCRIB_MODEL"
NO_MODEL_HINT = "Name one with --model vendor:model, or try it without any account: --model demo"


class Provider(Protocol):
    """What a module of `llm/providers` offers."""

    VENDOR: Vendor

    def open_model(self, model: str, context: ModelContext) -> Model:
        """The vendor's model of this name; sends nothing."""


def find_provider(module: str) -> Provider:
    """The provider of this module's name; raises `NotFound`."""
    return cast("Provider", plugins.find(PROVIDERS, module))


def variables() -> set[str]:
    """The names of environment variables that say how vendors are reached, and which model is asked."""
    vendors = [find_provider(module).VENDOR for module in plugins.names(PROVIDERS)]
    return {VARIABLE, *(name for vendor in vendors for name in (*vendor.keys, *vendor.addresses))}


class Models:
    """The models of a host. `settings` may be replaced; what is open already stays as it was opened."""

    def __init__(self, context: ModelContext, settings: AgentSettings) -> None:
        self.settings = settings
        self.context = context
        self.trials = Trials()
        self._open: dict[tuple[str, object], Model] = {}

    def get(self, name: str) -> Model:
        """The model of this name; raises `NoModel` when there is no such vendor. Sends nothing."""
        read = read_name(name)
        endpoint = self.settings.endpoints.get(read.vendor)
        key = (str(read), endpoint)
        if key not in self._open:
            self._open[key] = self._make(read)
        return self._open[key]

    def choose(self, name: str | None = None) -> str:
        """The name that was given, that of the environment, or that of the settings; raises `NoModel`."""
        chosen = name or self.context.environ.get(VARIABLE, "").strip() or self.settings.model
        if chosen:
            return chosen
        raise NoModel("No model is chosen.", hint=NO_MODEL_HINT)

    async def close(self) -> None:
        """Let go of all connections."""
        for model in self._open.values():
            await model.close()
        self._open.clear()

    def lend(self, environ: Mapping[str, str]) -> Models:
        """The same with these variables besides: those of a command that runs elsewhere. To be closed."""
        both = {**self.context.environ, **environ}
        return Models(replace(self.context, environ=both), self.settings)

    def vendors(self) -> list[Vendor]:
        """Everyone who can be asked, by name; imports all of them."""
        return [find_provider(module).VENDOR for module in plugins.names(PROVIDERS)]

    def _make(self, name: ModelName) -> Model:
        own = replace(
            self.context,
            max_tokens=self.settings.max_tokens,
            context_tokens=self.settings.context_tokens,
        )
        endpoint = self.settings.endpoints.get(name.vendor)
        if endpoint is None:
            return self._module(name.vendor).open_model(name.model, own)
        there = replace(
            own,
            address=endpoint.url,
            key_name=endpoint.key,
            alias=name.vendor,
            context_tokens=endpoint.context_tokens or own.context_tokens,
        )
        return self._module(endpoint.protocol).open_model(name.model, there)

    def _module(self, vendor: str) -> Provider:
        module = vendor.replace("-", "_")
        try:
            return find_provider(module)
        except NotFound:
            known = [one.replace("_", "-") for one in plugins.names(PROVIDERS)] + list(
                self.settings.endpoints
            )
            listed = f"Known: {', '.join(sorted(known))}."
            raise NoModel(
                f"There is no vendor of models called {vendor!r}.",
                hint=did_you_mean(vendor, known, otherwise=listed),
            ) from None
