"""An account: whose it is and where, without its secret."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from toolcrib.errors import ConfigError

Setting = str | int | bool


@dataclass(frozen=True, kw_only=True)
class Account:
    name: str
    """Chosen by the user: `work`."""
    provider: str
    """A module of `features/accounts/providers`: `google`, `imap` …"""
    user: str = ""
    """The address or user name."""
    settings: Mapping[str, Setting] = field(default_factory=lambda: MappingProxyType({}))
    """What the provider needs to connect, such as a host and a port; never a secret."""
    read_only: bool = False

    def as_json(self) -> dict[str, Any]:
        """The shape of the file."""
        return {
            "provider": self.provider,
            "user": self.user,
            "settings": dict(self.settings),
            "readOnly": self.read_only,
        }

    def text(self, key: str, default: str = "") -> str:
        """A setting as text."""
        return str(self.settings.get(key, default))

    def number(self, key: str, default: int = 0) -> int:
        """A setting as a number."""
        value = self.settings.get(key, default)
        try:
            return int(value)
        except ValueError:
            raise ConfigError(
                f"The setting {key} of the account {self.name} is not a number.",
                hint=f"Add it again: toolcrib account add {self.provider} {self.name} --replace",
            ) from None


def read_account(name: str, raw: Mapping[str, Any]) -> Account:
    """An account from the file; raises `ValueError` if it is damaged."""
    provider, settings = raw.get("provider"), raw.get("settings", {})
    if not isinstance(provider, str) or not isinstance(settings, Mapping):
        raise ValueError(f"the account {name!r} has no provider")
    return Account(
        name=name,
        provider=provider,
        user=str(raw.get("user", "")),
        settings={key: value for key, value in settings.items() if isinstance(value, str | int | bool)},
        read_only=raw.get("readOnly") is True,
    )
