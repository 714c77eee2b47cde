"""`toolcrib desktop export`: a recording as the file of a workflow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.cli.command_line import CommandLine
from toolcrib.bundled.desktop.macros.model import read_macro
from toolcrib.bundled.desktop.macros.store import MacroStore


def call(method: str, **args: str) -> dict[str, Any]:
    return {"method_call": {"method": method, "args": {"application": "${application}", **args}}}


def test_a_recording_becomes_a_valid_workflow(toolcrib: CommandLine, tmp_path: Path) -> None:
    store = MacroStore.of_home(toolcrib.home)
    steps = [
        call("click_element", selector='{"role": "button", "text": "OK"}'),
        call("type_text", text="Ada"),
    ]
    parameters = [{"key": "application", "default_value": "editor"}]
    greet = {"display_name": "Greet", "actions": steps, "parameters": parameters}
    store.create(read_macro(greet), "greet")
    store.create(read_macro({"display_name": "Drag", "actions": [call("drag")]}), "drag")
    file = tmp_path / "greet.json"

    assert toolcrib("add", "desktop", "--no-test").code == 0
    file.write_text(toolcrib("desktop", "export", "greet").out)
    assert toolcrib("desktop", "export", "greet", "--json").json == {
        "name": "greet",
        "text": file.read_text(),
    }
    checked = toolcrib("workflow", "validate", str(file), "--json")
    assert (checked.code, checked.json["ok"]) == (0, True)
    assert toolcrib("workflow", "import", str(file)).code == 0
    assert toolcrib("workflow", "list", "--json").json[0]["nodes"] == 3

    assert "no step for 'drag'" in toolcrib("desktop", "export", "drag").err
    assert "no macro 'gret'" in toolcrib("desktop", "export", "gret").err
