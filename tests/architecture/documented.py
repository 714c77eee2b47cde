"""The fenced blocks of the documentation, and the commands in them.

A comment before a block, which readers do not see, says what the tests do with it:

    <!-- before: toolcrib add demo -->       is run first: what the reader has done already
    <!-- not run: needs an account -->       it is only parsed, for this reason
    <!-- file: sum.json -->                  the reader saves it under this name

A variable that `before` sets, such as `ID=$(…)`, stands for the same word in the commands.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
CONTRIBUTING = ROOT / "CONTRIBUTING.md"
PAGES = [README, CONTRIBUTING, *sorted((ROOT / "docs").rglob("*.md"))]
SHELL = ("sh", "bash", "console")
_BLOCK = re.compile(
    r"(?P<remarks>(?:^ *<!--(?:(?!-->).)*-->\n)*)"
    r"^(?P<indent> *)```(?P<info>\w[^\n]*)\n(?P<text>.*?)^(?P=indent)```$",
    re.MULTILINE | re.DOTALL,
)
_REMARK = re.compile(r"<!-- (before|not run|file): (.*?) -->", re.DOTALL)
_OPERATORS = "|&;<>()"


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    page: str
    line: int
    info: str
    text: str
    before: str = ""
    not_run: str = ""
    file: str = ""

    @property
    def commands(self) -> list[str]:
        """Its lines of commands, without what a session shows of their output; a `\\` joins two of them."""
        joined = re.sub(r"\\\n\s*", "", self.text)
        lines = [line for line in joined.splitlines() if line.strip()]
        if self.info != "console":
            return lines
        return [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]


def blocks(*infos: str) -> Iterator[Block]:
    """All blocks of these languages; without any, all."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for found in _BLOCK.finditer(text):
            if not infos or found["info"].strip() in infos:
                remarks = dict(_REMARK.findall(found["remarks"]))
                line = text[: found.start("indent")].count("\n") + 1
                inner = re.sub(rf"^{found['indent']}", "", found["text"], flags=re.MULTILINE)
                yield Block(
                    str(page.relative_to(ROOT)),
                    line,
                    found["info"].strip(),
                    inner,
                    remarks.get("before", ""),
                    remarks.get("not run", ""),
                    remarks.get("file", ""),
                )


def label(block: Block) -> str:
    return f"{block.page}:{block.line}"


def programs(line: str) -> Iterator[list[str]]:
    """The words of each program that a line runs, without redirections and variables."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=_OPERATORS)
    lexer.whitespace_split = True
    words: list[str] = []
    skip = False
    for word in lexer:
        if skip:
            skip = False
        elif not set(word) <= set(_OPERATORS):
            words.append(word)
        elif set(word) & {"<", ">"}:
            skip = True
        else:
            yield _program(words)
            words = []
    yield _program(words)


def _program(words: list[str]) -> list[str]:
    while words and re.fullmatch(r"\w+=.*", words[0]):
        words = words[1:]
    return words
