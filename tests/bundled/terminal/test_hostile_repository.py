"""A repository whose config names programs: reading it unasked runs none of them, and everyday git works."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.bundled.terminal.test_running import text
from toolcrib.bundled.terminal import safe_git
from toolcrib.bundled.terminal.sandbox import Sandbox
from toolcrib.bundled.terminal.tools import TerminalTools
from toolcrib.bundled.terminal.workplace import Workplace, finished, names_for_git
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


def summary(repository: Path, trap: str) -> None:
    """A submodule one commit ahead, whose own config checks signatures with a program of its own."""
    within = repository / "inner"
    within.mkdir()
    git(within, "init", "-q")
    (within / "a.txt").write_text("one\n")
    git(within, "add", ".")
    git(within, "commit", "-qm", "inner")
    git(repository, "add", "inner")
    signature(within, trap)
    git(repository, "config", "status.submoduleSummary", "true")


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
    "another repository inside": (inner, "git status"),
    "a summary of submodules": (summary, "git status"),
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


EVERYDAY_SETTINGS = {
    **{
        f"core.{name}": "false"
        for name in ("filemode", "bare", "ignorecase", "precomposeunicode", "symlinks")
    },
    **{"core.repositoryformatversion": "0", "core.logallrefupdates": "true", "core.autocrlf": "input"},
    **{"remote.origin.url": "https://example.org/x.git", "remote.origin.gh-resolved": "base"},
    **{"remote.origin.fetch": "+refs/heads/*:refs/remotes/origin/*", "branch.main.remote": "origin"},
    **{"branch.main.merge": "refs/heads/main", "branch.main.vscode-merge-base": "origin/main"},
    **{"user.name": "Ada", "user.email": "ada@example.org", "user.signingkey": "x", "commit.gpgsign": "true"},
    **{
        "submodule.lib.url": "../lib",
        "submodule.lib.active": "true",
        "pull.rebase": "true",
        "gpg.format": "ssh",
    },
    **{
        "lfs.repositoryformatversion": "0",
        "filter.lfs.clean": "git-lfs clean -- %f",
        "filter.lfs.required": "true",
    },
    **{"core.hooksPath": ".husky/_", "core.editor": "code --wait", "alias.st": "status", "some.tool": "x"},
    **{"blame.ignoreRevsFile": ".git-blame-ignore-revs", "diff.renameLimit": "100", "gc.auto": "0"},
    **{"commit.template": ".gitmessage", "credential.helper": "store", "http.postBuffer": "524288000"},
}


@pytest.mark.parametrize(
    "command", ["git status --short", "git diff", "git log -p -1", "git blame notes.txt"]
)
async def test_settings_that_tools_write_change_nothing(
    command: str, repository: Path, workplace: Callable[..., Workplace]
) -> None:
    for name, value in EVERYDAY_SETTINGS.items():
        git(repository, "config", name, value)
    (repository / ".git-blame-ignore-revs").write_text("# none\n")

    result = text(await TerminalTools(workplace()).run_command(command))

    assert "notes.txt" in result or "two" in result
    assert "[exit code 0]" in result


FILE_SETTINGS = {
    "core.worktree": "git diff; git status",
    "blame.ignoreRevsFile": "git blame notes.txt",
    "core.excludesFile": "git check-ignore -v SECRET notes.txt",
    "core.attributesFile": "git diff",
    "mailmap.file": "git log --format=%aN",
    "diff.orderFile": "git diff",
    "include.path": "git status",
}


@pytest.mark.parametrize("name", FILE_SETTINGS)
async def test_a_setting_that_names_a_file_shows_nothing_of_it(
    name: str, repository: Path, workplace: Callable[..., Workplace], tmp_path: Path
) -> None:
    other = tmp_path / "elsewhere"
    other.mkdir()
    (other / "notes.txt").write_text("SECRET\n")
    git(repository, "config", name, str(other if name == "core.worktree" else other / "notes.txt"))

    result = text(await TerminalTools(workplace(sandbox={"wanted": "none"})).run_command(FILE_SETTINGS[name]))

    assert "SECRET\n" not in result.replace("git check-ignore", "")
    assert "+SECRET" not in result
    assert "2:SECRET" not in result


async def test_a_bare_repository_with_a_working_folder_is_refused(
    folder: Path, workplace: Callable[..., Workplace]
) -> None:
    git(folder, "init", "-q", "--bare", "vendor")
    git(folder / "vendor", "config", "core.bare", "false")
    git(folder / "vendor", "config", "core.worktree", str(folder.parent))

    result = text(await TerminalTools(workplace()).run_command("cd vendor && git status"))

    assert "core.worktree" in result
    assert "command git" in result


@pytest.fixture
def other_repository(tmp_path: Path) -> Path:
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init", "-q")
    (other / "diary.txt").write_text("SECRET\n")
    git(other, "add", ".")
    git(other, "commit", "-qm", "SECRET")
    return other


def by_file(folder: Path, other: Path) -> None:
    (folder / ".git").write_text(f"gitdir: {other}/.git\n")


def by_link(folder: Path, other: Path) -> None:
    (folder / ".git").symlink_to(other / ".git")


def by_common_folder(folder: Path, other: Path) -> None:
    (folder / ".git").mkdir()
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/master\n")
    (folder / ".git" / "commondir").write_text(f"{other}/.git\n")


@pytest.mark.parametrize("lead", [by_file, by_link, by_common_folder])
async def test_the_repository_of_another_folder_is_not_read(
    lead: Callable[[Path, Path], None],
    folder: Path,
    other_repository: Path,
    workplace: Callable[..., Workplace],
) -> None:
    lead(folder, other_repository)
    place = workplace(sandbox={"wanted": "none"})

    result = text(await TerminalTools(place).run_command("git log -p --all; git show HEAD:diary.txt"))

    assert "SECRET" not in result
    assert "not run without approval" in result


async def test_worktrees_and_submodules_work(
    repository: Path, workplace: Callable[..., Workplace], tmp_path: Path
) -> None:
    git(repository, "worktree", "add", "-q", str(tmp_path / "tree"))
    git(
        tmp_path / "tree",
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "add",
        "-q",
        str(repository),
        "lib",
    )
    git(repository, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(repository), "lib")
    git(repository, "commit", "-qam", "lib")
    (repository / "lib" / "notes.txt").write_text("three\n")
    (tmp_path / "tree" / "lib" / "notes.txt").write_text("three\n")
    for top in (repository, tmp_path / "tree"):
        place = Workplace(folder=lambda top=top: top, sandbox=Sandbox(wanted="none"))  # type: ignore[misc]
        shown = text(await TerminalTools(place).run_command("git status --short; cd lib && git diff"))

        assert "+three" in shown
        assert "not run" not in shown


PRIVATE_FILES = (
    ".env",
    "deep/.env.local",
    "certs/server.PEM",
    ".ssh/config",
    "k8s/db-secret.yaml",
    ".docker/config.json",
)
SHOWING = [
    *(
        "git diff",
        "git diff HEAD~1",
        "git diff --cached HEAD~1",
        "git show",
        "git diff --relative=deep HEAD~1",
        "git show HEAD",
        "git log -p",
    ),
    *(
        "git log -p --all --graph",
        "git log -U0 --oneline",
        "git log --cc -3",
        "git grep -n TOKEN",
        "git grep TOKEN HEAD",
    ),
    *(
        "git stash show -p",
        "git stash show -p 0",
        "git reflog -p",
        "git diff-tree -p HEAD",
        "git whatchanged -p",
    ),
    *(
        "git diff 'stash@{0}' HEAD~1",
        "git diff -- .",
        "git show HEAD -- .",
        "cd deep && git diff HEAD~1",
        "git grep TOKEN HEAD -- .",
    ),
    *(
        "git log -p --follow notes.txt",
        "git log --format=%H -p",
        "git show --word-diff",
        "git show -s -p",
        "git log -L1,1:notes.txt",
        "git diff -R HEAD~1 notes.txt",
    ),
]


@pytest.fixture
def with_private_files(repository: Path) -> Path:
    """Private files are tracked, in the last commit, changed, and in a stash."""
    (repository / "app.py").write_text("TOKEN = read()\n")
    for text_ in ("TOKEN=SECRET1\n", "TOKEN=SECRET2\n", "TOKEN=SECRET3\n"):
        for name in PRIVATE_FILES:
            (repository / name).parent.mkdir(exist_ok=True)
            (repository / name).write_text(text_)
        (repository / "notes.txt").write_text(f"notes {text_.replace('SECRET', 'open')}")
        git(repository, "add", ".")
        if "3" not in text_:
            git(repository, "commit", "-qm", "more")
    git(repository, "stash")
    git(repository, "stash", "apply")
    return repository


@pytest.mark.parametrize("command", SHOWING)
async def test_private_files_that_are_tracked_are_not_shown(
    command: str, with_private_files: Path, workplace: Callable[..., Workplace]
) -> None:
    assert judge(command).kind == "harmless"

    result = text(await TerminalTools(workplace()).run_command(command))

    assert "SECRET" not in result
    assert "open" in result or "TOKEN" in result or "deep" in command
    assert "[exit code 0]" in result


async def test_all_private_names_are_left_out_if_the_files_cannot_be_listed_in_time(
    with_private_files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(safe_git, "names_shown", lambda words, surroundings: None)
    monkeypatch.chdir(with_private_files)
    names = names_for_git().partition("=")[2].strip("'").split(":")

    words = safe_git.without_private("git", "log", ["log", "-p"], {}, names)

    shown = git(with_private_files, *words)
    assert "open" in shown
    assert "SECRET" not in shown
    assert shown.count("commit ") == 3


@pytest.mark.parametrize(
    "command",
    [
        "git cat-file -p {0}",
        "git show {0}",
        "git cat-file blob {0}",
        "git diff {0} {1}",
        "git diff {0}..{1}",
        "git show {2}:config.json",
        "git diff {2} {3}",
        "git grep TOKEN {2}",
        "git cat-file -p {2}:config.json",
        "git diff {2}:config.json notes.txt",
        "git show '{0}^{{}}'",
    ],
)
async def test_a_file_is_not_shown_by_its_hash(
    command: str, with_private_files: Path, workplace: Callable[..., Workplace]
) -> None:
    hashes = [git(with_private_files, "rev-parse", f"HEAD{age}:.env") for age in ("", "~1")]
    hashes += [git(with_private_files, "rev-parse", f"HEAD{age}:.docker") for age in ("", "~1")]

    result = text(await TerminalTools(workplace()).run_command(command.format(*hashes)))

    assert "SECRET" not in result
    assert "by its hash" in result


async def test_a_file_that_had_a_private_name_is_not_followed(
    with_private_files: Path, workplace: Callable[..., Workplace]
) -> None:
    git(with_private_files, "commit", "-qam", "before")
    git(with_private_files, "rm", "-q", *PRIVATE_FILES[1:])
    git(with_private_files, "mv", ".env", "settings.txt")
    git(with_private_files, "commit", "-qam", "rename")

    result = text(await TerminalTools(workplace()).run_command("git log -p --follow settings.txt"))

    assert "SECRET1" not in result
    assert "private name" in result


@pytest.mark.parametrize(
    "command", ["git remote -v", "git remote get-url origin", "git config --get remote.origin.url"]
)
async def test_an_address_is_shown_without_its_password(
    command: str, repository: Path, workplace: Callable[..., Workplace]
) -> None:
    git(repository, "remote", "add", "origin", "https://ada:SECRET@example.org/x.git")
    assert judge(command).kind == "harmless"

    result = text(await TerminalTools(workplace()).run_command(command))

    assert "https://***@example.org/x.git" in result
    assert "SECRET" not in result


async def test_a_search_by_git_stays_in_the_repository(
    folder: Path, workplace: Callable[..., Workplace], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Even if the user's own config lets it search any folder."""
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / ".gitconfig").write_text("[grep]\n\tfallbackToNoIndex = true\n")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (folder / ".env").write_text("TOKEN=SECRET\n")

    assert "SECRET" not in text(await TerminalTools(workplace()).run_command("git grep TOKEN"))


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
