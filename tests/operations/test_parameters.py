"""What is read without pydantic is what pydantic would have read, for every operation."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import ValidationError

from tests.contracts.test_operations import EXAMPLE
from toolcrib.errors import UsageError
from toolcrib.operations.operation import Operation
from toolcrib.operations.registry import find_operation, operations

ODD: tuple[Any, ...] = (
    *(None, True, 0, 1, -1, 5, 2**70, 0.5, -0.5, 3600, 3601, 86_400, 86_401, math.inf, math.nan),
    *("", "x", "5", "0.5", "true", "demo", "always"),
    *([], ["x"], [1], [[]], {}, {"a": "x"}, {"a": 1}, {1: "a"}),
    *(
        [{"key": "a", "text": "1"}],
        [{"key": "a"}],
        [{"text": "a"}],
        [{"key": "a", "other": 1}],
        ({"key": "a"},),
    ),
)


def variants(operation: Operation[..., Any]) -> Iterator[dict[str, Any]]:
    """The usual values, with one of them missing or odd."""
    fields = operation.params.model_fields
    usual = {name: EXAMPLE[name] for name in fields if name in EXAMPLE}
    yield from ({}, usual, {**usual, "noSuchParameter": 1})
    for name in fields:
        yield {key: value for key, value in usual.items() if key != name}
        yield from ({**usual, name: odd} for odd in ODD)


def test_parameters_are_read_as_pydantic_reads_them() -> None:
    tried = 0
    for operation in operations():
        for values in variants(operation):
            tried += 1
            try:
                expected = vars(operation.params.model_validate(values))
            except ValidationError:
                with pytest.raises(UsageError):
                    operation.read(values)
            else:
                assert repr(vars(operation.read(values))) == repr(expected), (operation.name, values)
    assert tried > 5000


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"tool": "demo__add", "timeout": 0}, "timeout: Input should be greater than 0."),
        ({"tool": "demo__add", "words": [{"text": "1"}]}, "words[0].key is required."),
        ({"tol": "demo__add"}, "tol is not known."),
        ([], "It must be an object."),
    ],
    ids=repr,
)
def test_a_wrong_value_is_named(values: Any, message: str) -> None:
    with pytest.raises(UsageError) as raised:
        find_operation("call").read(values)

    assert raised.value.message == message


def test_what_is_empty_by_default_is_not_shared() -> None:
    call = find_operation("call")
    vars(call.read({"tool": "a"}))["arguments"]["b"] = 1

    assert vars(call.read({"tool": "a"}))["arguments"] == {}


def test_a_call_is_read_without_pydantic() -> None:
    program = (
        "import sys; from toolcrib.operations.registry import find_operation\n"
        "find_operation('call').read({'tool': 'demo__add', 'words': [{'key': 'a', 'text': '1'}]})\n"
        "assert 'pydantic' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
