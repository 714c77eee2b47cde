"""Every node type of `workflows/nodes/` keeps the contract: typed settings and results, one way to run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from pydantic import BaseModel, ValidationError

from tests.contracts.other_package import install, run
from toolcrib import plugins
from toolcrib.features.workflows.conversion import NotAToolNode, to_call
from toolcrib.features.workflows.graph.node_types import FOLDER, node_types
from toolcrib.graph.node_settings import FIXED, STRUCTURE, NodeResult, NodeSettings, draft
from toolcrib.graph.node_type import AnyNodeType
from toolcrib.graph.references import references_in
from toolcrib.schema.workflows import ERROR, Node

NAMES = plugins.names(FOLDER)
TWO_REFERENCES = "{{one.value}} {{two.value}}"
TYPES = list(node_types().values())


def label(node_type: AnyNodeType) -> str:
    return node_type.name


@pytest.mark.parametrize("name", NAMES)
def test_a_file_is_named_after_its_node_type(name: str) -> None:
    module = plugins.find(FOLDER, name)

    assert module.NODE.name == "".join(word.capitalize() for word in name.split("_"))
    assert module.__doc__.startswith(f"{module.NODE.name}: ")


@pytest.mark.parametrize("node_type", TYPES, ids=label)
def test_a_node_type_is_described_for_users_and_planners(node_type: AnyNodeType) -> None:
    assert node_type.title
    assert node_type.about.endswith(".")
    for model in (node_type.settings, node_type.result):
        missing = [name for name, field in model.model_fields.items() if not field.description]
        assert missing == [], f"{model.__name__} has fields without a description"
    for name, setting in node_type.settings.model_json_schema()["properties"].items():
        assert node_type.settings.model_fields[name].title, f"{name} has no label"
        choices = setting.get("enum", ())
        assert set(setting.get("x-names", {})) == set(choices), f"a choice of {name} has no name"


@pytest.mark.parametrize("node_type", TYPES, ids=label)
def test_settings_and_results_are_closed_and_have_a_json_schema(node_type: AnyNodeType) -> None:
    assert issubclass(node_type.settings, NodeSettings)
    assert issubclass(node_type.result, NodeResult)
    for schema in (node_type.settings_schema, node_type.result_schema):
        jsonschema_rs.meta.validate(dict(schema))
        assert schema["type"] == "object"
        assert "additionalProperties" in schema


@pytest.mark.parametrize("node_type", TYPES, ids=label)
def test_a_node_type_is_run_or_decided_in_one_way(node_type: AnyNodeType) -> None:
    ways = {
        "step": node_type.run is not None,
        "branch": node_type.decide is not None,
        "loop": node_type.decide is not None,
        "map": node_type.run is None and node_type.decide is None,
        "end": node_type.closes is not None,
    }

    assert ways[node_type.flow]
    assert (node_type.run is not None) == (node_type.flow == "step")
    assert (node_type.closes is not None) == (node_type.flow == "end")


@pytest.mark.parametrize("node_type", TYPES, ids=label)
def test_the_example_is_valid_and_names_the_outputs(node_type: AnyNodeType) -> None:
    settings = draft(node_type.settings, node_type.example)
    outputs = node_type.outputs(settings)

    assert len(set(outputs)) == len(outputs)
    assert ERROR not in outputs
    assert node_type.flow == "end" or node_type.passed(settings) in outputs


@pytest.mark.parametrize("node_type", TYPES, ids=label)
def test_every_setting_may_be_a_reference_unless_it_is_fixed(node_type: AnyNodeType) -> None:
    for name in node_type.example:
        settings = {**node_type.example, name: TWO_REFERENCES}
        extra = node_type.settings.model_fields[name].json_schema_extra
        if extra in (FIXED, STRUCTURE):
            with pytest.raises(ValidationError):
                draft(node_type.settings, settings)
        else:
            assert getattr(draft(node_type.settings, settings), name) == TWO_REFERENCES


def without_references(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: without_references(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [without_references(entry) for entry in value]
    return "text" if any(references_in(value)) else value


@pytest.mark.parametrize("node_type", [each for each in TYPES if each.use is not None], ids=label)
def test_a_node_that_stands_for_a_call_is_read_from_that_call(node_type: AnyNodeType) -> None:
    assert node_type.use is not None
    assert node_type.read is not None
    settings = draft(node_type.settings, without_references(node_type.example))
    try:
        use = node_type.use(settings)
    except NotAToolNode:
        settings = draft(node_type.settings, {"x": 3, "y": 4})
        use = node_type.use(settings)

    assert _same(node_type.read(use), settings)


def _same(one: BaseModel | None, other: BaseModel) -> bool:
    return one is not None and one.model_dump(exclude_defaults=True) == other.model_dump(
        exclude_defaults=True
    )


@pytest.mark.parametrize("node_type", [each for each in TYPES if each.use is None], ids=label)
def test_any_other_node_is_not_a_tool_node(node_type: AnyNodeType) -> None:
    with pytest.raises(NotAToolNode, match=node_type.name):
        to_call(Node(type=node_type.name, settings=dict(node_type.example)))


CHIRP = '''
"""Chirp: a node that chirps."""
from toolcrib.graph.node_settings import AnyResult, NodeSettings
from toolcrib.graph.node_type import NodeType
class ChirpSettings(NodeSettings):
    times: int = 1
async def run(settings, context):
    return AnyResult(song="chirp " * settings.times)
NODE = NodeType(
    name="Chirp", title="Chirp", group="data", about="Chirps.", settings=ChirpSettings, example={},
    result=AnyResult, run=run,
)
'''


def test_a_workflow_uses_a_node_of_another_package(tmp_path: Path) -> None:
    install(tmp_path, {"chirp": CHIRP}, {"toolcrib.features.workflows.nodes": "chirp"})
    data = {"name": "x", "nodes": {"a": {"type": "Chirp", "settings": {"times": "two"}}}}
    program = (
        "from toolcrib.graph.files import workflow_from\n"
        "from toolcrib.features.workflows.graph.validation import validate\n"
        f"print(*(each.message for each in validate(workflow_from({data}))))"
    )

    assert run(tmp_path, "-c", program).startswith("times: Input should be a valid integer")
