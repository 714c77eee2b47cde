"""Every operation and every check keeps its contract, and the documentation knows all of them."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest
from pydantic import BaseModel

from toolcrib import plugins
from toolcrib.control.dispatch import OPERATIONS, find_operation
from toolcrib.control.needs import Needs
from toolcrib.control.operations.doctor import CHECKS
from toolcrib.errors import NotFound

EXAMPLE = {
    "name": "demo",
    "tool": "demo__add",
    "entry": {"command": "x"},
    "value": "x",
    "server": "demo",
    "host": "cursor",
    "file": "/x/mcp.json",
    "folder": "/x",
    "digest": "0",
    "text": "What is 1 plus 2?",
    "chat": "last",
    "id": "q1",
    "action": "accept",
    "allow": True,
    "model": "demo",
    "client": "cursor",
    "enabled": True,
    "call": "c1",
    "call_id": "c1",
    "key": "retrieval.k",
    "queries": "/x/questions.jsonl",
    "mark": "0",
    "agreed": "0",
}
DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("name", plugins.names(OPERATIONS))
def test_an_operation_offers_what_is_needed_to_run_it(name: str) -> None:
    operation = find_operation(name)
    fields = operation.Params.model_fields

    params = operation.Params(**{key: value for key, value in EXAMPLE.items() if key in fields})

    assert issubclass(operation.Params, BaseModel)
    assert isinstance(operation.needs(params, lambda: ("demo",)), Needs)
    assert inspect.iscoroutinefunction(operation.run)
    assert list(inspect.signature(operation.run).parameters) == ["host", "params", "emit"]


@pytest.mark.parametrize("name", plugins.names(CHECKS))
def test_a_check_looks_at_a_place(name: str) -> None:
    check = plugins.find(CHECKS, name).check

    assert inspect.iscoroutinefunction(check)
    assert list(inspect.signature(check).parameters) == ["place"]


@pytest.mark.parametrize("name", ["__init__", "os.path", "no-such", ""])
def test_what_is_no_operation_is_not_found(name: str) -> None:
    with pytest.raises(NotFound):
        find_operation(name)


@pytest.mark.parametrize("name", plugins.names("toolcrib.cli.commands"))
def test_every_command_is_documented(name: str) -> None:
    word = name.rstrip("_").replace("_", "-")
    assert re.search(rf"`toolcrib {word}\b", (DOCS / "command-line.md").read_text())
    assert re.search(rf"^## `{word}`", (DOCS / "json-output.md").read_text(), re.MULTILINE)
