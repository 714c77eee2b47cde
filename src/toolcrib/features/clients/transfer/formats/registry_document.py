"""Imports the `server.json` of the MCP registry: the first package that can be run here (with npx, uvx or
docker), else the first remote; open values become questions.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from toolcrib.config.drafts import DraftQuestion, ServerDraft
from toolcrib.features.clients.transfer.dialect import NotAServer, take_table

title = "registry document"
_RUNNERS: dict[str, tuple[str, list[str], str]] = {
    "npm": ("npx", ["-y"], "@"),
    "pypi": ("uvx", [], "=="),
    "oci": ("docker", ["run", "-i", "--rm"], ""),
}
"""The command for each kind of package, its arguments, and the separator before the version."""
_VARIABLE = re.compile(r"\{(\w+)\}")


def matches(data: Mapping[str, Any]) -> bool:
    """Known by its packages or remotes, and by its name."""
    return isinstance(data.get("name"), str) and bool(_list(data, "packages") or _list(data, "remotes"))


def read(data: Mapping[str, Any], file: Path) -> ServerDraft:
    """The server; what its document leaves open becomes questions."""
    asking = _Asking()
    packages = [
        package for package in _named(data, "packages", key="identifier") if _kind(package) in _RUNNERS
    ]
    remotes = _named(data, "remotes", key="url")
    if packages:
        entry = _package(packages[0], asking)
    elif remotes:
        entry = _remote(remotes[0], asking)
    else:
        raise NotAServer("it has no package or address that can be used")
    others = len(_list(data, "packages")) + len(_list(data, "remotes")) - 1
    notes = (f"The document lists {others} more ways to run it.",) if others else ()
    name = str(data["name"]).rpartition("/")[2]
    return ServerDraft(name=name, entry=entry, questions=asking.questions, notes=notes)


def _package(package: Mapping[str, Any], asking: _Asking) -> dict[str, Any]:
    kind = _kind(package)
    command, before, sign = _RUNNERS[kind]
    version = str(package.get("version") or "")
    reference = str(package["identifier"]) + (f"{sign}{version}" if sign and version else "")
    env = {
        variable["name"]: value
        for variable in _named(package, "environmentVariables", "environment_variables")
        if (value := asking.value(variable, variable["name"]))
    }
    handed_on = [word for name in env for word in ("-e", name)] if kind == "oci" else []
    arguments = asking.arguments(_list(package, "packageArguments", "package_arguments"))
    entry: dict[str, Any] = {"command": command, "args": [*before, *handed_on, reference, *arguments]}
    return {**entry, "env": env} if env else entry


def _remote(remote: Mapping[str, Any], asking: _Asking) -> dict[str, Any]:
    variables = take_table(dict(remote), "variables")
    url = _VARIABLE.sub(lambda match: asking.value(take_table(variables, match[1]), match[1]), remote["url"])
    headers = {
        header["name"]: value
        for header in _named(remote, "headers")
        if (value := asking.value(header, header["name"]))
    }
    entry = {"type": "sse" if remote.get("type") == "sse" else "http", "url": url}
    return {**entry, "headers": headers} if headers else entry


class _Asking:
    """Fixed values as they are, the rest as marks with their questions."""

    def __init__(self) -> None:
        self.questions: dict[str, DraftQuestion] = {}

    def value(self, about: Mapping[str, Any], key: str) -> str:
        if about.get("value") is not None:
            return str(about["value"])
        required = bool(about.get("isRequired", about.get("is_required")))
        default = str(about.get("default") or "")
        secret = bool(about.get("isSecret", about.get("is_secret")))
        if not required:
            return default
        self.questions[key] = DraftQuestion(
            id=key,
            text=str(about.get("description") or key),
            secret=secret,
            default=default,
            choices=tuple(map(str, about.get("choices") or ())),
            multiple=bool(about.get("isRepeated", about.get("is_repeated"))),
        )
        return f"${{answer:{key}}}"

    def arguments(self, wanted: list[Mapping[str, Any]]) -> list[str]:
        words: list[str] = []
        for number, argument in enumerate(wanted, 1):
            key = str(
                argument.get("name")
                or argument.get("valueHint")
                or argument.get("value_hint")
                or f"argument-{number}"
            )
            value = self.value(argument, key.lstrip("-"))
            if (
                argument.get("type") == "named"
                and argument.get("name")
                and (value or argument.get("isRequired"))
            ):
                words.append(str(argument["name"]))
            if value:
                words.append(value)
        return words


def _kind(package: Mapping[str, Any]) -> str:
    return str(package.get("registryType") or package.get("registry_type") or "")


def _list(data: Mapping[str, Any], *keys: str) -> list[Mapping[str, Any]]:
    found: list[Any] = next((data[key] for key in keys if isinstance(data.get(key), list)), [])
    return [item for item in found if isinstance(item, Mapping)]


def _named(data: Mapping[str, Any], *keys: str, key: str = "name") -> list[Mapping[str, Any]]:
    """Those that say what they are."""
    return [item for item in _list(data, *keys) if isinstance(item.get(key), str) and item[key]]
