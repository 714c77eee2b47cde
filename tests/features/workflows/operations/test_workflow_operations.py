"""Workflows as the page, the commands and programs use them."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.conftest import Crib
from toolcrib.errors import Conflict, NotFound, UsageError
from toolcrib.host import Host
from toolcrib.operations.operation import Invocation
from toolcrib.operations.registry import perform

ADD: dict[str, Any] = {
    "name": "add",
    "description": "Adds two numbers.",
    "inputs": {"a": {"type": "integer"}, "b": {"type": "integer", "required": False, "default": 2}},
    "nodes": {
        "add": {
            "type": "McpToolCall",
            "settings": {"tool": "demo__add", "arguments": {"a": "{{input.a}}", "b": "{{input.b}}"}},
        }
    },
    "outputs": {"sum": "{{add.data.result}}"},
}


@pytest.fixture
async def host(crib: Crib) -> AsyncIterator[Host]:
    for name in ("demo", "websearch"):
        crib.entry(name, {"type": "inprocess", "module": f"toolcrib.bundled.{name}"})
    async with crib.open() as host:
        await host.ready()
        yield host


async def run(host: Host, operation: str, **params: Any) -> Any:
    """An operation, whose answer must be JSON."""
    return json.loads(json.dumps(await perform(host, operation, params, Invocation())))


async def test_a_saved_workflow_is_listed_and_read_back(host: Host) -> None:
    saved = await run(host, "workflow_save", workflow=ADD, expected_version="")

    listed = await run(host, "workflow_list")
    assert [(one["name"], one["version"], one["nodes"]) for one in listed] == [("add", saved["version"], 1)]
    read = await run(host, "workflow_get", name="add")
    assert read == saved
    assert read["workflow"]["nodes"]["add"]["settings"] == ADD["nodes"]["add"]["settings"]


async def test_the_file_has_no_default_values_and_keeps_the_order(host: Host) -> None:
    await run(host, "workflow_save", workflow=ADD)

    text = (host.paths.workflows / "add.json").read_text()
    assert json.loads(text) == {"format": 1, **ADD}
    assert list(json.loads(text)) == ["format", "name", "description", "inputs", "nodes", "outputs"]


async def test_a_broken_file_is_listed_with_its_problem_beside_the_others(host: Host) -> None:
    await run(host, "workflow_save", workflow=ADD)
    (host.paths.workflows / "broken.json").write_text("{")
    (host.paths.workflows / "misspelt.json").write_text(json.dumps({**ADD, "nodez": {}}))

    listed = {one["name"]: one for one in await run(host, "workflow_list")}

    assert listed["add"]["nodes"] == 1
    assert "not valid JSON" in listed["broken"]["problems"][0]["message"]
    assert "nodez" in listed["misspelt"]["problems"][0]["message"]
    with pytest.raises(UsageError, match="broken is not valid"):
        await run(host, "workflow_get", name="broken")


async def test_a_lost_update_is_refused(host: Host) -> None:
    first = await run(host, "workflow_save", workflow=ADD)
    await run(
        host, "workflow_save", workflow={**ADD, "description": "Mine."}, expected_version=first["version"]
    )

    with pytest.raises(Conflict):
        await run(
            host,
            "workflow_save",
            workflow={**ADD, "description": "Yours."},
            expected_version=first["version"],
        )

    assert (await run(host, "workflow_get", name="add"))["workflow"]["description"] == "Mine."
    versions = await run(host, "workflow_versions", name="add")
    assert [one["current"] for one in versions] == [True, False]
    assert versions[1]["version"] == first["version"]


async def test_a_workflow_travels_by_export_and_import(host: Host) -> None:
    await run(host, "workflow_save", workflow=ADD)
    exported = await run(host, "workflow_export", name="add")

    with pytest.raises(Conflict):
        await run(host, "workflow_import", text=exported["text"])
    imported = await run(host, "workflow_import", text=exported["text"], name="sum")

    assert imported["name"] == "sum"
    assert imported["workflow"]["nodes"] == (await run(host, "workflow_get", name="add"))["workflow"]["nodes"]


async def test_a_removed_workflow_is_gone_but_its_version_remains(host: Host) -> None:
    await run(host, "workflow_save", workflow=ADD)
    removed = await run(host, "workflow_remove", name="add")

    assert await run(host, "workflow_list") == []
    restored = await run(host, "workflow_get", name="add", version=removed["version"])
    assert restored["workflow"]["name"] == "add"
    with pytest.raises(NotFound):
        await run(host, "workflow_get", name="add")


async def test_a_problem_names_its_node(host: Host) -> None:
    broken = {**ADD, "nodes": {"add": {**ADD["nodes"]["add"], "timeout": -1}}}

    checked = await run(host, "workflow_validate", workflow=broken)

    assert checked["ok"] is False
    assert checked["problems"][0]["node"] == "add"
    assert "timeout" in checked["problems"][0]["message"]
    assert await run(host, "workflow_validate", workflow=ADD) == {"ok": True, "problems": []}


async def test_every_template_is_valid(host: Host) -> None:
    templates = await run(host, "workflow_templates")

    assert templates
    for template in templates:
        assert await run(host, "workflow_validate", workflow=template["workflow"]) == {
            "ok": True,
            "problems": [],
        }


async def test_an_edge_is_checked_against_the_arguments_of_a_real_tool(host: Host) -> None:
    nodes = {"text": {"type": "Set", "settings": {"values": {"n": "two", "m": 2}}}, **ADD["nodes"]}
    call = {"tool": "demo__add", "arguments": {"a": "{{text.n}}", "b": 1}}
    wrong = {**ADD, "nodes": {**nodes, "add": {"type": "McpToolCall", "settings": call}}, "outputs": {}}
    edge = {"source": "text", "output": "next", "target": "add"}

    refused = await run(host, "workflow_check_edge", workflow=wrong, **edge)
    allowed = await run(host, "workflow_check_edge", workflow={**ADD, "nodes": nodes}, **edge)

    assert refused["problem"]["node"] == "add"
    assert "{{text.n}} is a string" in refused["problem"]["message"]
    assert allowed["problem"] is None
