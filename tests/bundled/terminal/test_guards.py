"""What runs unasked shows nothing private, writes nothing, and runs nothing of the project."""

from __future__ import annotations

import json
import os
import random
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.bundled.terminal.test_hostile_repository import git
from tests.bundled.terminal.test_running import text
from toolcrib.bundled.terminal.environment import SHELL, environment
from toolcrib.bundled.terminal.tools import TerminalTools
from toolcrib.bundled.terminal.workplace import Workplace, guard
from toolcrib.serverkit.shell import judge

EVERYDAY: list[str] = json.loads(
    (Path(__file__).parents[2] / "approvals" / "everyday_reading.json").read_text("utf-8")
)
SECRET = "sk-not-to-be-seen"
PRIVATE = (".env", ".env.local", "server.pem", "id_rsa_work", "secrets.json", ".config/gh/hosts.yml")


@pytest.fixture
def private(folder: Path) -> Path:
    """A project with private files in it, and one that is not."""
    for name in (*(f"{place}{name}" for place in ("", "deep/er/") for name in PRIVATE), "src/a.py"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("open\n" if name == "src/a.py" else f"open {SECRET}\n")
    return folder


@pytest.mark.parametrize(
    "command",
    [
        "grep -rn open .",
        "grep -r open",
        "grep -rh open . --include='*'",
        "grep -r open --include=.env --include=*.py .",
        "cd deep; grep -rn open .; cat ../src/a.py",
        "diff -rN src deep; grep -r open src",
    ],
)
async def test_a_search_through_the_project_leaves_private_files_out(
    command: str, private: Path, workplace: Callable[..., Workplace]
) -> None:
    assert judge(command, "", str(private)).kind == "harmless"

    shown = text(await TerminalTools(workplace()).run_command(command))

    assert "open" in shown
    assert SECRET not in shown


@pytest.mark.parametrize(
    "command",
    [
        "find . -name '*.py' -print0 | xargs -0 cat",
        "find src -name '*.py' -print0 | xargs -0 grep -n open",
        "diff -rN src empty",
    ],
)
async def test_a_search_does_not_follow_links_out_of_the_project(
    command: str, private: Path, workplace: Callable[..., Workplace], tmp_path: Path
) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "data").write_text(f"open {SECRET}\n")
    (private / "empty").mkdir()
    (private / "src" / "link.py").symlink_to(tmp_path / "elsewhere" / "data")
    (private / "src" / "folder").symlink_to(tmp_path / "elsewhere")
    assert judge(command, "", str(private)).kind == "harmless"

    place = workplace(sandbox={"wanted": "none"})
    shown = text(await TerminalTools(place).run_command(command))

    assert "open" in shown
    assert SECRET not in shown


@pytest.mark.parametrize(
    "command",
    ["find . -name '*.py' -print0 | xargs -0 cat", "find -P . \\( -iname '*.py' \\) -print0 | xargs -0 cat"],
)
async def test_find_gives_no_private_file_to_another_program(
    command: str, private: Path, workplace: Callable[..., Workplace]
) -> None:
    for name in (".env.py", ".ssh/keys.py", "deep/.Aws/x.py", "Id_Rsa.py", ".git/hooks/x.py"):
        (private / name).parent.mkdir(parents=True, exist_ok=True)
        (private / name).write_text(f"open {SECRET}\n")
    assert judge(command, "", str(private)).kind == "harmless"

    shown = text(await TerminalTools(workplace()).run_command(command))

    assert "open" in shown
    assert SECRET not in shown


async def test_a_search_leaves_private_files_out_in_any_case(
    private: Path, workplace: Callable[..., Workplace]
) -> None:
    for name in (
        "SERVER.PEM",
        "SECRETS.JSON",
        "Secrets.json",
        "Deep/.SSH/id",
        "k8s/db-Secret.yaml",
        "Passwords.txt",
    ):
        (private / name).parent.mkdir(parents=True, exist_ok=True)
        (private / name).write_text(f"open {SECRET}\n")

    shown = text(
        await TerminalTools(workplace()).run_command("grep -r open .; diff -rN src Deep; diff -rN src k8s")
    )

    assert "open" in shown
    assert SECRET not in shown


def test_sed_runs_in_its_sandbox(folder: Path) -> None:
    """Should a script ever be misjudged, sed itself refuses it."""
    (folder / "a").write_text("x\n")
    command = guard("sed p a", "", str(folder)).replace("sed p a", "sed '1e touch caught' a")

    told = subprocess.run([SHELL, "-c", command], cwd=folder, capture_output=True, text=True, check=False)

    assert "sandbox" in told.stderr
    assert not (folder / "caught").exists()


async def test_processes_are_listed_without_their_arguments(
    folder: Path, workplace: Callable[..., Workplace]
) -> None:
    command = "ps aux --sort=pid"
    assert judge(command).kind == "harmless"
    with subprocess.Popen(["sleep", "987"]) as process:
        try:
            shown = text(await TerminalTools(workplace(sandbox={"wanted": "none"})).run_command(command))
        finally:
            process.kill()

    assert "sleep" in shown
    assert "987" not in [word for line in shown.splitlines() for word in line.split()[10:]]


async def test_a_search_beside_a_command_with_a_rule_is_guarded_too(
    private: Path, workplace: Callable[..., Workplace]
) -> None:
    shown = text(await TerminalTools(workplace()).run_command("grep -r open .; touch made"))

    assert "open" in shown
    assert SECRET not in shown
    assert (private / "made").exists()


