"""What no sandboxed command reads or changes, although it lies in a folder that it may write to."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.bundled.terminal.test_running import text
from toolcrib.bundled.terminal.tools import TerminalTools
from toolcrib.bundled.terminal.workplace import Workplace

STARTS = [
    *(".bashrc", ".profile", ".zshrc", ".bash_login", ".ssh/authorized_keys", ".config/autostart/x.desktop"),
    *(".config/systemd/user/x.service", ".gitconfig", ".local/bin/ls", "bin/ls", ".claude.json", "new-entry"),
]


@pytest.fixture
def home(elsewhere: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder with a key in it and a project below."""
    (elsewhere / ".ssh").mkdir()
    (elsewhere / ".ssh" / "id_rsa").write_text("very secret")
    (elsewhere / ".bashrc").write_text("as it was")
    (elsewhere / ".config" / "gh").mkdir(parents=True)
    (elsewhere / ".config" / "gh" / "hosts.yml").write_text("very secret")
    (elsewhere / "bin").mkdir()
    (elsewhere / "work").mkdir()
    (elsewhere / "notes").write_text("quite open")
    monkeypatch.setenv("HOME", str(elsewhere))
    return elsewhere


def working_in(folder: Path, place: Workplace) -> TerminalTools:
    place.folder = lambda: folder
    return TerminalTools(place)


async def run(tools: TerminalTools, command: str) -> str:
    return text(await tools.run_command(command))


async def test_a_key_in_a_writable_home_is_not_read(confined: Callable[..., Workplace], home: Path) -> None:
    place = confined()
    tools = working_in(home, place)

    seen = await run(
        tools, "cat .ss?/id_rs? .config/g?/hosts.yml notes; ls -a .ssh; cp -r .ssh work/copy; cat work/copy/*"
    )

    assert "quite open" in seen
    assert ("very secret" in seen) is (place.sandbox.kind == "none")


@pytest.mark.parametrize("path", STARTS)
async def test_nothing_that_programs_run_by_themselves_is_written_to_a_home(
    held: Callable[..., Workplace], home: Path, path: str
) -> None:
    place = held()
    before = (home / path).read_bytes() if (home / path).exists() else None
    tools = working_in(home, place)

    seen = await run(
        tools, f"mkdir -p $(dirname {path}); echo evil >> {path}; echo x > work/made && echo worked"
    )

    assert "worked" in seen
    assert ((home / path).read_bytes() if (home / path).exists() else None) == before


async def test_no_folder_above_a_key_can_be_moved_away(
    confined: Callable[..., Workplace], home: Path
) -> None:
    place = confined(hidden=[str(home / "work" / "deep" / "key")])
    (home / "work" / "deep").mkdir()
    (home / "work" / "deep" / "key").write_text("very secret")
    tools = working_in(home / "work", place)

    await run(tools, "mv deep shallow; mv deep/key deep/other; ln deep/key linked")
    seen = await run(tools, "cat deep/key shallow/key deep/other linked; echo x > deep/made; cat deep/made")

    assert ("very secret" in seen) is (place.sandbox.kind == "none")


async def test_a_missing_key_folder_is_not_made(held: Callable[..., Workplace], home: Path) -> None:
    place = held()
    (home / ".config" / "gh" / "hosts.yml").unlink()
    (home / ".config" / "gh").rmdir()
    tools = working_in(home / ".config", place)

    await run(tools, "mkdir -p gh autostart; echo evil > gh/hosts.yml; echo evil > autostart/x.desktop")

    assert list((home / ".config").iterdir()) == []


@pytest.fixture
def repository(elsewhere: Path) -> Path:
    made = elsewhere / "project"
    git(elsewhere, "init", "-q", "project")
    git(made, "config", "user.email", "a@example.org")
    git(made, "config", "user.name", "A")
    git(made, "init", "-q", "nested/inner")
    (made / ".vscode").mkdir()
    return made


def git(folder: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True)


async def test_a_commit_can_be_made_in_every_sandbox(
    confined: Callable[..., Workplace], repository: Path
) -> None:
    tools = working_in(repository, confined())

    seen = await run(
        tools, "echo x > f && git add f && git commit -qm one && git checkout -qb other && git log"
    )

    assert "one" in seen
    assert "[exit code 0]" in seen


async def test_caches_that_may_be_written_to_leave_a_repository_guarded(
    mounted: Callable[..., Workplace], repository: Path, home: Path
) -> None:
    (home / ".cache").mkdir()
    place = mounted()
    place.sandbox = replace(place.sandbox, caches=True)
    tools = working_in(repository, place)

    await run(tools, "echo evil > .git/hooks/pre-commit; echo kept > ~/.cache/kept")

    assert not (repository / ".git" / "hooks" / "pre-commit").exists()
    assert (home / ".cache" / "kept").read_text() == "kept\n"


PLANTED = [".git/hooks/pre-commit", "nested/inner/.git/hooks/pre-commit", ".vscode/tasks.json"]


@pytest.mark.parametrize("path", PLANTED)
async def test_bubblewrap_lets_nothing_be_planted_in_a_repository(
    mounted: Callable[..., Workplace], repository: Path, path: str
) -> None:
    place = mounted()
    tools = working_in(repository, place)

    await run(
        tools,
        f"echo evil > {path}; chmod +x {path}; rm -rf {path}; mv .git g; mv nested n; rm -rf .git/hooks",
    )
    await run(
        tools, "git config core.fsmonitor 'touch evil'; echo '[core] fsmonitor=touch evil' >> .git/config"
    )

    assert not (repository / path).exists()
    assert (repository / ".git" / "hooks").is_dir()
    assert "evil" not in (repository / ".git" / "config").read_text()


async def test_bubblewrap_lets_no_missing_folder_of_hooks_be_made(
    mounted: Callable[..., Workplace], repository: Path
) -> None:
    place = mounted()
    subprocess.run(["rm", "-rf", str(repository / ".git" / "hooks")], check=True)

    await run(working_in(repository, place), "mkdir .git/hooks; echo evil > .git/hooks/post-checkout")

    assert not (repository / ".git" / "hooks" / "post-checkout").exists()


async def test_a_toolcrib_home_in_the_working_folder_is_hidden(
    confined: Callable[..., Workplace], elsewhere: Path
) -> None:
    crib = elsewhere / "sub" / "crib"
    for name in ("data", "run", "files", "mine"):
        (crib / name).mkdir(parents=True)
    for name in (
        "mcp.json",
        "mcp.json.bak",
        "secrets.json",
        ".secrets.json.1.tmp",
        "data/toolcrib.db",
        "run/host.lock",
    ):
        (crib / name).write_text("very secret")
    (crib / "files" / "note").write_text("lent out")
    (crib / "mine" / "note").write_text("my own")
    place = confined()
    tools = working_in(elsewhere, place)
    change = "echo evil > data/toolcrib.db; echo evil > mcp.json; mv mcp.json x"
    seen = await run(
        tools, f"cd sub/crib; cat mcp.* secrets.json .secrets* data/* run/* files/* mine/*; {change}; true"
    )

    assert "lent out" in seen
    assert "my own" in seen
    assert ("very secret" in seen) is (place.sandbox.kind == "none")
    assert ((crib / "data" / "toolcrib.db").read_text() == "very secret") is (place.sandbox.kind != "none")


async def test_a_repository_that_is_named_as_writable_can_be_configured(
    mounted: Callable[..., Workplace], repository: Path
) -> None:
    tools = working_in(repository, mounted(folders=[str(repository / ".git")]))

    seen = await run(tools, "git config a.b c && echo x > .git/hooks/mine && echo worked")

    assert "worked" in seen
