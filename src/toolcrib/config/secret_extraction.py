"""Replaces literal secrets of an entry (in variables, headers, arguments and the address) by references to
stored secrets.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from toolcrib.config.drafts import secret_name
from toolcrib.config.secret_detection import is_secret_key, replace_secrets

LooksSecret = Callable[[str, str], bool]
"""Whether a value looks like a secret, by its key and by its form."""
Stored = Callable[[str], str | None]
"""The stored value of a secret, or None."""

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_HEADER = re.compile(r"(?P<name>[A-Za-z][A-Za-z0-9-]*): ?(?=\S)")
_SCHEME = re.compile(r"(?i)(bearer|basic|token|apikey)\s+(?=\S)")


@dataclass
class SecretExtractor:
    """Collects the secrets of one server; `stored` returns the current value of a secret."""

    server: str
    looks_secret: LooksSecret
    stored: Stored
    secrets: dict[str, str] = field(default_factory=dict, repr=False)

    def hide(self, entry: Mapping[str, Any]) -> dict[str, Any]:
        """The entry with references in place of its secrets."""
        result = dict(entry)
        for section in ("env", "headers"):
            if isinstance(result.get(section), Mapping):
                pairs = result[section].items()
                result[section] = {key: self._value(key, value) for key, value in pairs}
        if isinstance(result.get("args"), list):
            result["args"] = self._arguments(result["args"])
        if isinstance(result.get("url"), str):
            result["url"] = self._address(result["url"])
        return result

    def _value(self, key: str, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        if _ADDRESS.match(value) and not is_secret_key(key):
            return self._address(value)
        if not self._is_secret(key, value):
            return value
        scheme = _SCHEME.match(value)
        lead = scheme.group() if scheme else ""
        return f"{lead}{self._put(key, value[len(lead) :])}"

    def _arguments(self, args: list[Any]) -> list[Any]:
        hidden: list[Any] = []
        for index, argument in enumerate(args):
            before = args[index - 1] if index and isinstance(args[index - 1], str) else ""
            hidden.append(self._argument(argument, before, index) if isinstance(argument, str) else argument)
        return hidden

    def _argument(self, argument: str, before: str, index: int) -> str:
        option, sign, value = argument.partition("=")
        if argument.startswith("-"):
            return f"{option}={self._given(option.lstrip('-'), value)}" if sign else argument
        key = before.lstrip("-") if before.startswith("-") and "=" not in before else ""
        return self._given(key, argument, f"arg-{index + 1}")

    def _given(self, key: str, value: str, name: str = "") -> str:
        """The value of an argument: an address, a header or a plain text."""
        if _ADDRESS.match(value) and not is_secret_key(key):
            return self._address(value)
        header = _HEADER.match(value)
        if header is not None and is_secret_key(header["name"]):
            return f"{header.group()}{self._value(header['name'], value[header.end() :])}"
        return self._put(key or name, value) if self._is_secret(key, value) else value

    def _address(self, url: str) -> str:
        return replace_secrets(url, lambda part: self._put(part.key, part.value))

    def _is_secret(self, key: str, value: str) -> bool:
        return bool(value) and "${" not in value and self.looks_secret(key, value)

    def _put(self, key: str, value: str) -> str:
        name = wanted = secret_name(self.server, key)
        number = 1
        while self.secrets.get(name, self.stored(name) or value) != value:
            number += 1
            name = f"{wanted[:95]}-{number}"
        self.secrets[name] = value
        return f"${{secret:{name}}}"
