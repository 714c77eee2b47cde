"""What a provider gets: environment, secrets, an address, a clock, and the number of retries. Decides where
an API key and an address come from, and has the hint for a missing key.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from toolcrib.clock import Clock, SystemClock
from toolcrib.errors import ModelKeyRefused


@dataclass(frozen=True, kw_only=True)
class ModelVendor:
    """How a vendor is reached; shown by `toolcrib models`."""

    name: str
    title: str
    keys: tuple[str, ...] = ()
    """Names of environment variables and secrets, in order of preference."""
    addresses: tuple[str, ...] = ()
    """Names of environment variables."""
    address: str = ""
    """The default address."""
    usual: str = ""
    """The model that is suggested first."""
    variant_of: str = ""
    """The vendor of whose models this is another protocol."""


@dataclass(frozen=True, kw_only=True)
class ModelContext:
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ, repr=False)
    secret: Callable[[str], str | None] = field(default=lambda name: None, repr=False)
    """Looks a secret up by name; may wait for a keyring."""
    clock: Clock = field(default_factory=SystemClock)
    address: str = ""
    """The vendor's address, if set in the settings."""
    alias: str = ""
    """The vendor's name in the settings, if it has its own address."""
    key_name: str = ""
    """The secret or variable with the key, if set in the settings."""
    max_tokens: int | None = None
    """Limit for the length of an answer; None for the vendor's own limit."""
    context_tokens: int | None = None
    """The model's context, if set in the settings."""
    retries: int = 2
    """Retries if a vendor is busy."""

    def name_of(self, vendor: ModelVendor, model: str) -> str:
        return f"{self.alias or vendor.name}:{model}"

    def titled(self, vendor: ModelVendor) -> ModelVendor:
        """The vendor by the name that the user knows it by."""
        return replace(vendor, title=self.alias) if self.alias else vendor

    def address_of(self, vendor: ModelVendor) -> str:
        """The address from the settings, the vendor's variables, or its default."""
        named = (self.environ.get(name, "").strip() for name in vendor.addresses)
        return (self.address or next(filter(None, named), "") or vendor.address).rstrip("/")

    async def key_of(self, vendor: ModelVendor) -> tuple[str, str] | None:
        """The key and the name it was found under; None if missing.

        An address of the user's own gets only its own key, never the vendor's.
        """
        own = (self.key_name,) if self.key_name else ()
        for name in own if self.alias else own or vendor.keys:
            value = self.environ.get(name, "").strip() or None
            if value is None:
                value = await asyncio.to_thread(self.secret, name)
            if value:
                return name, value
        return None

    async def need_key(self, vendor: ModelVendor) -> tuple[str, str]:
        """The same, or nothing for an address that needs none; raises `ModelKeyRefused` if missing."""
        found = await self.key_of(vendor)
        if found is not None:
            return found
        if self.alias and not self.key_name:
            return "", ""
        title = self.alias or vendor.title
        raise ModelKeyRefused(f"There is no API key for {title}.", hint=key_hint(vendor, self.key_name))


def key_hint(vendor: ModelVendor, key_name: str = "") -> str:
    name = key_name or next(iter(vendor.keys), "KEY")
    return f"Store one with: toolcrib secret set {name}; or set {name} in the environment."
