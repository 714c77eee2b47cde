"""`toolcrib completion install`, tried by pressing Tab in each shell."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.command_line import PROGRAM, CommandLine
from tests.cli.terminal import Terminal, terminal
from toolcrib.cli.commands.completion.install import MARK

OTHERS = [pytest.param(shell, marks=pytest.mark.acceptance) for shell in ("zsh", "fish")]
"""Shells that `make test` does not ask for."""
PROMPT = "ready> "
_PROMPTS = {
    "bash": f"PS1='{PROMPT}'\n",
    "zsh": f"PS1='{PROMPT}'; unsetopt PROMPT_SP\n",
    "fish": f"function fish_prompt; echo -n '{PROMPT}'; end\nset -U fish_greeting\n",
}


@pytest.fixture(params=["bash", *OTHERS])
def shell(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture
def user(toolcrib: CommandLine, tmp_path: Path, shell: str) -> CommandLine:
    """A user of this shell whose tools are known."""
    toolcrib.extra.update(
        HOME=str(tmp_path), SHELL=f"/bin/{shell}", PATH=f"{PROGRAM.parent}:/usr/bin:/bin", TERM="xterm"
    )
    start = start_file(tmp_path, shell)
    start.parent.mkdir(parents=True, exist_ok=True)
    start.write_text(_PROMPTS[shell])
    assert toolcrib("tools").code == 0
    return toolcrib


def start_file(home: Path, shell: str) -> Path:
    return home / {"bash": ".bashrc", "zsh": ".zshrc", "fish": ".config/fish/config.fish"}[shell]


@contextmanager
def new_shell(user: CommandLine, shell: str) -> Iterator[Terminal]:
    program = shutil.which(shell)
    assert program is not None, f"{shell} is missing: scripts/test-needs.sh installs it."
    with terminal(user, "-i", real=True, program=Path(program)) as screen:
        screen.expect(PROMPT)
        yield screen


def test_tab_completes_commands_options_servers_tools_and_parameters(user: CommandLine, shell: str) -> None:
    assert user("completion", "install").code == 0

    with new_shell(user, shell) as screen:
        for typed, completed in [
            ("toolcrib vers", "toolcrib version"),
            ("toolcrib servers --wat", "toolcrib servers --watch"),
            ("toolcrib logs filesy", "toolcrib logs filesystem"),
            ("toolcrib call demo__div", "toolcrib call demo__divide"),
        ]:
            screen.type(f"{typed}\t")
            screen.expect(completed.removeprefix(typed), after=typed)
            screen.type("\x15")  # Ctrl-U empties the line
        screen.type("toolcrib call demo__add a\t")
        screen.expect("=", after="demo__add")
        screen.type("1 b\t")
        screen.expect("=", after=" b")
        screen.type("2\r")
        screen.expect("3\r\n", after=" b")


def test_installing_twice_changes_nothing_and_removing_leaves_the_rest(
    user: CommandLine, shell: str, tmp_path: Path
) -> None:
    user("completion", "install", shell)
    start = start_file(tmp_path, shell)
    installed = start.read_text()

    answer = user("completion", "install", shell, "--json").json

    assert start.read_text() == installed
    assert installed.count(MARK) == (0 if shell == "fish" else 1)
    assert answer["shell"] == shell
    assert all(Path(file).is_file() for file in answer["files"])
    assert user("completion", "install", shell, "--remove").code == 0
    assert start.read_text() == _PROMPTS[shell]
    assert not Path(answer["files"][0]).exists()


def test_a_shell_starts_without_a_word_after_the_script_was_deleted(user: CommandLine, shell: str) -> None:
    files = user("completion", "install", "--json").json["files"]
    Path(files[0]).unlink()

    with new_shell(user, shell) as screen:
        assert "toolcrib" not in screen.seen


def test_the_line_is_added_below_a_last_line_without_an_end(toolcrib: CommandLine, tmp_path: Path) -> None:
    toolcrib.extra.update(HOME=str(tmp_path))
    (tmp_path / ".bashrc").write_text("alias x=y")

    toolcrib("completion", "install", "bash")

    first, second = (tmp_path / ".bashrc").read_text().splitlines()
    assert first == "alias x=y"
    assert second.endswith(MARK)


def test_a_shell_that_is_not_known_is_asked_for(toolcrib: CommandLine, tmp_path: Path) -> None:
    answer = toolcrib("completion", "install", "--json", SHELL="/bin/csh", HOME=str(tmp_path))

    assert answer.code == 2
    assert answer.error["message"].startswith("Name the shell: bash, zsh, fish")
