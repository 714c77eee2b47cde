"""Profiles in the config file: added, taken out, and given a token, of which the file holds a hash alone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from toolcrib.config.store import ConfigStore
from toolcrib.errors import ConfigError, NotFound, UsageError
from toolcrib.suggestions import did_you_mean

NAME = re.compile(r"[A-Za-z0-9_-]{1,60}")
TOKEN_HASH = "tokenHash"  # noqa: S105 - the name of a key
TOKEN_TAIL = "tokenTail"  # noqa: S105 - the same
_OF_TOKEN = {TOKEN_HASH: "token_hash", TOKEN_TAIL: "token_tail"}
"""What the file says of a token, in either spelling."""


def check_profile_name(name: str) -> None:
    """Refuse a name that could not stand in an address."""
    if not NAME.fullmatch(name):
        raise UsageError(f"{name[:60]!r} is no profile's name.", hint="Use letters, digits, - and _.")


def unknown_profile(name: str, known: Iterable[str]) -> NotFound:
    """An error that guesses what was meant."""
    hint = did_you_mean(name, known, otherwise="See which there are with: toolcrib profiles")
    return NotFound(f"There is no profile called {name!r}.", hint=hint)


def put_profile(store: ConfigStore, name: str, view: Mapping[str, Any], *, replace: bool = False) -> None:
    """Write a profile; one that is replaced keeps its token. Raises `UsageError` when the name is taken."""
    check_profile_name(name)
    with store.edit() as document:
        profiles = _section(_section(document, "toolcrib"), "profiles")
        earlier = profiles.get(name)
        if earlier is not None and not replace:
            raise UsageError(
                f"There is already a profile called {name!r}.", hint="Add --replace to put this in its place."
            )
        kept = _take_token(earlier) if isinstance(earlier, dict) else {}
        profiles[name] = {**view, **kept}


def remove_profile(store: ConfigStore, name: str) -> None:
    """Take a profile out, its token with it; raises `NotFound`."""
    with store.edit() as document:
        profiles = _section(_section(document, "toolcrib"), "profiles")
        if name not in profiles:
            raise unknown_profile(name, profiles)
        del profiles[name]


def set_token_hash(store: ConfigStore, name: str, hashed: str, *, tail: str = "") -> None:
    """Let only this token in, or everybody when it is empty; no name means the view without one.

    `tail` is what a person recognises it by.
    """
    with store.edit() as document:
        own = _section(document, "toolcrib")
        profiles = _section(own, "profiles") if name else {}
        if name and name not in profiles:
            raise unknown_profile(name, profiles)
        view = _section(profiles, name) if name else _section(own, "gateway")
        _take_token(view)
        if hashed:
            view[TOKEN_HASH] = hashed
        if hashed and tail:
            view[TOKEN_TAIL] = tail


def _take_token(view: dict[str, Any]) -> dict[str, Any]:
    """What is said of a token, out of the object; either spelling is read, so either must go."""
    found = {key: [view.pop(key, None), view.pop(other, None)] for key, other in _OF_TOKEN.items()}
    return {key: one or other for key, (one, other) in found.items() if one or other}


def _section(holder: dict[str, Any], key: str) -> dict[str, Any]:
    """The object under a key, made where there is none."""
    if holder.get(key) is None:
        holder[key] = {}
    section = holder[key]
    if isinstance(section, dict):
        return section
    raise ConfigError(f"{key} must be an object: {{ … }}.", hint="Mend the file by hand.")
