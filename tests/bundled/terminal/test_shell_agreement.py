"""What the judge takes for harmless does nothing in a real shell that the judge did not see."""

from __future__ import annotations

import random
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from toolcrib.bundled.terminal.environment import SHELL
from toolcrib.serverkit.shell import judge

PIECES = [
    *(
        "ls",
        "cat",
        "echo",
        "true",
        "hidden",
        "a",
        "b",
        "-l",
        "1",
        "2",
        "f",
        "=",
        ",",
        "%",
        ":",
        "^",
        "-",
        "--",
        "~",
    ),
    *(
        " ",
        " ",
        " ",
        " ",
        "\n",
        "\\\n",
        "\\",
        "\t",
        ";",
        ";;",
        "&&",
        "||",
        "|",
        "|&",
        "&",
        "!",
        "(",
        ")",
        "{",
        "}",
    ),
    *(
        "'",
        '"',
        "$",
        "`",
        "#",
        " #",
        "<",
        ">",
        ">>",
        "<<",
        "<<<",
        ">&",
        "&>",
        "<&",
        "2>",
        "/dev/null",
        " /dev/null",
    ),
    *(
        "for i in a b; do ",
        "; done",
        "if ",
        "; then ",
        "; fi",
        " else ",
        "[ ",
        " ]",
        "[[ ",
        " ]]",
        "[",
        "]",
        "-f",
    ),
    *(
        "$i",
        "$?",
        "$HOME",
        "$'",
        '$"',
        "{a,b}",
        "*",
        "?",
        "[a-z]",
        "<<E\n",
        "E\n",
        "time ",
        "case a in ",
        " a) ",
    ),
    *(
        "esac",
        "function ",
        "()",
        "((",
        "))",
        "$((",
        "${x}",
        "while ",
        "coproc ",
        "declare ",
        "a=",
        "LC_ALL=C ",
    ),
]
FILES = ("a", "b", "f")


def lines(seed: int) -> Iterator[str]:
    """Random lines that name a command `hidden` or redirect; deterministic for a seed."""
    chance = random.Random(seed)
    while True:
        line = "ls " * chance.choice((0, 1)) + "".join(chance.choices(PIECES, k=chance.randint(2, 9)))
        if "hidden" in line or ">" in line:
            yield line


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    "count",
    [1_500, pytest.param(8_000, marks=pytest.mark.acceptance), pytest.param(400_000, marks=pytest.mark.soak)],
)
def test_a_shell_runs_and_writes_nothing_that_the_judge_did_not_see(count: int, tmp_path: Path) -> None:
    """With no programs in the path, and a function that leaves a mark if the shell takes a word for it."""
    candidates = lines(seed=5)
    harmless = [line for _ in range(count) if judge(line := next(candidates)).kind == "harmless"]
    assert harmless
    mark, begin = tmp_path / "mark", f"PATH=/nowhere; hidden() {{ : > {tmp_path}/mark; }}\n"

    for number, line in enumerate(harmless):
        folder = tmp_path / str(number)
        folder.mkdir()
        for name in FILES:
            (folder / name).write_text(name)
        command = [SHELL, "--noprofile", "--norc", "-c", begin + line]
        subprocess.run(
            command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False
        )

        assert not mark.exists(), line
        assert {path.name: path.read_text() for path in folder.iterdir()} == {name: name for name in FILES}, (
            line
        )
