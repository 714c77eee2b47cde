"""Every operation, also of features, keeps its contract, and the documentation knows every command."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import click
import pytest
from pydantic import BaseModel

from toolcrib import plugins
from toolcrib.cli.entry import program
from toolcrib.errors import NotFound, UsageError
from toolcrib.operations.health import CHECKS
from toolcrib.operations.operation import Needs
from toolcrib.operations.registry import find_operation, operations

EXAMPLE = {
    "name": "demo",
    "tool": "demo__add",
    "entry": {"command": "x"},
    "value": "x",
    "server": "demo",
    "prompt": "greet",
    "uri": "file:///x",
    "on": True,
    "host": "cursor",
    "file": "/x/mcp.json",
    "folder": "/x",
    "digest": "0",
    "text": "What is 1 plus 2?",
    "query": "plus",
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
    "provider": "imap",
    "vendor": "openai",
    "sign_in": "s1",
    "source": "one",
    "output": "",
    "target": "two",
    "workflow": {"name": "add"},
    "run": "r1",
    "version": "v1",
    "run_a": "r1",
    "run_b": "r2",
    "step": "add",
    "choice": "Approve",
    "request": "Add 1 and 2.",
    "index": 0,
    "approvals": "page",
}
NAMES = [operation.name for operation in operations()]
DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("name", NAMES)
def test_an_operation_is_a_documented_typed_coroutine_with_known_parameters(name: str) -> None:
    operation = find_operation(name)

    assert issubclass(operation.params, BaseModel)
    assert next(iter(inspect.signature(operation.function).parameters)) == "host"
    assert inspect.iscoroutinefunction(operation.function)
    assert "return" in operation.hints
    assert operation.function.__doc__
    params = operation.read({key: EXAMPLE[key] for key in operation.params.model_fields if key in EXAMPLE})
    assert isinstance(operation.needs(params, lambda: ("demo",)), Needs)
    with pytest.raises(UsageError):
        operation.read({"noSuchParameter": 1})


@pytest.mark.parametrize("name", plugins.names(CHECKS))
def test_a_check_takes_its_context(name: str) -> None:
    check = plugins.find(CHECKS, name).check

    assert inspect.iscoroutinefunction(check)
    assert list(inspect.signature(check).parameters) == ["context"]


@pytest.mark.parametrize("name", ["__init__", "os.path", "no-such", ""])
def test_what_is_no_operation_is_not_found(name: str) -> None:
    with pytest.raises(NotFound):
        find_operation(name)


def test_every_command_is_documented() -> None:
    lines, outputs = ((DOCS / name).read_text() for name in ("command-line.md", "json-output.md"))
    names = program().list_commands(click.Context(program()))

    assert [name for name in names if not re.search(rf"`toolcrib {name}\b", lines)] == []
    assert [name for name in names if not re.search(rf"^## `{name}`", outputs, re.MULTILINE)] == []
