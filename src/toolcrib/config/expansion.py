"""Fills in `${VAR}`, `${VAR:-default}` and `${secret:NAME}`, once, where an entry may use them; with the
errors for a variable that is not set or a secret that is not stored.

A variable that is not set is looked up among the secrets, under the same name. One pass: what was filled in
is not looked at again. `$VAR` stays as it is, `$${` gives a plain `${`. Anything else that begins with `${`
is an error rather than a literal that a server would start with.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from toolcrib.config.aliases import canonical
from toolcrib.config.secret_detection import secrets_in
from toolcrib.errors import ConfigError, MissingSecret, MissingVariable

_REFERENCE = re.compile(r"\$\$\{|\$\{([^}]*)(\}?)")
_VARIABLE = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?", re.DOTALL)
_SECRET = re.compile(r"secret:([A-Za-z0-9_][A-Za-z0-9_.-]*)")
_HEADER_BREAKER = re.compile(r"[\x00\r\n]")


class Expanded(dict[str, Any]):
    """An entry ready for its transport; `secrets` are the values that no log may show."""

    def __init__(self, values: Mapping[str, Any], secrets: frozenset[str]) -> None:
        super().__init__(values)
        self.secrets = secrets

    def __repr__(self) -> str:
        return f"<expanded entry with {', '.join(self)}>"


def expand(
    raw: Mapping[str, Any], environ: Mapping[str, str], secret: Callable[[str], str | None]
) -> Expanded:
    """The entry with every reference in command, args, env, url, headers, oauth and cwd filled in.

    Other hosts' keys for `type` and `url` are replaced by ours. Raises `MissingVariable`, `MissingSecret` or
    `ConfigError`, naming the key.
    """
    values = canonical(raw)
    filler = _Filler(environ, secret)
    if isinstance(values.get("url"), str):
        filler.secrets.update(_written_in(values["url"]))
    for key in ("command", "url", "cwd"):
        if isinstance(values.get(key), str):
            values[key] = filler.fill(values[key], key)
    if isinstance(values.get("args"), list):
        values["args"] = [
            filler.fill(item, f"args[{index}]") if isinstance(item, str) else item
            for index, item in enumerate(values["args"])
        ]
    for key in ("env", "headers", "oauth"):
        if isinstance(values.get(key), Mapping):
            values[key] = _fill_mapping(filler, key, values[key])
    return Expanded(values, frozenset(filler.secrets))


def _fill_mapping(filler: _Filler, key: str, values: Mapping[str, Any]) -> dict[str, str]:
    """Values as text; a null takes its name out (VS Code's way of unsetting a variable)."""
    filled = {}
    for name, value in values.items():
        if value is None:
            continue
        where = f"{key}.{name}"
        filled[name] = filler.fill(value, where) if isinstance(value, str) else json.dumps(value)
        if key == "headers" and _HEADER_BREAKER.search(filled[name]):
            raise ConfigError(
                f"{where} would contain a line break.", hint="Store the value again without one at its end."
            )
    return filled


def _written_in(url: str) -> Iterator[str]:
    """The secrets in an address itself, as written and as sent."""
    for part in secrets_in(url):
        yield part.value
        yield unquote(part.value)


@dataclass
class _Filler:
    environ: Mapping[str, str]
    secret: Callable[[str], str | None]
    secrets: set[str] = field(default_factory=set)

    def fill(self, text: str, where: str) -> str:
        filled = _REFERENCE.sub(lambda match: self._replacement(match, where), text)
        if "\0" in filled:
            raise ConfigError(f"{where} would contain a null byte.", hint="Store the value again without it.")
        return filled

    def _replacement(self, match: re.Match[str], where: str) -> str:
        if match.group() == "$${":
            return "${"
        inside = match.group(1)
        if not match.group(2):
            raise _odd(f"${{{inside[:40]}", where, "it has no closing }")
        if "${" in inside:
            raise _odd(match.group(), where, "references cannot be nested")
        if named := _SECRET.fullmatch(inside):
            return self._secret(named.group(1), where)
        if named := _VARIABLE.fullmatch(inside):
            return self._variable(named.group(1), named.group(2), where)
        raise _odd(match.group(), where, "only ${VAR}, ${VAR:-default} and ${secret:NAME} are supported")

    def _secret(self, name: str, where: str) -> str:
        value = self.secret(name)
        if value is None:
            raise MissingSecret(
                f"{where} needs the secret {name}, which is not stored.",
                hint=f"Store it with: toolcrib secret set {name}",
            )
        return self._hidden(value)

    def _hidden(self, value: str) -> str:
        if value:
            self.secrets.add(value)
        return value

    def _variable(self, name: str, default: str | None, where: str) -> str:
        value = self.environ.get(name)
        if default is not None:
            return value or default
        if value is not None:
            return value
        if (stored := self.secret(name)) is not None:
            return self._hidden(stored)
        raise MissingVariable(
            f"{where} needs the variable {name}, which is not set.",
            hint=f"Set {name} before starting, or store it with: toolcrib secret set {name}",
        )


def _odd(reference: str, where: str, reason: str) -> ConfigError:
    hint = "Write $${ for a plain ${."
    if named := re.fullmatch(r"\$\{env:(\w+)\}", reference):
        hint = f"Write ${{{named.group(1)}}}."
    return ConfigError(f"{where}: {reference} cannot be expanded: {reason}.", hint=hint)
