"""`toolcrib resources` and `toolcrib prompts`: tables, and the same as JSON."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tests.cli.command_line import CommandLine

OFFERING = Path(__file__).parents[1] / "gateway" / "programs" / "offering.py"


def test_resources_and_prompts_of_a_server_are_listed(toolcrib: CommandLine) -> None:
    toolcrib("servers")
    document = toolcrib.config()
    document["mcpServers"]["memo"] = {"command": sys.executable, "args": [str(OFFERING), "modern"]}
    (toolcrib.home / "mcp.json").write_text(json.dumps(document))

    table = toolcrib("resources", "memo")
    assert "memo://shared" in table.out
    assert "memo://{topic}/notes" in table.out
    assert [one["kind"] for one in toolcrib("resources", "memo", "--json").json] == [
        "resource",
        "resource",
        "template",
    ]
    assert [one["uri"] for one in toolcrib("resources", "memo", "-n", "1", "--json").json] == [
        "memo://shared"
    ]
    assert "greet" in toolcrib("prompts", "memo").out
    assert toolcrib("prompts", "memo", "--json").json[0]["arguments"][0]["name"] == "who"
    assert "offers no prompts" in toolcrib("prompts", "demo").err
    assert toolcrib("prompts", "nobody").code == 3
