"""JSON's own types, described for people (JSON Schema) and for pydantic-core, without loading pydantic."""

from __future__ import annotations

import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints, is_typeddict


@dataclass(frozen=True)
class Plain:
    """One type in both languages."""

    schema: dict[str, Any]
    core: dict[str, Any]


_SIMPLE: dict[Any, Plain] = {
    str: Plain({"type": "string"}, {"type": "str"}),
    int: Plain({"type": "integer"}, {"type": "int"}),
    # JSON knows neither infinity nor "not a number".
    float: Plain({"type": "number"}, {"type": "float", "allow_inf_nan": False}),
    bool: Plain({"type": "boolean"}, {"type": "bool"}),
    None: Plain({"type": "null"}, {"type": "none"}),
    type(None): Plain({"type": "null"}, {"type": "none"}),
    Any: Plain({}, {"type": "any"}),
    list: Plain({"type": "array", "items": {}}, {"type": "list"}),
    dict: Plain({"type": "object", "additionalProperties": True}, {"type": "dict"}),
}


def plain(hint: Any, within: tuple[Any, ...] = ()) -> Plain | None:
    """The type in both languages; None when it is not one of JSON's own.

    `within` names the TypedDicts around it: one that contains itself is left to pydantic.
    """
    if is_typeddict(hint):
        return None if hint in within else _typed_dict(hint, (*within, hint))
    origin = get_origin(hint)
    if origin is None:
        try:
            return _SIMPLE.get(hint)
        except TypeError:  # unhashable: certainly not one of ours
            return None
    describe = _COMPOSED.get(origin)
    return describe(get_args(hint), within) if describe else None


def is_plain_value(value: Any) -> bool:
    """True for a value that JSON has a word for."""
    if value is None or type(value) in (str, int, float, bool):
        return True
    if type(value) is list:
        return all(is_plain_value(item) for item in value)
    if type(value) is dict:
        return all(type(key) is str and is_plain_value(item) for key, item in value.items())
    return False


def _list(arguments: tuple[Any, ...], within: tuple[Any, ...]) -> Plain | None:
    items = plain(arguments[0], within)
    if items is None:
        return None
    return Plain({"type": "array", "items": items.schema}, {"type": "list", "items_schema": items.core})


def _dict(arguments: tuple[Any, ...], within: tuple[Any, ...]) -> Plain | None:
    key, values = arguments[0], plain(arguments[1], within)
    if key is not str or values is None:
        return None
    core = {"type": "dict", "keys_schema": {"type": "str"}, "values_schema": values.core}
    return Plain({"type": "object", "additionalProperties": values.schema or True}, core)


def _literal(arguments: tuple[Any, ...], within: tuple[Any, ...]) -> Plain | None:
    if not all(type(value) is str for value in arguments):
        return None
    schema = {"const": arguments[0]} if len(arguments) == 1 else {"enum": list(arguments)}
    return Plain({**schema, "type": "string"}, {"type": "literal", "expected": list(arguments)})


def _union(arguments: tuple[Any, ...], within: tuple[Any, ...]) -> Plain | None:
    choices = [plain(argument, within) for argument in arguments]
    known = [choice for choice in choices if choice]
    if len(known) < len(choices):
        return None
    schema = {"anyOf": [choice.schema for choice in known]}
    # As pydantic does it, so that "or None" does not show in what is said about a wrong value.
    cores = [choice.core for choice in known if choice.core["type"] != "none"]
    core = cores[0] if len(cores) == 1 else {"type": "union", "choices": cores}
    return Plain(schema, core if len(cores) == len(known) else {"type": "nullable", "schema": core})


def _typed_dict(hint: Any, within: tuple[Any, ...]) -> Plain | None:
    properties: dict[str, Any] = {}
    fields: dict[str, Any] = {}
    for name, each in get_type_hints(hint, include_extras=True).items():
        kind, description = each, ""
        if get_origin(each) is Annotated:
            kind, *metadata = get_args(each)
            if len(metadata) != 1 or not isinstance(metadata[0], str):
                return None
            description = metadata[0]
        described = plain(kind, within)
        if described is None:
            return None
        properties[name] = {**described.schema, **({"description": description} if description else {})}
        required = name in hint.__required_keys__
        fields[name] = {"type": "typed-dict-field", "schema": described.core, "required": required}
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    if hint.__required_keys__:
        schema["required"] = [name for name in properties if name in hint.__required_keys__]
    return Plain(schema, {"type": "typed-dict", "fields": fields})


_COMPOSED: dict[Any, Callable[[tuple[Any, ...], tuple[Any, ...]], Plain | None]] = {
    list: _list,
    dict: _dict,
    Literal: _literal,
    Union: _union,
    types.UnionType: _union,
}
