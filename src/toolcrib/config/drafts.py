"""Servers before they are added: entries with open questions, the document of origin, and the answers. Also
how their stored secrets and exported variables are named.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Table = tuple[str, ...]
"""The keys that lead to a table of servers in a file."""
REACHES = ("command", "url", "httpUrl", "serverUrl", "uri", "package", "module")
"""Keys by which an entry says how its server is reached."""
_MARK = re.compile(r"\$\{answer:([^{}]+)\}")
_TEXTS = ("command", "url", "cwd")
_MAPPINGS = ("env", "headers")
_UNFIT = re.compile(r"[^A-Za-z0-9_.-]+")


@dataclass(frozen=True, kw_only=True)
class DraftQuestion:
    """A value that the user has to provide."""

    id: str
    text: str
    secret: bool = True
    default: str = ""
    choices: tuple[str, ...] = ()
    required: bool = True
    multiple: bool = False
    """The answer has several words, each a separate argument."""


@dataclass
class AnswerFiller:
    """Fills answers into an entry; secrets and open questions become references."""

    server: str
    questions: Mapping[str, DraftQuestion]
    answers: Mapping[str, str] = field(repr=False)
    secrets: dict[str, str] = field(default_factory=dict, repr=False)
    open: list[str] = field(default_factory=list)
    """Open questions: secrets and variables that must be set before the server can start."""

    def fill(self, entry: Mapping[str, Any]) -> dict[str, Any]:
        """The entry without marks."""
        result = map_texts(_spread(entry, self.questions, self.answers), self._text)
        return {key: value for key, value in result.items() if value not in ([], {})}

    def _text(self, text: str) -> str:
        return _MARK.sub(lambda match: self._answer(match.group(1)), text)

    def _answer(self, identifier: str) -> str:
        asked = self.questions.get(identifier) or unnamed(identifier)
        given = self.answers.get(identifier) or asked.default
        if not asked.secret:
            if given or not asked.required:
                return literal(given)
            self.open.append(variable_of(f"{self.server}.{identifier}"))
            return f"${{{self.open[-1]}}}"
        name = secret_name(self.server, identifier)
        if given:
            self.secrets[name] = given
        elif not asked.required:
            return ""
        else:
            self.open.append(name)
        return f"${{secret:{name}}}"


def asked_in(entry: Mapping[str, Any]) -> tuple[str, ...]:
    """The questions that an entry has marks for, each once."""
    found: dict[str, None] = {}

    def look(text: str) -> str:
        found.update(dict.fromkeys(_MARK.findall(text)))
        return text

    map_texts(entry, look)
    return tuple(found)


def unnamed(identifier: str) -> DraftQuestion:
    """The question for a mark that nothing explains."""
    return DraftQuestion(id=identifier, text=f"The value of {identifier}")


def secret_name(server: str, key: str) -> str:
    """The name of a server's secret."""
    whole = key if key.startswith(f"{server}.") else f"{server}.{key}"
    return _UNFIT.sub("_", whole).lstrip(".-")[:100] or "secret"


def _spread(
    entry: Mapping[str, Any], questions: Mapping[str, DraftQuestion], answers: Mapping[str, str]
) -> dict[str, Any]:
    """An argument that is one mark may become several, or none."""
    args: list[Any] = []
    for argument in entry.get("args") or ():
        mark = _MARK.fullmatch(argument) if isinstance(argument, str) else None
        asked = questions.get(mark.group(1)) if mark else None
        if asked is None or asked.secret:
            args.append(argument)
            continue
        given = answers.get(asked.id) or asked.default
        if asked.multiple and given:
            args += [literal(word) for word in shlex.split(given)]
        elif given or asked.required:
            args.append(argument)
    return {**entry, "args": args} if "args" in entry else dict(entry)


@dataclass(frozen=True, kw_only=True)
class ServerDraft:
    """A server to import, before its secrets are extracted and its questions answered."""

    name: str
    entry: dict[str, Any]
    questions: Mapping[str, DraftQuestion] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class DraftSource:
    """A table of servers in a file."""

    host: str
    file: Path
    table: Table
    workspace: Path | None = None
    """The project that the file belongs to."""


@dataclass(frozen=True, kw_only=True)
class SourceContents:
    """The servers of a source."""

    source: DraftSource
    title: str
    drafts: tuple[ServerDraft, ...]
    refused: Mapping[str, str]
    """Entries that are not imported, and why."""
    questions: Mapping[str, DraftQuestion] = field(default_factory=dict)
    digest: str = ""
    """Of the text, to import exactly what was shown."""


def as_object(text: str) -> Mapping[str, object] | None:
    """The JSON object that a text is, or None; only to see what kind of document it may be."""
    try:
        found = json.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def map_texts(entry: Mapping[str, Any], change: Callable[[str], str]) -> dict[str, Any]:
    """The entry with every text that may hold references changed."""
    result = dict(entry)
    for key in _TEXTS:
        if isinstance(result.get(key), str):
            result[key] = change(result[key])
    if isinstance(result.get("args"), list):
        result["args"] = [
            change(argument) if isinstance(argument, str) else argument for argument in result["args"]
        ]
    for key in _MAPPINGS:
        if isinstance(result.get(key), Mapping):
            pairs = result[key].items()
            result[key] = {name: change(value) if isinstance(value, str) else value for name, value in pairs}
    return result


def variable_of(secret: str) -> str:
    """The variable that replaces a secret in other hosts' files: `docs.api-key` is `DOCS_API_KEY`."""
    name = re.sub(r"[^A-Za-z0-9]+", "_", secret).strip("_").upper() or "SECRET"
    return name if not name[0].isdigit() else f"_{name}"


def literal(text: str) -> str:
    """Text that expansion gives back unchanged."""
    return text.replace("${", "$${")
