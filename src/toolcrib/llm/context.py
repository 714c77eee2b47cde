"""What a provider is given: the environment, the secrets, an address of its own, and time."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from toolcrib.clock import Clock, SystemClock
from toolcrib.errors import ModelKeyRefused


@dataclass(frozen=True, kw_only=True)
class Vendor:
    """How a vendor is reached; `toolcrib models` shows it."""

    name: str
    title: str
    keys: tuple[str, ...] = ()
    """Names of environment variables and of secrets, in the order in which they are looked for."""
    addresses: tuple[str, ...] = ()
    """Names of environment variables."""
    address: str = ""
    """Where it is unless somebody says otherwise."""


@dataclass(frozen=True, kw_only=True)
class ModelContext:
    """The world as a provider sees it."""

    environ: Mapping[str, str] = field(default_factory=lambda: os.environ, repr=False)
    secret: Callable[[str], str | None] = field(default=lambda name: None, repr=False)
    """Looks a secret up by name; may wait for a keyring."""
    clock: Clock = field(default_factory=SystemClock)
    address: str = ""
    """Where the vendor is, when the settings say so."""
    alias: str = ""
    """What the settings call the vendor at that address."""
    key_name: str = ""
    """Which secret or variable holds the key, when the settings say so."""
    max_tokens: int | None = None
    """The most that an answer may have; None for the vendor's own limit."""
    context_tokens: int | None = None
    """What the model can hold, when the settings say so."""
    retries: int = 2
    """How often a vendor that is busy is asked again."""

    def name_of(self, vendor: Vendor, model: str) -> str:
        """What the model is called here."""
        return f"{self.alias or vendor.name}:{model}"

    def address_of(self, vendor: Vendor) -> str:
        """Where to send requests: the settings, the vendor's usual variables, its own address."""
        named = (self.environ.get(name, "").strip() for name in vendor.addresses)
        return (self.address or next((one for one in named if one), "") or vendor.address).rstrip("/")

    async def key_of(self, vendor: Vendor) -> tuple[str, str] | None:
        """The name it was found under and the key; None when there is none."""
        for name in (self.key_name,) if self.key_name else vendor.keys:
            value = self.environ.get(name, "").strip() or None
            if value is None:
                value = await asyncio.to_thread(self.secret, name)
            if value:
                return name, value
        return None

    async def need_key(self, vendor: Vendor) -> tuple[str, str]:
        """The same; raises `ModelKeyRefused` that says where a key goes."""
        found = await self.key_of(vendor)
        if found is not None:
            return found
        raise ModelKeyRefused(f"There is no key for {vendor.title}.", hint=key_hint(vendor, self.key_name))


def key_hint(vendor: Vendor, key_name: str = "") -> str:
    """Where a vendor's key goes."""
    name = key_name or next(iter(vendor.keys), "KEY")
    return f"Store one with: toolcrib secret set {name}; or set {name} in the environment."
