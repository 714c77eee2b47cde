"""Values that only the person knows: found in what was pasted, and put where they belong."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from toolcrib.catalog.listing import Listed, by_name
from toolcrib.config.importing import questions as importing
from toolcrib.config.secret_marks import looks_secret
from toolcrib.control.answers.adding import Needed
from toolcrib.control.reading_pastes import package_of
from toolcrib.host import Host
from toolcrib.servers.installing.plan import Question

ENV = "env:"
"""Begins the key of a value that becomes a variable of the server."""
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_PLACEHOLDER = re.compile(
    r"<[^>]*>|\[[^\]]*\]|\$?\{?\{?your[-_ ].*|.*[-_ ]here\}?|x{3,}|\*{3,}|\.{3}|…|"
    r"(?:sk|ghp|xoxb|pat)[-_](?:x+|\.{3}|…)|(?:change|replace)[-_ ]?me",
    re.IGNORECASE,
)


def is_placeholder(value: object) -> bool:
    """Whether a value only says that something belongs here."""
    return isinstance(value, str) and (not value.strip() or bool(_PLACEHOLDER.fullmatch(value.strip())))


def needed_variables(
    env: Mapping[str, Any], reference: str = "", *, is_known: Callable[[str], bool] = lambda name: True
) -> list[Needed]:
    """The variables of a pasted environment that have no value yet, and those that the catalog asks for.

    `is_known` says whether `${NAME}` could be filled in now. One that could not is asked for, but need not be
    given: it can still be set before the start.
    """
    listed = _listed(reference)
    told = {one.name: one for one in listed.env} if listed else {}
    references = {name: _reference(value) for name, value in env.items()}
    unset = {name: variable for name, variable in references.items() if variable and not is_known(variable)}
    names = [name for name, value in env.items() if is_placeholder(value) or name in unset]
    names += [name for name in told if name not in env]
    return [
        _needed(
            key=f"{ENV}{name}",
            title=name,
            description=told[name].about if name in told else _instead(unset.get(name)),
            secret=told[name].secret if name in told else looks_secret(name, "x"),
            required=name not in unset and (told[name].required if name in told else True),
        )
        for name in names
    ]


def known_to(host: Host) -> Callable[[str], bool]:
    """Whether a variable is set, or stored as a secret of the same name."""
    return lambda name: name in host.connector.environ or name in host.secrets.names()


def _reference(value: object) -> str:
    """The variable that a value consists of; empty for any other value."""
    found = _VARIABLE.fullmatch(value.strip()) if isinstance(value, str) else None
    return found[1] if found else ""


def _instead(variable: str | None) -> str:
    return f"It is taken from the variable {variable}, which is not set." if variable else ""


def fill_variables(env: Mapping[str, Any], answers: Mapping[str, str]) -> dict[str, Any]:
    """The environment with the answers in it; what still has no value is left out."""
    given = {key.removeprefix(ENV): value for key, value in answers.items() if key.startswith(ENV) and value}
    return {**{name: value for name, value in env.items() if not is_placeholder(value)}, **given}


def plan_needs(questions: Iterable[Question]) -> list[Needed]:
    """What a package asks."""
    return [
        _needed(
            key=one.key,
            title=one.title or one.key,
            description=one.description,
            kind=one.kind,
            secret=one.secret,
            required=one.required,
            default=_text(one.default),
            choices=list(one.choices),
            multiple=one.multiple,
        )
        for one in questions
    ]


def document_needs(questions: Iterable[importing.Question]) -> list[Needed]:
    """What a config file asks."""
    return [
        _needed(
            key=one.id,
            title=one.text,
            secret=one.secret,
            required=one.required,
            default=one.default,
            choices=list(one.choices),
            multiple=one.multiple,
        )
        for one in questions
    ]


def missing(needed: Iterable[Needed], answers: Mapping[str, str]) -> list[str]:
    """The keys of what is required, has no default, and was not given."""
    return [
        one["key"] for one in needed if one["required"] and not one["default"] and not answers.get(one["key"])
    ]


def plan_answers(needed: Iterable[Needed], answers: Mapping[str, str]) -> dict[str, Any]:
    """The answers to a package's questions; several values stand in lines of their own."""
    found: dict[str, Any] = {}
    for one in needed:
        given = answers.get(one["key"], "")
        if given and not one["key"].startswith(ENV):
            found[one["key"]] = given.splitlines() if one["multiple"] else given
    return found


def _needed(**known: Any) -> Needed:
    plain: dict[str, Any] = {
        "description": "",
        "kind": "string",
        "default": "",
        "choices": [],
        "multiple": False,
    }
    return {**plain, **known}  # type: ignore[typeddict-item]


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return "\n".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _listed(reference: str) -> Listed | None:
    package, _ = package_of(reference)
    return by_name(package) if package else None
