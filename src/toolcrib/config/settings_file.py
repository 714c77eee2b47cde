"""Changes settings and profiles in the config file: dotted names of settings such as `retrieval.k`, valid
names of profiles, their tokens, and errors for unknown names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from copy import deepcopy
from typing import Any, Protocol

from toolcrib.config.sections import MappingKind, Section, SectionKind, camel_case, fields_of, kind_of
from toolcrib.config.settings import ClientApprovals, Settings
from toolcrib.config.store import ConfigStore
from toolcrib.errors import ConfigError, NotFound, UsageError
from toolcrib.suggestions import did_you_mean

OWN = "toolcrib"
MASTER_SWITCH = "globalEnabled"
_HIDDEN = ("tokenHash", "tokenTail")
_SECRET = ("apiKey",)


def known_keys() -> list[str]:
    """The names of all settings; `*` stands for any name: `agent.endpoints.*.url`, or all of that one."""
    return sorted(_keys(Settings))


def check_key(key: str) -> None:
    """Raise `UsageError` unless there is such a setting."""
    known = known_keys()
    if not any(_fits(key.split("."), name.split(".")) for name in known):
        hint = did_you_mean(key, known, otherwise="List them with: toolcrib settings")
        raise UsageError(f"There is no setting {key[:100]!r}.", hint=hint)


def change_settings(store: ConfigStore, changes: Mapping[str, Any]) -> None:
    """Write several settings at once; None removes one, so that its default applies.

    Raises `UsageError` for an unknown name and `ConfigError` for a wrong value; the file is
    then unchanged.
    """
    for key in changes:
        check_key(key)
    with store.edit() as document:
        for key, value in changes.items():
            _put(document, key, value)


def value_of(settings: Settings, key: str) -> Any:
    """The current value of a setting; None for a missing name."""
    found: Any = settings.as_json()
    for part in key.split("."):
        found = found.get(part) if isinstance(found, Mapping) else None
    return found


def readable(value: Any) -> str:
    """A value as people read it, without braces, and nothing of a hidden one."""
    if value is None or value == "":
        return "not set"
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, Mapping):
        given = {key: part for key, part in _cleaned(value).items() if part not in (None, "", {}, [])}
        return ", ".join(f"{key} {_inner(part)}" for key, part in given.items()) or "none"
    if isinstance(value, list | tuple):
        return ", ".join(map(readable, value)) or "none"
    return str(value)


def _inner(part: Any) -> str:
    return f"({readable(part)})" if isinstance(part, Mapping | list | tuple) else readable(part)


def given_keys(document: Mapping[str, Any]) -> list[str]:
    """The settings that the file contains."""
    found = [MASTER_SWITCH] if MASTER_SWITCH in document else []
    own = document.get(OWN)
    return [*found, *(_paths(own) if isinstance(own, Mapping) else ())]


def shown(settings: Settings) -> dict[str, Any]:
    """All current settings in the form of the file, without token hashes."""
    return _cleaned(settings.as_json())


def _cleaned(section: Mapping[str, Any]) -> dict[str, Any]:
    return {key: _clean(key, value) for key, value in section.items() if key not in _HIDDEN}


def _clean(key: str, value: Any) -> Any:
    if isinstance(value, Mapping):
        return _cleaned(value)
    # A literal key is hidden; a reference to a secret is shown.
    return "***" if key in _SECRET and value and not str(value).startswith("${") else value


def _put(document: dict[str, Any], key: str, value: Any) -> None:
    if key == MASTER_SWITCH:
        document[key] = value
        return
    *parts, last = key.split(".")
    section = _section(document, OWN)
    for part in parts:
        section = _section(section, part)
    section.pop(_snake(last), None)  # the other spelling, which would hold as well
    if value is None:
        section.pop(last, None)
    else:
        section[last] = value


def _section(holder: dict[str, Any], key: str) -> dict[str, Any]:
    if holder.get(key) is None:
        holder[key] = holder.pop(_snake(key), None) or {}
    section = holder[key]
    if isinstance(section, dict):
        return section
    raise ConfigError(f"{key} must be an object: {{ … }}.", hint="Fix the file by hand.")


def _snake(key: str) -> str:
    other = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in key)
    return other if other != key else ""


def _keys(section: type[Section], before: str = "") -> list[str]:
    found: list[str] = []
    for field_name, field in fields_of(section).items():
        key = camel_case(field_name)
        name, kind = f"{before}{key}", kind_of(field)
        if isinstance(kind, SectionKind):
            found += _keys(kind.section, f"{name}.")
        elif isinstance(kind, MappingKind):
            inner = kind.kind
            free = _keys(inner.section, f"{name}.*.") if isinstance(inner, SectionKind) else []
            found += [name, f"{name}.*", *free]
        elif key not in _HIDDEN:
            found.append(name)
    return found


def _fits(given: list[str], known: list[str]) -> bool:
    return len(given) == len(known) and all(
        part and known_one in ("*", part) for part, known_one in zip(given, known, strict=True)
    )


def _paths(section: Mapping[str, Any], before: str = "") -> list[str]:
    found: list[str] = []
    for key, value in section.items():
        if key in _HIDDEN:
            continue
        inner = isinstance(value, Mapping)
        found += _paths(value, f"{before}{key}.") if inner else [f"{before}{key}"]
    return found


class EditableDocument(Protocol):
    """Where profiles are stored: the config file, or the shared database."""

    def edit(self) -> AbstractContextManager[dict[str, Any]]:
        """The document to change in place; written when the block is left, unless it raised."""


NAME = re.compile(r"[A-Za-z0-9_-]{1,60}")
TOKEN_HASH = "tokenHash"  # noqa: S105 - the name of a key
TOKEN_TAIL = "tokenTail"  # noqa: S105 - the same
APPROVALS = "approvals"
_OF_TOKEN = {TOKEN_HASH: "token_hash", TOKEN_TAIL: "token_tail"}
"""The keys of a token, in both spellings."""


def check_profile_name(name: str) -> None:
    """Refuse a name that cannot be part of an address."""
    if not NAME.fullmatch(name):
        raise UsageError(f"{name[:60]!r} is not a valid profile name.", hint="Use letters, digits, - and _.")


def unknown_profile(name: str, known: Iterable[str]) -> NotFound:
    """An error with a suggestion."""
    hint = did_you_mean(name, known, otherwise="List them with: toolcrib profiles")
    return NotFound(f"There is no profile called {name!r}.", hint=hint)


def put_profile(
    store: EditableDocument, name: str, view: Mapping[str, Any], *, replace: bool = False
) -> None:
    """Write a profile; one that is replaced keeps its token, and its `approvals` if the view has none.

    Raises `UsageError` when the name is taken.
    """
    check_profile_name(name)
    with store.edit() as document:
        profiles = _section(_section(document, "toolcrib"), "profiles")
        earlier = profiles.get(name)
        if earlier is not None and not replace:
            raise UsageError(
                f"There is already a profile called {name!r}.", hint="Add --replace to overwrite it."
            )
        kept = _take_token(earlier) if isinstance(earlier, dict) else {}
        asked = {APPROVALS: earlier[APPROVALS]} if isinstance(earlier, dict) and APPROVALS in earlier else {}
        profiles[name] = {**asked, **view, **kept}


def remove_profile(store: EditableDocument, name: str) -> None:
    """Remove a profile and its token; raises `NotFound`."""
    with store.edit() as document:
        profiles = _section(_section(document, "toolcrib"), "profiles")
        if name not in profiles:
            raise unknown_profile(name, profiles)
        del profiles[name]


def set_token_hash(store: EditableDocument, name: str, hashed: str, *, tail: str = "") -> None:
    """Require this token, or none if it is empty; no name means clients without a profile.

    `tail` is the end of the token, by which the user recognises it.
    """
    with store.edit() as document:
        view = _view(document, name)
        _take_token(view)
        if hashed:
            view[TOKEN_HASH] = hashed
        if hashed and tail:
            view[TOKEN_TAIL] = tail


def set_approvals(store: EditableDocument, name: str, approvals: ClientApprovals) -> None:
    """How clients of a profile are asked; no name means clients without a profile."""
    with store.edit() as document:
        _view(document, name)[APPROVALS] = approvals


def _view(document: dict[str, Any], name: str) -> dict[str, Any]:
    """The profile of this name, or the settings of clients without one; raises `NotFound`."""
    own = _section(document, OWN)
    if not name:
        return _section(own, "gateway")
    profiles = _section(own, "profiles")
    if name not in profiles:
        raise unknown_profile(name, profiles)
    return _section(profiles, name)


def take_profiles(document: dict[str, Any], *, remove: bool = True) -> dict[str, dict[str, Any]]:
    """The profiles of a document by name, and under no name the token of clients without a profile."""
    document = document if remove else deepcopy(document)
    own = document.get(OWN)
    if not isinstance(own, dict):
        return {}
    profiles: dict[str, dict[str, Any]] = own.pop("profiles", None) or {}
    gateway = own.get("gateway")
    token = _take_token(gateway) if isinstance(gateway, dict) else {}
    return {**profiles, **({"": token} if token else {})}


def _take_token(view: dict[str, Any]) -> dict[str, Any]:
    """Remove the token's keys and return them; both spellings are read, so both must go."""
    found = {key: [view.pop(key, None), view.pop(other, None)] for key, other in _OF_TOKEN.items()}
    return {key: one or other for key, (one, other) in found.items() if one or other}
