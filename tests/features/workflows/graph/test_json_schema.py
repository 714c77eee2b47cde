"""The JSON Schema of the file is up to date, and the documentation is true.

After a change of a node type: `make generated`.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from tests.features.workflows.graph.random_files import GraphBuilder
from toolcrib import plugins
from toolcrib.features.workflows.graph.json_schema import FILE, schema_text
from toolcrib.features.workflows.graph.node_types import node_types
from toolcrib.features.workflows.graph.validation import validate
from toolcrib.graph.files import read_workflow, write_workflow
from toolcrib.graph.node_type import AnyNodeType
from toolcrib.schema.workflows import Node, Parameter, Retry, RunOptions, Workflow
from toolcrib.tools.registry import Registry

PAGE = (Path(__file__).parents[4] / "docs" / "workflows-format.md").read_text(encoding="utf-8")
[EXAMPLE] = re.findall(r"^```json\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def schema() -> jsonschema_rs.Validator:
    return jsonschema_rs.validator_for(json.loads(FILE.read_text(encoding="utf-8")))


def one_node(kind: str, settings: Any) -> dict[str, Any]:
    return {"name": "test", "nodes": {"a": {"type": kind, "settings": settings}}}


def test_the_schema_is_the_one_of_the_models() -> None:
    assert FILE.read_text(encoding="utf-8") == schema_text(), "See the module's docstring."


def test_the_example_in_the_documentation_is_valid(schema: jsonschema_rs.Validator) -> None:
    workflow = read_workflow(EXAMPLE)

    assert validate(workflow) == ()
    schema.validate(json.loads(EXAMPLE))
    schema.validate(json.loads(write_workflow(workflow)))


def test_the_example_in_the_documentation_fits_the_real_tools(tmp_path: Path) -> None:
    tools = Registry()
    server = plugins.find("toolcrib.bundled", "filesystem").create([str(tmp_path)])
    tools.put("filesystem", "mcp", [tool.definition for tool in server.tools.values()])

    assert validate(read_workflow(EXAMPLE), find_tool=tools.resolve) == ()


@pytest.mark.parametrize("node_type", node_types().values(), ids=lambda each: each.name)
def test_the_schema_accepts_the_example_of_each_type_and_no_other_settings(
    schema: jsonschema_rs.Validator, node_type: AnyNodeType
) -> None:
    assert schema.is_valid(one_node(node_type.name, node_type.example))
    assert not schema.is_valid(one_node(node_type.name, {**node_type.example, "unheard_of": 1}))


def test_the_schema_accepts_references_where_the_validator_does(schema: jsonschema_rs.Validator) -> None:
    assert schema.is_valid(one_node("Click", {"x": "{{a.x}}", "y": 3}))
    assert schema.is_valid(one_node("PressKey", {"key": "a", "modifiers": ["{{a.x}}"]}))
    assert schema.is_valid(one_node("If", {"condition": "{{a.ok}}"}))
    assert not schema.is_valid(one_node("Click", {"x": "left", "y": 3}))
    assert not schema.is_valid(one_node("EndLoop", {"loop": "{{a.x}}"}))
    assert not schema.is_valid(one_node("Switch", {"cases": "{{a.x}}"}))
    assert not schema.is_valid(one_node("Clik", {}))
    assert not schema.is_valid({"name": "test", "nodes": {"Not An Id": {"type": "Set"}}})


def test_the_schema_accepts_random_graphs(schema: jsonschema_rs.Validator) -> None:
    for seed in range(3):
        schema.validate(json.loads(write_workflow(GraphBuilder(seed).build(50))))


def test_the_documentation_names_every_key_type_setting_and_result() -> None:
    names = {name for model in (Workflow, Node, Parameter, Retry, RunOptions) for name in model.model_fields}
    for node_type in node_types().values():
        names |= {node_type.name, *node_type.settings.model_fields, *node_type.result.model_fields}

    assert [name for name in sorted(names) if f"`{name}`" not in PAGE and f"`{name}?`" not in PAGE] == []
