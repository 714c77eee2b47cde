"""What is remembered of servers for people to read: where they came from, when they were turned off."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from toolcrib.host import Host, open_host
from toolcrib.operations.operation import Invocation
from toolcrib.operations.registry import perform
from toolcrib.operations.server_notes import note_newest
from toolcrib.servers import health


@pytest.fixture
async def host(tmp_path: Path) -> AsyncIterator[Host]:
    async with open_host(tmp_path / "home", watch=False) as opened:
        yield opened


async def ask(host: Host, operation: str, **params: Any) -> Any:
    async def emit(event: Any) -> None:
        """Nobody listens."""

    return await perform(host, operation, params, Invocation(emit=emit))


async def glance(host: Host, name: str) -> dict[str, Any]:
    overview = await ask(host, "overview")
    found: dict[str, Any] = next(one for one in overview["servers"] if one["name"] == name)
    return found


async def test_a_server_knows_when_a_person_turned_it_off(host: Host, tmp_path: Path) -> None:
    await ask(host, "disable", name="demo")
    since = (await glance(host, "demo"))["since"]
    assert since is not None

    await ask(host, "enable", name="demo")
    assert (await glance(host, "demo"))["since"] != since


async def test_one_that_was_off_before_anybody_remembered_has_no_date(host: Host) -> None:
    host.core.config_store.set_enabled("demo", False)
    await host.reload()

    assert (await glance(host, "demo"))["since"] is None


async def test_the_master_switch_knows_when_and_how_many(host: Host) -> None:
    await ask(host, "off")
    overview = await ask(host, "overview")
    assert (overview["switched_on"], overview["ended"]) == (False, 0)
    assert overview["switched_at"] is not None

    await ask(host, "on")
    assert (await ask(host, "overview"))["switched_at"] is None


async def test_an_imported_server_knows_where_it_came_from(host: Host, tmp_path: Path) -> None:
    file = tmp_path / "claude_desktop_config.json"
    file.write_text(json.dumps({"mcpServers": {"notes": {"command": "notes-mcp"}}}))
    plan = await ask(host, "import_plan", file=str(file))

    await ask(host, "import_apply", file=str(file), digest=plan["digest"])

    assert (await glance(host, "notes"))["source"]["imported_from"] == "Claude Desktop"


async def test_a_damaged_file_of_notes_harms_nothing(host: Host) -> None:
    (host.paths.state / "server-notes.json").write_text("{ damaged")

    assert (await glance(host, "demo"))["source"]["imported_from"] == ""
    await ask(host, "disable", name="demo")
    assert (await glance(host, "demo"))["since"] is not None


async def test_a_newer_version_that_was_seen_is_known_until_it_is_in_place(host: Host) -> None:
    entry = {"type": "npm", "package": "notes", "version": "1.0.0", "command": "notes", "enabled": False}
    host.core.config_store.add_server("notes", entry)
    await host.reload()
    assert (await glance(host, "notes"))["newest"] is None

    note_newest(host, {"notes": "1.1.0"})
    assert (await glance(host, "notes"))["newest"] == "1.1.0"

    host.core.config_store.add_server("notes", {**entry, "version": "1.1.0"}, replace=True)
    await host.reload()
    assert (await glance(host, "notes"))["newest"] is None


async def test_a_server_says_which_folders_its_arguments_name(host: Host) -> None:
    words = [
        "/srv/notes/main.py",
        "/srv/notes",
        "--root=/srv/more",
        "--fast",
        "https://example.org/x",
        "~/own",
    ]
    host.core.config_store.add_server("notes", {"command": "python", "args": words, "enabled": False})
    await host.reload()

    assert (await glance(host, "notes"))["touches"] == ["/srv/notes", "/srv/more", "~/own"]


async def test_a_server_that_answers_slowly_is_called_slow(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    await host.ready()
    monkeypatch.setattr(health, "LONG", -1.0)  # So that no test has to wait.
    for _ in range(health.KEPT):
        await host.call("demo__add", {"a": 1, "b": 2})

    found = await glance(host, "demo")

    assert (found["state"], found["reason"]) == ("degraded", "10 of the last 10 answers took over -1 s.")
    monkeypatch.setattr(health, "LONG", 60.0)
    for _ in range(health.KEPT):
        await host.call("demo__add", {"a": 1, "b": 2})
    assert (await glance(host, "demo"))["state"] == "ready"


async def test_one_server_is_measured_when_somebody_looks(host: Host) -> None:
    await host.ready()
    before = await ask(host, "server_facts", name="demo")
    assert before == {"name": "demo", "memory": None, "last_used": None, "calls_today": 0, "failed_today": 0}

    await host.call("demo__add", {"a": 1, "b": 2})
    after = await ask(host, "server_facts", name="demo")

    assert (after["calls_today"], after["failed_today"]) == (1, 0)
    assert after["last_used"] is not None
