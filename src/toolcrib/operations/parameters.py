"""The check of an operation's parameters without pydantic, whose import costs a command more than a call: for
JSON's own types, dataclasses of them and the markers below. All other types are left to pydantic, and what is
refused here is checked by it again, so that its messages are the only ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from pydantic_core import SchemaValidator

from toolcrib.serverkit.arguments import plain

CLOSED: Any = {"extra": "forbid"}
"""As `__pydantic_config__` of a dataclass: further keys are refused."""


@dataclass(frozen=True, kw_only=True)
class Within:
    """Bounds of a number, as an annotation that pydantic understands too."""

    gt: float | None = None
    ge: float | None = None
    le: float | None = None

    __is_annotated_types_grouped_metadata__ = True

    def __iter__(self) -> Iterator[object]:
        from pydantic import Field

        return iter(Field(**vars(self)).metadata)


EMPTY = object()
"""Marks a list or an object that is empty unless it is given."""


def quick_check(parameters: Mapping[str, tuple[Any, Any]]) -> Callable[[Any], dict[str, Any]] | None:
    """Checks values of parameters, given as their types and defaults, and fills in defaults. It raises
    pydantic-core's `ValidationError`; None if only pydantic can check them."""
    entries: dict[str, Any] = {}
    for name, (hint, default) in parameters.items():
        core = _core(hint)
        if core is None:
            return None
        if default is not MISSING:
            core = {"type": "default", "schema": core, "default": default}
        entries[name] = {"type": "typed-dict-field", "schema": core, "required": core["type"] != "default"}
    return SchemaValidator(
        {"type": "typed-dict", "fields": entries, "extra_behavior": "forbid"}
    ).validate_python


def _core(hint: Any) -> dict[str, Any] | None:
    """The type for pydantic-core; None if it is not one of those above."""
    if get_origin(hint) is Annotated:
        kind, *marks = get_args(hint)
        core = _core(kind)
        if core is None or len(marks) > 1:
            return None
        if marks == [EMPTY]:
            return {"type": "default", "schema": core, "default_factory": get_origin(kind)}
        if not isinstance(marks[0], Within):
            return None
        bounds = {name: bound for name, bound in vars(marks[0]).items() if bound is not None}
        nullable = core["type"] == "nullable"
        return {**core, "schema": {**core["schema"], **bounds}} if nullable else {**core, **bounds}
    if get_origin(hint) is tuple and get_args(hint)[1:] == (...,):
        item = _core(get_args(hint)[0])
        return {"type": "tuple", "items_schema": [item], "variadic_item_index": 0} if item else None
    if is_dataclass(hint) and isinstance(hint, type):
        return _dataclass_core(hint)
    found = plain(hint)
    return found.core if found else None


def _dataclass_core(kind: type) -> dict[str, Any] | None:
    hints = get_type_hints(kind, include_extras=True)
    entries: list[dict[str, Any]] = []
    for field in fields(kind):
        core = _core(hints[field.name])
        if core is None or field.default_factory is not MISSING:
            return None
        if field.default is not MISSING:
            core = {"type": "default", "schema": core, "default": field.default}
        entry = {"type": "dataclass-field", "name": field.name, "schema": core, "kw_only": field.kw_only}
        entries.append(entry)
    arguments = {
        "type": "dataclass-args",
        "dataclass_name": kind.__name__,
        "fields": entries,
        "extra_behavior": "forbid",
    }
    return {"type": "dataclass", "cls": kind, "fields": list(hints), "schema": arguments}
