"""Compares what the host really answers with what it declares: a key too many or too few is a fault."""

from __future__ import annotations

from copy import deepcopy
from functools import cache
from typing import Any

import jsonschema_rs

from toolcrib.web.contract import contract


def check_result(operation: str, result: Any) -> None:
    """The result of an operation is just what it declares."""
    _check(f"{operation} result", _validator(operation, "result"), result)


def check_event(operation: str, event: Any) -> None:
    """So is what it tells on the way."""
    _check(f"{operation} event", _validator(operation, "event"), event)


def check_news(news: Any) -> None:
    """So is what pages hear."""
    _check("news", _news(), news)


def _check(what: str, validator: jsonschema_rs.Draft202012Validator, value: Any) -> None:
    faults = [
        f"{'/'.join(map(str, error.instance_path))}: {error.message}"
        for error in validator.iter_errors(value)
    ]
    assert not faults, f"{what} is not as declared: {faults[:5]}"


@cache
def _validator(operation: str, part: str) -> jsonschema_rs.Draft202012Validator:
    described = next(one for one in contract().operations if one.name == operation)
    return _closed(getattr(described, part) or {})


@cache
def _news() -> jsonschema_rs.Draft202012Validator:
    return _closed(contract().aliases["News"])


def _closed(schema: Any) -> jsonschema_rs.Draft202012Validator:
    """The schema, where objects have no other keys than those that are named."""
    document = deepcopy(schema)
    _close(document)
    return jsonschema_rs.Draft202012Validator({**document, "components": {"schemas": _types()}})


@cache
def _types() -> Any:
    """The shared types, closed once."""
    types = deepcopy(contract().types)
    _close(types)
    return types


def _close(schema: Any) -> None:
    if isinstance(schema, list):
        for one in schema:
            _close(one)
    elif isinstance(schema, dict):
        if schema.get("type") == "object" and "properties" in schema:
            schema.setdefault("additionalProperties", False)
        for one in schema.values():
            _close(one)
