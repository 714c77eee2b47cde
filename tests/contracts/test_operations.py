"""Every operation of `control/operations` refuses unknown parameters, and says whether pages may use it."""

from __future__ import annotations

import inspect

import pytest
from pydantic import BaseModel

from toolcrib import plugins
from toolcrib.control.dispatch import OPERATIONS, find_operation, read_params
from toolcrib.errors import UsageError

NAMES = plugins.names(OPERATIONS)


@pytest.mark.parametrize("name", NAMES)
def test_an_operation_offers_params_needs_and_run(name: str) -> None:
    operation = find_operation(name)

    assert issubclass(operation.Params, BaseModel)
    assert list(inspect.signature(operation.needs).parameters) == ["params", "configured"]
    assert list(inspect.signature(operation.run).parameters) == ["host", "params", "emit"]
    assert inspect.iscoroutinefunction(operation.run)
    assert isinstance(getattr(operation, "FOR_PAGES", None), bool)


@pytest.mark.parametrize("name", NAMES)
def test_an_operation_refuses_a_parameter_that_it_does_not_know(name: str) -> None:
    with pytest.raises(UsageError):
        read_params(find_operation(name), {"noSuchParameter": 1})
