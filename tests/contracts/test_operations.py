"""Every operation, also of features, refuses unknown parameters, and says whether pages may use it."""

from __future__ import annotations

import inspect

import pytest
from pydantic import BaseModel

from toolcrib.errors import UsageError
from toolcrib.operations.registry import find_operation, operations

NAMES = [operation.name for operation in operations()]


@pytest.mark.parametrize("name", NAMES)
def test_an_operation_is_a_documented_typed_coroutine(name: str) -> None:
    operation = find_operation(name)

    assert issubclass(operation.params, BaseModel)
    assert next(iter(inspect.signature(operation.function).parameters)) == "host"
    assert inspect.iscoroutinefunction(operation.function)
    assert "return" in operation.hints
    assert operation.function.__doc__


@pytest.mark.parametrize("name", NAMES)
def test_an_operation_refuses_a_parameter_that_it_does_not_know(name: str) -> None:
    with pytest.raises(UsageError):
        find_operation(name).read({"noSuchParameter": 1})
