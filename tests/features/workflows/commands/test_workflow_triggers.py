"""`toolcrib workflow schedule`, `triggers`, `trigger` and `webhook`, as commands."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.command_line import CommandLine

WORKFLOW = {
    "name": "report",
    "inputs": {"count": {"type": "integer", "required": False}},
    "nodes": {"keep": {"type": "Set", "settings": {"values": {"count": "{{input.count}}"}}}},
}


@pytest.fixture
def toolcrib(tmp_path: Path) -> CommandLine:
    """A home with one workflow."""
    (tmp_path / "home" / "workflows").mkdir(parents=True)
    (tmp_path / "home" / "workflows" / "report.json").write_text(json.dumps(WORKFLOW))
    return CommandLine(tmp_path / "home")


def test_a_schedule_is_set_listed_and_turned_off(toolcrib: CommandLine) -> None:
    words = ("workflow", "schedule", "report", "weekdays at 07:30", "--timezone", "Europe/Berlin")
    scheduled = toolcrib(*words, "--input", "count=3", "--json").json
    listed = toolcrib("workflow", "triggers").out
    off = toolcrib("workflow", "schedule", "report", "--off", "--json").json

    assert scheduled["sentence"] == "Every weekday at 07:30, Europe/Berlin"
    assert (scheduled["state"], off["state"]) == ("on", "off")
    assert "Every weekday at 07:30, Europe/Berlin" in listed
    stored = json.loads((toolcrib.home / "workflows" / "report.json").read_text())
    assert stored["triggers"][0]["input"] == {"count": 3}


def test_a_wrong_schedule_says_what_to_write(toolcrib: CommandLine) -> None:
    refused = toolcrib("workflow", "schedule", "report", "now and then")

    assert refused.code == 2
    assert "every 15 minutes" in refused.err


def test_a_webhook_is_turned_on_and_its_address_shown_once(toolcrib: CommandLine) -> None:
    first = toolcrib("workflow", "webhook", "report", "--input", "count={{event.body}}", "--json").json
    again = toolcrib("workflow", "trigger", "report", "0", "on", "--json").json

    assert first["url"].startswith("/hooks/tchook_")
    assert again["url"] is None
    assert again["trigger"]["sentence"] == "For each request to its address"
