"""What the settings and results of all node types share: which settings may be references, and which are
needed before the run.

A setting has its type or a reference. `draft` checks settings as they are in the file and lets references
pass; `resolved` parses them after references were replaced.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    field_validator,
)
from pydantic.config import JsonDict

from toolcrib.graph.references import Values, has_reference, resolve

N = TypeVar("N", bound="NodeSettings")
_DRAFT = {"draft": True}
FIXED: JsonDict = {"x-fixed": True}
"""`json_schema_extra` of a setting without references: it is needed before the run, or is code."""
STRUCTURE: JsonDict = {"x-structure": True}
"""That of a setting that cannot be a reference as a whole, because the graph depends on it; its parts can."""
RARE: JsonDict = {"x-rare": True}
"""That of a setting that few need: forms show it under "More options"."""


class NodeSettings(BaseModel):
    """The settings of a node type, and models inside them."""

    model_config = ConfigDict(frozen=True, extra="forbid", coerce_numbers_to_str=True, allow_inf_nan=False)

    @field_validator("*", mode="wrap")
    @classmethod
    def _let_references_pass(
        cls, value: Any, check: ValidatorFunctionWrapHandler, info: ValidationInfo
    ) -> Any:
        is_draft = info.context is not None and info.context.get("draft")
        if not is_draft or info.field_name in _literal_fields(cls):
            return check(value)
        if isinstance(value, list) and any(map(has_reference, value)):
            check([item for item in value if not has_reference(item)])
        elif isinstance(value, dict) and any(map(has_reference, value.values())):
            check({key: item for key, item in value.items() if not has_reference(item)})
        elif not has_reference(value):
            return check(value)
        return value


class NodeResult(BaseModel):
    """The result of a node type: the fields that other nodes may refer to."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class AnyResult(NodeResult):
    """A result whose fields depend on the settings."""

    model_config = ConfigDict(extra="allow")


class NoResult(NodeResult):
    """The result of a node that gives no values."""


@cache
def fixed_fields(model: type[NodeSettings]) -> frozenset[str]:
    """The settings that cannot be references."""
    extras = {name: field.json_schema_extra for name, field in model.model_fields.items()}
    return frozenset(
        name for name, extra in extras.items() if isinstance(extra, dict) and extra.get("x-fixed")
    )


@cache
def _literal_fields(model: type[NodeSettings]) -> frozenset[str]:
    fields = model.model_fields.items()
    return frozenset(name for name, field in fields if field.json_schema_extra in (FIXED, STRUCTURE))


def fixed(*args: Any, **kwargs: Any) -> Any:
    """A `Field` of a setting without references."""
    return Field(*args, json_schema_extra=FIXED, **kwargs)


def structure(*args: Any, **kwargs: Any) -> Any:
    """A `Field` of a setting whose parts may be references."""
    return Field(*args, json_schema_extra=STRUCTURE, **kwargs)


def rare(*args: Any, **kwargs: Any) -> Any:
    """A `Field` of a setting that few need."""
    return Field(*args, json_schema_extra=RARE, **kwargs)


def named(names: Mapping[str, str], *args: Any, **kwargs: Any) -> Any:
    """A `Field` of a setting with a few values, and what forms call each of them."""
    return Field(*args, json_schema_extra={"x-names": dict(names)}, **kwargs)


def draft(model: type[N], settings: Mapping[str, Any]) -> N:
    """Settings as they are in the file; raises `ValidationError`."""
    return model.model_validate(dict(settings), context=_DRAFT)


def resolved(model: type[N], settings: Mapping[str, Any], values: Values) -> N:
    """Settings with the values that references lead to; raises `ValidationError`."""
    kept = fixed_fields(model)
    given = {key: value if key in kept else resolve(value, values) for key, value in settings.items()}
    return model.model_validate(given)
