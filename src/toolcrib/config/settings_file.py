"""Single settings in the config file, by dotted names such as `retrieval.k`; everything else there stays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolcrib.config.kinds import Named, Part
from toolcrib.config.reading import KIND, Section, declared, in_json
from toolcrib.config.settings import Settings
from toolcrib.config.store import ConfigStore
from toolcrib.errors import ConfigError, UsageError
from toolcrib.suggestions import did_you_mean

OWN = "toolcrib"
MASTER_SWITCH = "globalEnabled"
_HIDDEN = ("tokenHash", "tokenTail")
_SECRET = ("apiKey",)


def known_keys() -> list[str]:
    """The names of all settings; where names are free, `*` stands for one: `agent.endpoints.*.url`."""
    return sorted(_keys(Settings))


def check_key(key: str) -> None:
    """Raise `UsageError` unless there is such a setting."""
    known = known_keys()
    if not any(_fits(key.split("."), one.split(".")) for one in known):
        hint = did_you_mean(key, known, otherwise="See which there are with: toolcrib settings")
        raise UsageError(f"There is no setting {key[:100]!r}.", hint=hint)


def change_settings(store: ConfigStore, changes: Mapping[str, Any]) -> None:
    """Write several at once; None takes one out, so that the default holds again.

    Raises `UsageError` for a name that is not known and `ConfigError` for a value that is wrong; the file is
    then as it was.
    """
    for key in changes:
        check_key(key)
    with store.edit() as document:
        for key, value in changes.items():
            _put(document, key, value)


def value_of(settings: Settings, key: str) -> Any:
    """A setting as it holds now; None for one of a free name that is not there."""
    found: Any = settings.written()
    for part in key.split("."):
        found = found.get(part) if isinstance(found, Mapping) else None
    return found


def given_keys(document: Mapping[str, Any]) -> list[str]:
    """Those that the file says something about."""
    found = [MASTER_SWITCH] if MASTER_SWITCH in document else []
    own = document.get(OWN)
    return [*found, *(_paths(own) if isinstance(own, Mapping) else ())]


def shown(settings: Settings) -> dict[str, Any]:
    """All settings as they hold, as the file would say them; what guards a door is left out."""
    return _cleaned(settings.written())


def _cleaned(section: Mapping[str, Any]) -> dict[str, Any]:
    return {key: _clean(key, value) for key, value in section.items() if key not in _HIDDEN}


def _clean(key: str, value: Any) -> Any:
    if isinstance(value, Mapping):
        return _cleaned(value)
    # A key that stands in the file as it is, rather than by the name of a secret, is not shown around.
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
    raise ConfigError(f"{key} must be an object: {{ … }}.", hint="Mend the file by hand.")


def _snake(key: str) -> str:
    other = "".join(f"_{one.lower()}" if one.isupper() else one for one in key)
    return other if other != key else ""


def _keys(section: type[Section], before: str = "") -> list[str]:
    found: list[str] = []
    for field in declared(section):
        key = in_json(field.name)
        name, kind = f"{before}{key}", field.metadata[KIND]
        if isinstance(kind, Part):
            found += _keys(kind.section, f"{name}.")
        elif isinstance(kind, Named):
            inner = kind.kind
            free = _keys(inner.section, f"{name}.*.") if isinstance(inner, Part) else [f"{name}.*"]
            found += [name, *free]
        elif key not in _HIDDEN:
            found.append(name)
    return found


def _fits(given: list[str], known: list[str]) -> bool:
    return len(given) == len(known) and all(
        one and known_one in ("*", one) for one, known_one in zip(given, known, strict=True)
    )


def _paths(section: Mapping[str, Any], before: str = "") -> list[str]:
    found: list[str] = []
    for key, value in section.items():
        if key in _HIDDEN:
            continue
        inner = isinstance(value, Mapping)
        found += _paths(value, f"{before}{key}.") if inner else [f"{before}{key}"]
    return found
