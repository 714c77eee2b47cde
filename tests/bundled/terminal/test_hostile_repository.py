"""A repository whose config names programs: reading it unasked runs none of them, and everyday git works."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.bundled.terminal.test_running import text
from toolcrib.bundled.terminal.sandbox import Sandbox
from toolcrib.bundled.terminal.tools import TerminalTools
from toolcrib.bundled.terminal.workplace import Workplace, finished
from toolcrib.serverkit.shell import judge

WHO = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "commit.gpgsign=false")
SIGNED = """tree {tree}
parent {parent}
author Ada <ada@example.org> 1700000000 +0000
committer Ada <ada@example.org> 1700000000 +0000
gpgsig -----BEGIN PGP SIGNATURE-----
 iQ==
 -----END PGP SIGNATURE-----

signed
"""


def git(folder: Path, *words: str, given: str | None = None) -> str:
    done = subprocess.run(
        ["git", *WHO, *words], cwd=folder, input=given, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


@pytest.fixture
def repository(folder: Path) -> Path:
    """A repository with a commit and a change."""
    git(folder, "init", "-q")
    (folder / "notes.txt").write_text("one\n")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "first")
    (folder / "notes.txt").write_text("two\n")
    return folder


def configure(*pairs: tuple[str, str], attributes: str = "") -> Callable[[Path, str], None]:
    def arrange(repository: Path, trap: str) -> None:
        for name, value in pairs:
            git(repository, "config", name, value.format(trap=trap))
        if attributes:
            (repository / ".gitattributes").write_text(f"*.txt {attributes}\n")

    return arrange


def hooks(repository: Path, trap: str) -> None:
    folder = repository / "hooks"
    folder.mkdir()
    (folder / "post-index-change").write_text(f"#!/bin/sh\n{trap}\n")
    (folder / "post-index-change").chmod(0o755)
    git(repository, "config", "core.hooksPath", str(folder))


def signature(repository: Path, trap: str) -> None:
    program = repository / "gpg"
    program.write_text(f"#!/bin/sh\n{trap}\n")
    program.chmod(0o755)
    tree, parent = git(repository, "rev-parse", "HEAD^{tree}"), git(repository, "rev-parse", "HEAD")
    commit = git(
        repository,
        "hash-object",
        "-t",
        "commit",
        "-w",
        "--stdin",
        given=SIGNED.format(tree=tree, parent=parent),
    )
    git(repository, "update-ref", "HEAD", commit)
    git(repository, "config", "gpg.program", str(program))
    git(repository, "config", "log.showSignature", "true")


def included(repository: Path, trap: str) -> None:
    (repository / "more").write_text(f'[diff]\n\texternal = "{trap};"\n')
    git(repository, "config", "include.path", str(repository / "more"))


def inner(repository: Path, trap: str) -> None:
    """A repository inside of the other, with a filter of its own."""
    within = repository / "inner"
    within.mkdir()
    git(within, "init", "-q")
    (within / "a.txt").write_text("one\n")
    git(within, "add", ".")
    git(within, "commit", "-qm", "inner")
    git(repository, "add", "inner")
    git(within, "config", "filter.evil.clean", f"{trap}; cat")
    (within / ".gitattributes").write_text("*.txt filter=evil\n")
    (within / "a.txt").write_text("two\n")


TRAPS: dict[str, tuple[Callable[[Path, str], None], str]] = {
    "diff.external": (configure(("diff.external", "{trap};")), "git diff"),
    "diff.external included": (included, "git diff"),
    "a driver's command": (configure(("diff.evil.command", "{trap};"), attributes="diff=evil"), "git diff"),
    "textconv in diff": (configure(("diff.evil.textconv", "{trap};"), attributes="diff=evil"), "git diff"),
    "textconv in log": (configure(("diff.evil.textconv", "{trap};"), attributes="diff=evil"), "git log -p"),
    "textconv in show": (configure(("diff.evil.textconv", "{trap};"), attributes="diff=evil"), "git show"),
    "textconv in blame": (
        configure(("diff.evil.textconv", "{trap};"), attributes="diff=evil"),
        "git blame notes.txt",
    ),
    "a filter in status": (
        configure(("filter.evil.clean", "{trap}; cat"), attributes="filter=evil"),
        "git status",
    ),
    "a filter in diff": (
        configure(("filter.evil.clean", "{trap}; cat"), attributes="filter=evil"),
        "git diff",
    ),
    "a filter process": (
        configure(
            ("filter.evil.process", "{trap}"), ("filter.evil.required", "true"), attributes="filter=evil"
        ),
        "git status",
    ),
    "core.fsmonitor": (configure(("core.fsmonitor", "{trap};")), "git status"),
    "core.pager": (configure(("core.pager", "{trap}; cat")), "git log"),
    "pager.diff": (configure(("pager.diff", "{trap}; cat")), "git diff"),
    "hooks": (hooks, "git status"),
    "gpg.program": (signature, "git log"),
    "gpg.program in a format": (signature, "git log --format='%G?'"),
    "another repository inside": (inner, "git status"),
}
NOT_BY_US = {
    # Switched off for every command, asked about or not: the trap cannot be shown to work there.
    "core.fsmonitor",
    "core.pager",
    "pager.diff",
    "hooks",
}


@pytest.mark.parametrize("name", TRAPS)
async def test_reading_a_hostile_repository_runs_nothing_of_it(
    name: str, repository: Path, workplace: Callable[..., Workplace]
) -> None:
    arrange, command = TRAPS[name]
    caught = repository / "caught"
    arrange(repository, f"touch {caught}")
    place = workplace(sandbox={"wanted": "none"})
    assert judge(command).kind == "harmless"

    result = await TerminalTools(place).run_command(command, pty=True)

    assert not caught.exists()
    assert "[exit code 0" in text(result)
    if name not in NOT_BY_US:
        plain = place.shell(command, None, pty=True)
        assert await finished(plain, 60)
        assert caught.exists(), "the trap would not have worked anyway"


async def test_nothing_is_fetched_by_reading(repository: Path, workplace: Callable[..., Workplace]) -> None:
    caught = repository / "caught"
    git(repository, "config", "core.repositoryformatversion", "1")
    git(repository, "config", "extensions.partialClone", "origin")
    git(repository, "config", "remote.origin.promisor", "true")
    git(repository, "config", "remote.origin.url", str(repository))
    git(repository, "config", "remote.origin.uploadpack", f"touch {caught};")
    place = workplace(sandbox={"wanted": "none"})
    missing = "0123456789012345678901234567890123456789"

    await TerminalTools(place).run_command(f"git show {missing}")

    assert not caught.exists()
    plain = place.shell(f"git show {missing}", None)
    assert await finished(plain, 60)
    assert caught.exists(), "the trap would not have worked anyway"


@pytest.mark.parametrize(
    ("command", "wanted"),
    [
        ("git status --short", "M notes.txt"),
        ("git diff", "+two"),
        ("git --no-pager diff --stat", "1 file changed"),
        ("git log --oneline", "first"),
        ("git log -p -1 | head -20", "+one"),
        ("git show HEAD:notes.txt", "one"),
        ("git blame notes.txt", "two"),
        ("git stash list; git reflog -n 1", "first"),
        ("cd sub && git status --short", "M ../notes.txt"),
        ("git rev-parse --abbrev-ref HEAD; git branch -a; git ls-files", "notes.txt"),
        ("git version", "git version"),
    ],
)
async def test_everyday_git_works_unasked(
    command: str, wanted: str, repository: Path, workplace: Callable[..., Workplace]
) -> None:
    (repository / "sub").mkdir()
    assert judge(command).kind == "harmless"

    result = text(await TerminalTools(workplace()).run_command(command))

    assert wanted in result
    assert "[exit code 0]" in result


async def test_the_persons_own_filters_and_converters_work(
    repository: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text('[diff "shout"]\n\ttextconv = "tr a-z A-Z <"\n')
    (repository / ".gitattributes").write_text("*.txt diff=shout\n")
    monkeypatch.setenv("HOME", str(home))
    place = Workplace(folder=lambda: repository, sandbox=Sandbox(wanted="none"))

    assert "+TWO" in text(await TerminalTools(place).run_command("git diff"))


@pytest.mark.parametrize(
    "command",
    [
        "git describe --dirty",
        "git describe --dir",
        "git describe --broken",
        "git rev-list --alternate-refs --all",
        "git status --ignore-submodules=none",
        "git status --ignore-s=none",
        "git diff --submodule=diff",
        "git submodule summary",
        "git grep --recurse-submodules x",
        "GIT_ALLOW_PROTOCOL=ext git log",
        "git() { touch x; }; git status",
        "command git status",
        "/usr/bin/git status",
        "unset -f git; git status",
        "env git status",
    ],
)
def test_what_would_get_around_that_is_asked_about(command: str) -> None:
    assert judge(command).kind == "unknown"


def test_everyday_options_are_still_reading() -> None:
    everyday: list[Any] = [
        "git diff --ignore-space-change",
        "git describe --tags --always",
        "git status --ignored",
    ]
    assert [judge(one).kind for one in everyday] == ["harmless"] * 3
