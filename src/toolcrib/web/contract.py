"""Every operation that a page may use, with the JSON Schemas of what it takes, tells and answers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from types import UnionType
from typing import Any, Literal, get_origin, get_type_hints

from pydantic import TypeAdapter, create_model

from toolcrib import plugins
from toolcrib.control.answers.failures import Failure
from toolcrib.control.needs import Operation
from toolcrib.web.page_operations import offered_operations
from toolcrib.web.sign_in import SignedIn, SignedOut, SignInParams, SignOutParams

Schema = dict[str, Any]
ANSWERS = "toolcrib.control.answers"
REFERENCE = "#/components/schemas/{model}"


@dataclass(frozen=True, kw_only=True)
class Described:
    """One operation; `event` is None where nobody says what it tells."""

    name: str
    about: str
    params: Schema
    event: Schema | None
    result: Schema


@dataclass(frozen=True, kw_only=True)
class Contract:
    """All of them, and the types that they share, by name."""

    operations: tuple[Described, ...]
    failure: Schema
    types: dict[str, Schema]
    aliases: dict[str, Schema]
    """Choices that have a name of their own: of words, and of types."""


@dataclass(frozen=True)
class _Typed:
    name: str
    about: str
    params: Any
    event: Any
    result: Any


@cache
def contract() -> Contract:
    """Read from the operations themselves."""
    found = [*_doors(), *(_typed(name, one) for name, one in offered_operations().items())]
    inputs: list[tuple[tuple[str, str], Literal["validation", "serialization"], TypeAdapter[Any]]] = [
        (("", "failure"), "serialization", TypeAdapter(Failure)),
        *((("alias", name), "serialization", TypeAdapter(choice)) for name, choice in _choices().items()),
    ]
    for one in found:
        inputs.append(((one.name, "params"), "validation", TypeAdapter(one.params)))
        inputs.append(((one.name, "result"), "serialization", TypeAdapter(one.result)))
        if one.event is not None:
            inputs.append(((one.name, "event"), "serialization", TypeAdapter(one.event)))
    schemas, shared = TypeAdapter.json_schemas(inputs, ref_template=REFERENCE)
    by_key = {key: schema for (key, _), schema in schemas.items()}
    return Contract(
        operations=tuple(
            Described(
                name=one.name,
                about=one.about,
                params=by_key[(one.name, "params")],
                event=by_key.get((one.name, "event")),
                result=by_key[(one.name, "result")],
            )
            for one in sorted(found, key=lambda one: one.name)
        ),
        failure=by_key[("", "failure")],
        aliases={name: by_key[("alias", name)] for name in _choices()},
        types=dict(sorted(shared.get("$defs", {}).items())),
    )


@cache
def _choices() -> dict[str, Any]:
    """The literals and unions that the modules of answers give a name to."""
    found: dict[str, Any] = {}
    for name in plugins.names(ANSWERS):
        module = vars(plugins.find(ANSWERS, name))
        choices = {
            key: value for key, value in module.items() if not key.startswith("_") and _is_choice(value)
        }
        clashing = [key for key, value in choices.items() if found.get(key, value) != value]
        if clashing:
            raise TypeError(f"Several modules of {ANSWERS} mean different things by: {', '.join(clashing)}.")
        found |= choices
    return dict(sorted(found.items()))


def _is_choice(value: Any) -> bool:
    return isinstance(value, UnionType) or get_origin(value) is Literal


def _doors() -> Iterator[_Typed]:
    yield _Typed("sign_in", "A key for the token of a one-time address.", SignInParams, None, SignedIn)
    yield _Typed("sign_out", "Give the page's key up.", SignOutParams, None, SignedOut)


def _typed(name: str, operation: Operation) -> _Typed:
    words = "".join(part.capitalize() for part in name.split("_"))
    # Under a name of its own: in their modules all of them are called the same.
    params = create_model(f"{words}Params", __base__=operation.Params, __doc__=operation.Params.__doc__)
    about = (operation.__doc__ or "").strip().partition("\n")[0]
    _, colon, rest = about.partition("`: ")
    returned = get_type_hints(operation.run).get("return", Any)
    return _Typed(
        name, (rest if colon else about).capitalize(), params, getattr(operation, "Event", None), returned
    )
