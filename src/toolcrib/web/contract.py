"""Every operation that the page may use, with JSON Schemas of its parameters, events and result; descriptions
of error statuses, and the type names that the page uses.

The OpenAPI document is made from it: `python -m toolcrib.web.contract` prints it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from types import UnionType
from typing import Any, Generic, Literal, TypeVar, get_origin

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema

from toolcrib import plugins
from toolcrib.feature import features
from toolcrib.operations.operation import Operation
from toolcrib.operations.registry import operations
from toolcrib.schema.failures import Failure
from toolcrib.schema.json_values import omitted_fields
from toolcrib.version import __version__
from toolcrib.web.access import SignedIn, SignedOut, SignInParams, SignOutParams

FAILURES = {
    "400": "The request is not valid.",
    "401": "The page's key is not valid.",
    "403": "Denied by a rule or by the user, or not approved yet.",
    "404": "Not found.",
    "413": "The request is too large.",
    "415": "The body is not JSON.",
    "500": "Internal error.",
    "502": "A server or a model failed.",
    "503": "A server or the host is not available now.",
}

Schema = dict[str, Any]
RESULTS = "toolcrib.operations.results"
CHATS = ("toolcrib.chats.events", "toolcrib.chats.wire")
"""The types of turns, which the layers below the operations use too."""
WIRE_NAMES = {
    "AccountField": "AccountFieldShown",
    "CheckResult": "Checkup",
    "DraftQuestion": "ImportQuestion",
    "InstallProgress": "InstallStep",
    "InstallQuestion": "PlanQuestion",
    "Reason": "MatchReason",
    "SetupStep": "SetupStepShown",
    "SignedInPage": "LetInPage",
    "StepResult": "TrialStep",
    "Usage": "TokenUsage",
    "Variable": "CatalogVariable",
}
"""Results that the users of the API know by another name."""
REFERENCE = "#/components/schemas/{model}"


def document() -> dict[str, Any]:
    known = contract()
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Toolcrib",
            "version": __version__,
            "summary": "The API of the web page. On loopback only, with a key.",
        },
        "security": [{"key": []}],
        "paths": {
            **{f"/api/{described.name}": {"post": _operation(described)} for described in known.operations},
            "/api/live": {"get": _live(known.aliases["News"])},
        },
        "components": {
            "schemas": {**known.types, "Error": _error(known.failure)},
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(described: Described[Any]) -> dict[str, Any]:
    events = {"event": described.event if described.event is not None else {}, "result": described.result}
    document: dict[str, Any] = {
        "operationId": described.name,
        "summary": described.about,
        "requestBody": {"content": {"application/json": {"schema": described.params}}},
        "responses": {
            "200": {
                "description": "The result; as a stream, events followed by the result.",
                "content": {
                    "application/json": {"schema": described.result},
                    "text/event-stream": {"schema": {"type": "string"}, "x-events": events},
                },
            },
            **{status: _failure(text) for status, text in FAILURES.items()},
        },
    }
    return {**document, "security": []} if described.name == "sign_in" else document


def _live(events: dict[str, Any]) -> dict[str, Any]:
    stream = {"text/event-stream": {"schema": {"type": "string"}, "x-events": {"message": events}}}
    last = {"name": "Last-Event-ID", "in": "header", "schema": {"type": "string"}}
    return {
        "operationId": "live",
        "summary": "Live events of the host, from now on or after the last received event.",
        "parameters": [last],
        "responses": {"200": {"description": "An endless stream of events.", "content": stream}},
    }


def _failure(text: str) -> dict[str, Any]:
    return {
        "description": text,
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
    }


def _error(failure: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": {"error": failure}, "required": ["error"]}


T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Described(Generic[T]):
    """One operation, with types or their schemas; `event` is None if its events have no type."""

    name: str
    about: str
    params: T
    event: T | None
    result: T


@dataclass(frozen=True, kw_only=True)
class Contract:
    """All operations, and the types they share, by name."""

    operations: tuple[Described[Schema], ...]
    failure: Schema
    types: dict[str, Schema]
    aliases: dict[str, Schema]
    """Named literals and unions."""


class Schemas(GenerateJsonSchema):
    """The schemas of dataclasses as `to_json` writes them: all fields, times and enumerations as text."""

    def field_is_required(self, field: Any, total: bool) -> bool:
        written = self.mode == "serialization" and field["type"] == "dataclass-field"
        return written or super().field_is_required(field, total)

    def dataclass_field_schema(self, schema: Any) -> Schema:
        inner = schema["schema"]
        has_default = self.mode == "serialization" and inner["type"] == "default"
        return self.generate_inner(inner["schema"] if has_default else inner)

    def datetime_schema(self, schema: Any) -> Schema:
        return {"type": "string"} if self.mode == "serialization" else super().datetime_schema(schema)

    def field_title_should_be_set(self, schema: Any) -> bool:
        return schema["type"] == "enum" or super().field_title_should_be_set(schema)

    def dataclass_schema(self, schema: Any) -> Schema:
        described = super().dataclass_schema(schema)
        if self.mode == "serialization":
            omitted = omitted_fields(schema["cls"])
            described["required"] = [name for name in described["required"] if name not in omitted]
            described["title"] = WIRE_NAMES.get(described["title"], described["title"])
        return described

    def typed_dict_schema(self, schema: Any) -> Schema:
        described = super().typed_dict_schema(schema)
        described["title"] = WIRE_NAMES.get(described["title"], described["title"])
        return described

    def get_defs_ref(self, core_mode_ref: Any) -> Any:
        reference, mode = core_mode_ref
        path, _, name = reference.rpartition(".")
        plain, _, number = name.partition(":")
        renamed: Any = f"{path}.{WIRE_NAMES.get(plain, plain)}:{number}"
        return super().get_defs_ref((renamed, mode))

    def generate_inner(self, schema: Any) -> Schema:
        if schema["type"] == "enum":
            return {"enum": [member.value for member in schema["members"]], "type": "string"}
        return super().generate_inner(schema)


@cache
def contract() -> Contract:
    """Build it from the registered operations."""
    typed = [*_sign_in_operations(), *(_typed(operation) for operation in operations() if operation.page)]
    inputs: list[tuple[tuple[str, str], Literal["validation", "serialization"], TypeAdapter[Any]]] = [
        (("", "failure"), "serialization", TypeAdapter(Failure)),
        *((("alias", name), "serialization", TypeAdapter(choice)) for name, choice in _choices().items()),
    ]
    for operation in typed:
        name = operation.name
        inputs.append(((name, "params"), "validation", TypeAdapter(operation.params)))
        inputs.append(((name, "result"), "serialization", TypeAdapter(operation.result)))
        if operation.event is not None:
            inputs.append(((name, "event"), "serialization", TypeAdapter(operation.event)))
    schemas, shared = TypeAdapter.json_schemas(inputs, ref_template=REFERENCE, schema_generator=Schemas)
    by_key = {key: schema for (key, _), schema in schemas.items()}
    return Contract(
        operations=tuple(
            replace(
                operation,
                params=by_key[(operation.name, "params")],
                event=by_key.get((operation.name, "event")),
                result=by_key[(operation.name, "result")],
            )
            for operation in sorted(typed, key=lambda operation: operation.name)
        ),
        failure=by_key[("", "failure")],
        aliases={name: by_key[("alias", name)] for name in _choices()},
        types=dict(sorted(shared.get("$defs", {}).items())),
    )


@cache
def _choices() -> dict[str, Any]:
    """The literals and unions that the result modules give a name to."""
    found: dict[str, Any] = {}
    modules = [plugins.find(RESULTS, name) for name in plugins.names(RESULTS)]
    theirs = [feature.module(name) for feature in features() for name in feature.results]
    for module in (*modules, *theirs, *map(import_module, CHATS)):
        choices = {
            key: value for key, value in vars(module).items() if not key.startswith("_") and _is_choice(value)
        }
        clashing = [key for key, value in choices.items() if found.get(key, value) != value]
        if clashing:
            raise TypeError(
                f"Several modules of {RESULTS} define different types named: {', '.join(clashing)}."
            )
        found |= choices
    return dict(sorted(found.items()))


def _is_choice(value: Any) -> bool:
    return isinstance(value, UnionType) or get_origin(value) is Literal


def _sign_in_operations() -> Iterator[Described[Any]]:
    about = "Exchange the token of a one-time sign-in address for a key."
    yield Described(name="sign_in", about=about, params=SignInParams, event=None, result=SignedIn)
    about = "Revoke the page's key."
    yield Described(name="sign_out", about=about, params=SignOutParams, event=None, result=SignedOut)


def _typed(operation: Operation[..., Any]) -> Described[Any]:
    about = (operation.function.__doc__ or "").strip().partition("\n")[0]
    return Described(
        name=operation.name,
        about=about,
        params=operation.params,
        event=operation.event,
        result=operation.hints["return"],
    )
