"""Checks the input actions of a macro before it is stored."""

from __future__ import annotations

import functools
from typing import Any, cast

from pydantic_core import SchemaValidator, ValidationError

from toolcrib.bundled.desktop.input_actions import InputAction, kind_of
from toolcrib.serverkit.arguments import plain
from toolcrib.serverkit.context import ToolFailure


def check_input(action: dict[str, Any], path: str) -> None:
    """Raises `ToolFailure` if it is not an input action."""
    kind_of(action)
    try:
        _validator().validate_python(action)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise ToolFailure(f"{path}.{place}: {first['msg']}.") from None


@functools.cache
def _validator() -> SchemaValidator:
    described = plain(InputAction)
    if described is None:
        raise TypeError("InputAction has a field without a JSON type")
    return SchemaValidator(cast("Any", described.core))
