"""How the gate decides about commands: with the call's folder, links on the disk, and the user's rules."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.approvals.people import AGENT, NO, Person, Tools, allowed, gate_with
from toolcrib.approvals import paths
from toolcrib.approvals.gate import ApprovalGate
from toolcrib.approvals.rule import Pattern, Rule
from toolcrib.approvals.rule_match import RulesInMemory


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


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder above the project, with the data of programs in it."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for path in (".aws/cli/cache", ".unheard-of/token", "notes.txt", "snap/browser/cookies"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("x")
    return tmp_path


@pytest.mark.parametrize(
    "command",
    [
        "cat *.md",
        "cat */*.md",
        "head -1 ./l*.md",
        'for f in *.md; do cat "$f"; done',
        "sort l???.md",
        "grep x link.m[d]",
        "cat src/../l*.md",
    ],
)
async def test_a_pattern_that_matches_a_link_to_a_private_file_asks(
    tools: Tools, project: Path, home: Path, command: str
) -> None:
    gate = gate_in(project)
    assert await allowed(gate, tools.run(command))

    (project / "link.md").symlink_to(home / ".unheard-of" / "token")
    (project / "src" / "link.md").symlink_to(home / ".unheard-of" / "token")

    assert not await allowed(gate, tools.run(command))


@pytest.mark.parametrize(
    ("command", "cwd"),
    [
        ("cat link/../credentials", ""),
        ("cat ./link/.././credentials", ""),
        ("cd link; cat ../credentials", ""),
        ("cat ../credentials", "link"),
        ("cd ..; cat credentials", "link"),
        ("cd link && cd sub; cat ../../credentials", ""),
        ("cat < link/../credentials", ""),
        ("cat link/../c*", ""),
        ("ls; cat cache", "link"),
        ("grep -r x .", "link"),
        ("cat src/../link/cache", ""),
    ],
)
async def test_the_folder_above_a_link_is_that_of_its_target(
    tools: Tools, project: Path, home: Path, command: str, cwd: str
) -> None:
    (home / ".aws" / "credentials").write_text("x")
    (project / "link").symlink_to(home / ".aws" / "cli")

    assert not await allowed(gate_in(project), tools.run(command, cwd=cwd))


@pytest.mark.parametrize(
    "command",
    ["cat ~/.unheard-of/token", "cat {home}/.unheard-of/token", "cat ../.unheard-of/token", "cat ~/snap/*/*"],
)
async def test_data_of_any_program_in_the_home_folder_asks(
    tools: Tools, project: Path, home: Path, command: str
) -> None:
    gate = gate_in(project)

    assert not await allowed(gate, tools.run(command.format(home=home)))
    assert await allowed(gate, tools.run("cat ~/notes.txt ../notes.txt; ls -a ~ ~/.unheard-of"))


async def test_a_home_folder_as_the_project_is_a_home_folder(tools: Tools, home: Path) -> None:
    gate = gate_in(home)

    assert await allowed(gate, tools.run("cat notes.txt; ls -la"))
    assert not await allowed(gate, tools.run("cat .unheard-of/token"))
    assert not await allowed(gate, tools.run("grep -r x ."))


async def test_a_project_behind_a_link_is_the_same_project(tools: Tools, project: Path, home: Path) -> None:
    (home / "work").symlink_to(project)
    gate = gate_in(home / "work")

    assert await allowed(gate, tools.run("cat notes.md *.md; grep -rn x ."))
    assert await allowed(gate, tools.run("cat ../notes.md", cwd="src"))


async def test_a_session_without_a_project_is_judged_where_its_commands_run(
    tools: Tools, project: Path
) -> None:
    (project / "link.md").symlink_to("/etc/shadow")
    gate = gate_with(Person(NO), default_project=str(project))

    assert await allowed(gate, tools.run("cat notes.md"))
    assert not await allowed(gate, tools.run("cat link.md"))


async def test_a_pattern_in_a_folder_with_too_many_entries_asks(
    tools: Tools, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paths, "MOST_ENTRIES", 20)
    for number in range(30):
        (project / "src" / f"{number}.md").touch()
    gate = gate_in(project)

    assert await allowed(gate, tools.run("cat *.md; wc -l src/*.md"))
    assert not await allowed(gate, tools.run("cat src/*.md"))


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
        "ls > .npmrc /dev/null; npm run x",
        "printf x > package.json /dev/null; npm run x",
        "npm run x 2>/dev/null --prefix=/tmp/evil",
        "npm run x >out /dev/null",
        "for i in 1 1; do cd ..; done; npm run x",
        "[a]#2>package.json; npm run x",
        "hash -p ./1 npm; npm run x",
        "npm() { ./1; }; npm run x",
        "alias npm=./1; npm run x",
        "trap ./1 EXIT; npm run x",
        "npm run x <<< $(id)",
        "npm run x <(id)",
        "npm run {x,y}",
        "npm run $PATH",
        "git show :0:.env; npm run x",
        "cat ~/.any-tool/token; npm run x",
    ],
)
async def test_no_composition_passes_a_rule(tools: Tools, project: Path, command: str) -> None:
    assert not await allowed(gate_in(project, rules=npm_rule()), tools.run(command))


async def test_a_rule_for_a_command_is_for_the_project(tools: Tools, project: Path) -> None:
    gate = gate_in(project, rules=npm_rule())

    assert await allowed(gate, tools.run("npm run x", cwd="src"))
    assert not await allowed(gate, tools.run("npm run x", cwd="/elsewhere"))


@pytest.mark.parametrize("name", [".env", "conf/.env.local", "deep/er/server.pem", "../.ssh/id_work"])
async def test_a_hard_link_to_a_private_file_asks(tools: Tools, project: Path, home: Path, name: str) -> None:
    (project / name).parent.mkdir(parents=True, exist_ok=True)
    (project / name).write_text("SECRET")
    (project / "innocent.md").hardlink_to(project / name)
    (project / "src" / "twin.md").hardlink_to(project / "notes.md")
    gate = gate_in(project)

    assert await allowed(gate, tools.run("cat notes.md src/twin.md; wc -l innocent.md"))
    for command in (
        "cat innocent.md",
        "cat inno*.md",
        "wc innocent.md; cat innocent.md",
        "sed p < innocent.md",
    ):
        assert not await allowed(gate, tools.run(command)), command


async def test_a_search_asks_if_a_private_file_of_the_project_has_another_name(
    tools: Tools, project: Path
) -> None:
    (project / ".env").write_text("SECRET")
    gate = gate_in(project)
    assert await allowed(gate, tools.run("grep -rn x ."))

    (project / "src" / "innocent.md").hardlink_to(project / ".env")

    assert not await allowed(gate, tools.run("grep -rn x ."))
    assert not await allowed(gate, tools.run("rg x src"))


async def test_files_that_a_package_manager_linked_run_unasked(tools: Tools, project: Path) -> None:
    store, package = project.parent / "store", project / "node_modules" / "left-pad"
    store.mkdir()
    package.mkdir(parents=True)
    (store / "index.js").write_text("x")
    (package / "index.js").hardlink_to(store / "index.js")

    assert await allowed(gate_in(project), tools.run("cat node_modules/left-pad/index.js; grep -rn x ."))


@pytest.mark.parametrize("command", ["cat *.txt", "head -2 docs/*.csv", "cat ~/papers/*.txt", "cat */*.csv"])
async def test_a_pattern_that_matches_a_private_file_asks(
    tools: Tools, project: Path, home: Path, command: str
) -> None:
    (project / "docs").mkdir()
    (home / "papers").mkdir()
    for folder in (project, project / "docs", home / "papers"):
        (folder / "list.txt").write_text("x")
        (folder / "list.csv").write_text("x")
    gate = gate_in(project)
    assert await allowed(gate, tools.run(command))

    for folder in (project, project / "docs", home / "papers"):
        (folder / "passwords.txt").write_text("x")
        (folder / "my-credentials.csv").write_text("x")

    assert not await allowed(gate, tools.run(command))


async def test_a_search_that_begins_in_a_private_place_asks(tools: Tools, project: Path) -> None:
    (project / ".docker").mkdir()
    (project / ".docker" / "config.json").write_text("SECRET")
    (project / "link").symlink_to(".docker")
    gate = gate_in(project)

    assert await allowed(gate, tools.run("grep -rn x .; ls -a .docker link"))
    for command in (
        "grep -r x .docker",
        "rg x link",
        "diff -r link/ src",
        "cd link; grep -r x",
        "cd link/.; rg x",
    ):
        assert not await allowed(gate, tools.run(command)), command
    assert not await allowed(gate, tools.run("grep -r x", cwd="link"))


@pytest.fixture
def crib(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    home = tmp_path / "crib"
    for path in ("secrets.json", "run/host.token", "data/toolcrib.db", "data/backups/1.db", "files/notes"):
        (home / path).parent.mkdir(parents=True, exist_ok=True)
        (home / path).write_text("SECRET")
    return home


@pytest.mark.parametrize("file", ["secrets.json", "run/host.token", "data/toolcrib.db", "data/backups/1.db"])
async def test_a_hard_link_to_a_file_of_toolcrib_asks(
    tools: Tools, project: Path, crib: Path, file: str
) -> None:
    (project / "innocent.md").hardlink_to(crib / file)
    (project / "src" / "twin.md").hardlink_to(project / "notes.md")
    (project / "way.md").symlink_to("innocent.md")
    gate = gate_in(project, protected=(crib,))

    assert await allowed(gate, tools.run("cat notes.md src/twin.md"))
    for command in ("cat innocent.md", "cat inno*.md", "head -1 < innocent.md", "cat way.md"):
        assert not await allowed(gate, tools.run(command)), command


@pytest.mark.parametrize(
    "command",
    [
        "ln {crib}/secrets.json x",
        "ln ../crib/secrets.json x",
        "ln -f ~/crib/run/host.token x",
        'ln "$HOME/crib/secrets.json" x',
        "cp -l ${{HOME}}/crib/data/toolcrib.db x",
        "cp --link {crib}/secrets.json x",
        "cp -al {crib} copy",
        "cd ..; ln crib/secrets.json project/x",
        "cd ../crib && ln secrets.json ../project/x",
        "cd ..; cd crib; cp -l secrets.json ../project/x",
        "sh -c 'ln {crib}/secrets.json x'",
        "sudo link {crib}/secrets.json x",
        "rsync --link-dest={crib} a b",
        "tar -C {crib} -cf x.tar secrets.json",
        "ln way/secrets.json x",
        "mv {crib}/secrets.json x",
    ],
)
async def test_a_command_with_a_file_of_toolcrib_asks_whatever_the_rules_say(
    tools: Tools, project: Path, crib: Path, command: str
) -> None:
    (project / "way").symlink_to(crib)
    gate = gate_in(
        project, protected=(crib,), rules=RulesInMemory([Rule(effect="allow", tool="run_command")])
    )
    for name in ("ln", "cp", "cd", "sh", "sudo", "rsync", "tar", "mv"):
        gate.rules.add(
            Rule(effect="allow", tool="run_command", arguments={"command": Pattern(like=f"{name} *")})
        )
    assert await allowed(gate, tools.run("ln notes.md x"))
    assert await allowed(gate, tools.run(f"cp -l {crib}/files/notes x"))
    assert not await allowed(gate, tools.run(command.format(crib=crib)))
