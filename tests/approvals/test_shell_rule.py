"""How the gate decides about commands: with the call's folder, links on the disk, and the user's rules."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.approvals.people import AGENT, NO, Person, Tools, allowed, gate_with
from toolcrib.approvals.gate import ApprovalGate
from toolcrib.approvals.rule import Pattern, Rule
from toolcrib.approvals.rule_store import RulesInMemory


@pytest.fixture
def tools() -> Tools:
    return Tools()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "src").mkdir(parents=True)
    (folder / "notes.md").write_text("notes\n")
    return folder


def gate_in(project: Path, **options: Any) -> ApprovalGate:
    gate = gate_with(Person(NO), **options)
    gate.begin(AGENT, project=str(project))
    return gate


@pytest.mark.parametrize("target", ["../home/.ssh/id_rsa", "/proc/self/environ", "/etc/shadow"])
async def test_a_link_to_a_private_file_asks(tools: Tools, project: Path, target: str) -> None:
    (project / "link.md").symlink_to(target)
    gate = gate_in(project)

    assert await allowed(gate, tools.run("cat notes.md"))
    assert not await allowed(gate, tools.run("cat link.md"))
    assert not await allowed(gate, tools.run("cd src; cat ../link.md"))
    assert not await allowed(gate, tools.run("cat ../link.md", cwd="src"))
    assert not await allowed(gate, tools.run(f"head -1 < {project}/link.md"))


async def test_a_link_to_an_ordinary_file_runs_unasked(tools: Tools, project: Path) -> None:
    (project / "link.md").symlink_to("notes.md")

    assert await allowed(gate_in(project), tools.run("cat link.md"))


async def test_toolcribs_own_files_in_the_project_ask(tools: Tools, project: Path) -> None:
    (project / "crib").mkdir()
    gate = gate_in(project, protected=[project / "crib"])

    assert await allowed(gate, tools.run("ls; cat notes.md; grep -rn x src"))
    assert not await allowed(gate, tools.run("cat crib/mcp"))
    assert not await allowed(gate, tools.run("cat mcp", cwd="crib"))
    assert not await allowed(gate, tools.run("grep -rn x ."))


@pytest.mark.parametrize(
    ("command", "cwd"),
    [
        ("cat environ", "/proc/1"),
        ("cat id_rsa", "~/.ssh"),
        ("grep -r KEY", "~"),
        ("cat hosts.yml", ".config/gh"),
    ],
)
async def test_the_folder_of_the_call_is_judged_with_the_command(
    tools: Tools, project: Path, command: str, cwd: str
) -> None:
    assert not await allowed(gate_in(project), tools.run(command, cwd=cwd))


async def test_an_absolute_folder_in_the_project_is_the_projects(tools: Tools, project: Path) -> None:
    gate = gate_in(project)

    assert await allowed(gate, tools.run("grep -rn x .", cwd=str(project / "src")))
    assert not await allowed(gate, tools.run("grep -rn x .", cwd=str(project.parent)))


def npm_rule() -> RulesInMemory:
    rules = RulesInMemory()
    patterns = {"command": Pattern(like="npm run *")}
    rules.add(Rule(effect="allow", server="terminal", tool="run_command", arguments=patterns))
    return rules


@pytest.mark.parametrize(
    "command",
    ["npm run x", "cd src && npm run x | tail -3", "ls; npm run x", "git status && npm run x 2>&1"],
)
async def test_a_rule_allows_its_command_beside_harmless_ones(
    tools: Tools, project: Path, command: str
) -> None:
    assert await allowed(gate_in(project, rules=npm_rule()), tools.run(command))


@pytest.mark.parametrize(
    "command",
    [
        "printf 'x%ln' PATH; npm run x",
        "printf -v PATH ./1; npm run x",
        "PATH=./1 npm run x",
        "for PATH in ./1; do npm run x; done",
        "for npm_config_script_shell in ./1; do npm run x; done",
        "cat < /dev/tcp/127.0.0.1/9; npm run x",
        "cat .env; npm run x",
        "cd .. && npm run x",
        "cd /tmp/evil; npm run x",
        "echo y | npm run x",
        "npm run x; yarn --version",
        "npm run $(id)",
        "npm run x > .bashrc",
        "npm run x & ls",
        "npm run x; git diff --ext-diff",
        "ls | xargs npm run",
    ],
)
async def test_no_composition_passes_a_rule(tools: Tools, project: Path, command: str) -> None:
    assert not await allowed(gate_in(project, rules=npm_rule()), tools.run(command))


async def test_a_rule_for_a_command_is_for_the_project(tools: Tools, project: Path) -> None:
    gate = gate_in(project, rules=npm_rule())

    assert await allowed(gate, tools.run("npm run x", cwd="src"))
    assert not await allowed(gate, tools.run("npm run x", cwd="/elsewhere"))