async def test_no_file_name_becomes_an_option(private: Path, workplace: Callable[..., Workplace]) -> None:
    (private / "src" / "a.py").unlink()
    (private / "src" / "--files0-from=..").mkdir()
    (private / "src" / "--files0-from=.." / ".env").write_text(SECRET)
    (private / "src" / "b").write_text("open\n")

    shown = text(await TerminalTools(workplace()).run_command("cd src && wc * && ls .*"))

    assert "b\n" in shown
    assert "files0-from" not in shown


async def test_a_version_is_asked_for_outside_of_the_project(
    folder: Path, workplace: Callable[..., Workplace], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the shims of version managers do, this program looks into the folder that it runs in."""
    programs = tmp_path / "programs"
    programs.mkdir(mode=0o755)
    (programs / "node").write_text("#!/bin/sh\npwd\n")
    (programs / "node").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")

    place = workplace(sandbox={"wanted": "none"})  # the others have temporary folders of their own
    shown = text(await TerminalTools(place).run_command("node --version; pwd"))

    assert shown.splitlines()[:2] == ["/", str(folder)]


async def test_a_program_that_can_also_tell_its_version_reads_in_the_project(
    private: Path, workplace: Callable[..., Workplace]
) -> None:
    subprocess.run(["tar", "-cf", "a.tar", "src/a.py"], cwd=private, check=True)

    assert "src/a.py" in text(await TerminalTools(workplace()).run_command("tar --version; tar -tf a.tar"))


async def test_git_compares_no_files_outside_of_a_repository(
    private: Path, workplace: Callable[..., Workplace]
) -> None:
    shown = text(await TerminalTools(workplace()).run_command("git diff src deep"))

    assert SECRET not in shown
    assert "not in a repository" in shown


@pytest.fixture
def traps(folder: Path, tmp_path: Path) -> Path:
    """A project full of things that programs run or read by themselves; each leaves a mark when it runs."""
    git(folder, "init", "-q")
    for name in ("README.md", "a.py", "src/a.py", "x", "data.csv", "package.json", "a", "b", "file.txt"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text('{"name": "x", "version": "1", "scripts": {}, "dependencies": {}}\n')
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "first")
    trap = f"#!/bin/sh\necho ran $0 >> {tmp_path}/marks\n"
    for name in ("1/ls", "1/git", "1/cat", "ls", "git", "cat", "python3", "node", "pr", "sh", "-x", "gpg"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(trap)
        (folder / name).chmod(0o755)
    (folder / ".yarnrc").write_text('yarn-path "./ls"\n')
    (folder / "rust-toolchain.toml").write_text('[toolchain]\npath = "."\n')
    (folder / ".tool-versions").write_text("python path:.\n")
    (folder / "sitecustomize.py").write_text(f"open({str(tmp_path / 'marks')!r}, 'a').write('python')\n")
    (folder / ".gitattributes").write_text("* diff=evil filter=evil\n")
    for setting in ("diff.external", "diff.evil.textconv", "filter.evil.clean", "core.pager", "gpg.program"):
        git(folder, "config", setting, str(folder / "ls"))
    git(folder, "config", "core.fsmonitor", str(folder / "ls"))
    (folder / "x").write_text("changed\n")
    return folder


def generated(seed: int) -> Iterator[str]:
    """Everyday commands, joined, mixed and with other operands; deterministic for a seed."""
    chance = random.Random(seed)
    operands = ["x", "*", "*.py", "src", ".", "./a", "-n", "5", "--", "-x", "'-x'", "~", "..", "$HOME", "1/*"]
    joints = ["{}; {}", "{} | {}", "{} && {}", "( {} ) || {}", "for f in a *.py; do {}; {}; done"]
    while True:
        first, second = chance.choices(EVERYDAY, k=2)
        first = f"{first} {chance.choice(operands)}" if chance.random() < 0.7 else first
        yield chance.choice(joints).format(first, second) if chance.random() < 0.6 else first


def snapshot(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_traps_work(traps: Path, tmp_path: Path) -> None:
    subprocess.run([SHELL, "-c", "printf 'x%ln' PATH; ls; /usr/bin/env true"], cwd=traps, check=False)

    assert "ran 1/ls" in (tmp_path / "marks").read_text()


@pytest.mark.timeout(600)
@pytest.mark.parametrize("more", [50, pytest.param(1000, marks=pytest.mark.soak)])
def test_commands_that_run_unasked_write_nothing_and_run_nothing_of_the_project(
    more: int, traps: Path, tmp_path: Path
) -> None:
    """Without the sandbox, so that only the judgement and the guards stand in the way."""
    candidates = (one for one in generated(seed=7) if judge(one, "", str(traps)).kind == "harmless")
    commands = [*EVERYDAY, *(next(candidates) for _ in range(more))]
    before = snapshot(traps)
    surroundings = {**environment(str(traps)), "TMPDIR": str(tmp_path / "temporary"), "HOME": str(tmp_path)}
    (tmp_path / "temporary").mkdir()

    for group in range(0, len(commands), 40):
        script = "\n".join(
            f"( {guard(one, '', str(traps))}\n) </dev/null >/dev/null 2>&1"
            for one in commands[group : group + 40]
            if "sleep" not in one
        )
        (tmp_path / "script").write_text(script)  # too long for an argument
        program = [SHELL, str(tmp_path / "script")]
        subprocess.run(program, cwd=traps, env=surroundings, timeout=500, check=False)

    assert not (tmp_path / "marks").exists(), (tmp_path / "marks").read_text()
    assert snapshot(traps) == before
    assert list((tmp_path / "temporary").iterdir()) == []
