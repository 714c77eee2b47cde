"""References to variables and secrets, from a host's way of writing them to ours and back.

Ours are `${VAR}`, `${VAR:-default}` and `${secret:NAME}`; `${answer:ID}` in a draft marks a question
that is still open.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from toolcrib.config.drafts import literal, variable_of
from toolcrib.features.clients.transfer.dialect import Dialect

_BRACED = re.compile(r"(?<!\$)\$\{([^{}]*)\}")
_BARE = re.compile(r"(?<![$\\])\$([A-Za-z_][A-Za-z0-9_]*)")
_OURS = re.compile(r"(?<!\$)\$\{(?:secret:(?P<secret>[^{}:]+)|(?P<name>\w+)(?::-(?P<default>[^{}]*))?)\}")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PLACES = ("workspaceFolder", "workspaceFolderBasename")


@dataclass(frozen=True, kw_only=True)
class ImportContext:
    """Values that a host fills in besides variables."""

    home: Path = field(default_factory=Path.home)
    workspace: Path | None = None
    """The folder of the project that the file belongs to."""


def to_ours(text: str, dialect: Dialect, around: ImportContext) -> str:
    """A host's text in our form; unknown references stay, and fail when the server starts."""
    text = _BRACED.sub(lambda match: _read(match.group(1), match.group(), around), text)
    return _BARE.sub(r"${\1}", text) if dialect.bare else text


def _read(inside: str, whole: str, around: ImportContext) -> str:
    kind, _, rest = inside.partition(":")
    if kind == "env" and _NAME.fullmatch(rest):
        return f"${{{rest}}}"
    if kind in ("input", "secret") and rest:
        # The user is asked for a secret of another file: it must not be one of those that are stored here.
        return f"${{answer:{rest}}}"
    if inside in ("workspaceFolder", "workspaceRoot", "cwd") and around.workspace is not None:
        return literal(str(around.workspace))
    if inside == "workspaceFolderBasename" and around.workspace is not None:
        return literal(around.workspace.name)
    if inside == "userHome":
        return literal(str(around.home))
    return "/" if inside in ("pathSeparator", "/") else whole


@dataclass
class ReferenceWriter:
    """Writes our references in a host's form, and collects the variables."""

    dialect: Dialect
    variables: dict[str, str] = field(default_factory=dict)
    """The variables that the host needs, each with the secret that it replaces, or ''."""
    lost_defaults: list[str] = field(default_factory=list)

    def write(self, text: str) -> str:
        """The text in the host's form."""
        return _OURS.sub(self._replace, text)

    def _replace(self, match: re.Match[str]) -> str:
        secret, name, default = match["secret"], match["name"], match["default"]
        if name in _PLACES and "env:" in self.dialect.variable:
            return match.group()  # Of a file that belonged to no project: it means the same there.
        if secret:
            name = variable_of(secret)
        if default is not None and self.dialect.defaults:
            return match.group()
        if default is not None:
            self.lost_defaults.append(name)
        self.variables.setdefault(name, secret or "")
        return self.dialect.variable.replace("NAME", name)


def only_reference(value: object) -> str | None:
    """The secret that a text refers to and holds nothing besides, '' for a variable; else None."""
    found = _OURS.fullmatch(value) if isinstance(value, str) else None
    return None if found is None or found["default"] is not None else found["secret"] or ""
