"""No file tool reads or changes the files of the host that it works for, however the home was named."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Crib
from toolcrib.serverkit.own_places import own_places

IN_PROCESS = {"type": "inprocess", "module": "toolcrib.bundled.filesystem"}
AS_CHILD = {"command": sys.executable, "args": ["-m", "toolcrib.bundled.filesystem"]}
OWN = ["mcp.json", "secrets.json", "data/toolcrib.db", "state/host.log", "run/host.lock"]


def text(result: dict[str, Any]) -> str:
    return str(result["content"][0]["text"])


@pytest.mark.parametrize("entry", [IN_PROCESS, AS_CHILD], ids=["in process", "child"])
async def test_a_filesystem_server_above_the_home_reaches_nothing_in_it(
    crib: Crib, tmp_path: Path, entry: dict[str, Any]
) -> None:
    crib.entry("fs", {**entry, "args": [*entry.get("args", ()), str(tmp_path)]})
    (crib.home / "secrets.json").write_text("SECRET")
    (tmp_path / "plain").write_text("fine")
    async with crib.open() as host:
        await host.ready()
        database = (crib.home / "data" / "toolcrib.db").stat().st_ino
        read = [await host.call("fs__read_file", {"path": f"home/{path}"}) for path in OWN]
        written = [
            await host.call("fs__write_file", {"path": f"home/{path}", "content": "x"}) for path in OWN
        ]
        moved = await host.call("fs__rename_file", {"source_path": "home", "new_name": "elsewhere"})
        plain = await host.call("fs__read_file", {"path": "plain"})

    assert all(
        "protected" in text(result) or "does not exist" in text(result) for result in [*read, *written]
    )
    assert all(result["isError"] for result in [*read, *written, moved])
    assert "SECRET" not in str(read)
    assert (crib.home / "data" / "toolcrib.db").stat().st_ino == database
    assert text(plain) == "fine"


@pytest.mark.acceptance
async def test_the_tools_of_a_project_that_holds_the_home_reach_nothing_in_it(
    crib: Crib, tmp_path: Path
) -> None:
    crib.setting(terminal={"enabled": True, "folder": str(tmp_path)})
    (crib.home / "secrets.json").write_text("SECRET")
    async with crib.open() as host:
        read = await host.call("read_file", {"path": "home/secrets.json"})
        searched = await host.call("grep", {"pattern": "SECRET|sqlite|mcpServers", "path": "."})
        found = await host.call("terminal__find_files", {"pattern": "*"})
        seen = await host.call(
            "terminal__run_command", {"command": "cat home/*; ls home/data home/run; true"}
        )

    assert read["isError"]
    assert "home/" not in text(searched)
    assert "SECRET" not in text(searched)
    assert "secrets.json" not in text(found)
    assert "SECRET" not in text(seen)
    assert "mcpServers" not in text(seen)
    assert "host.lock" not in text(seen)


async def test_a_host_claims_its_places_for_as_long_as_it_runs(crib: Crib) -> None:
    async with crib.open():
        assert crib.home in own_places()

    assert crib.home not in own_places()
