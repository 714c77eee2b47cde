"""Every command in the documentation exists, with its options; those that cannot run here say why."""

from __future__ import annotations

import re
from importlib.util import find_spec

import click
import pytest

from tests.architecture.documented import PAGES, ROOT, SHELL, Block, blocks, label, programs
from toolcrib import plugins
from toolcrib.cli.entry import program

NOT_RUN = 42
"""Blocks that are only parsed, besides those of the generated page of clients. This number may only fall."""
OF_OPTIONAL_FEATURES = {"service"}
"""Commands that a sentence may name while their feature is left out."""
BUNDLED = "toolcrib.bundled"
_INLINE = re.compile(r"`toolcrib ([a-z][^`]*)`")


def parse(words: list[str]) -> None:
    """As the program would, without running anything; raises `click.UsageError`."""
    command: click.Command | None = program()
    above, name, left = None, "toolcrib", list(words)
    while command is not None:
        above = command.make_context(name, left, parent=above)
        left = [*above._protected_args, *above.args] if isinstance(command, click.Group) else []
        if not left:
            return
        assert isinstance(command, click.Group)
        found, command, left = command.resolve_command(above, left)
        name = found or ""


def problem_of(words: list[str]) -> str:
    """Why these words cannot be run; empty if they can."""
    match words:
        case ["toolcrib", *rest]:
            try:
                parse(rest)
            except click.UsageError as error:
                # The files of the example are not here.
                return "" if "does not exist" in str(error) else error.format_message()
        case ["make", target, *_] if f"\n{target}: " not in (ROOT / "Makefile").read_text():
            return f"no target {target}"
        case [python, "-m", module, *_] if python.endswith("python") and find_spec(module) is None:
            return f"no module {module}"
    return ""


@pytest.mark.parametrize("block", list(blocks(*SHELL)), ids=label)
def test_the_commands_of_a_block_exist_with_their_options(block: Block) -> None:
    found = [(line, problem_of(words)) for line in block.commands for words in programs(line)]

    assert [(line, why) for line, why in found if why] == []
    assert found


def test_few_blocks_are_only_parsed_and_each_says_why() -> None:
    only_parsed = [block for block in blocks(*SHELL) if block.not_run and block.page != "docs/clients.md"]

    assert [label(block) for block in only_parsed if len(block.not_run) < 10] == []
    assert len(only_parsed) <= NOT_RUN


def test_the_options_of_commands_in_sentences_exist() -> None:
    unknown = [
        f"{page.relative_to(ROOT)}: toolcrib {words}"
        for page in PAGES
        if page.name != "CHANGELOG.md"
        for words in _INLINE.findall(page.read_text(encoding="utf-8"))
        if words.split()[0] not in OF_OPTIONAL_FEATURES and not known(words)
    ]

    assert unknown == []


def known(text: str) -> bool:
    """Whether the command is there, with each option that a sentence names."""
    command: click.Command = program()
    options: set[str] = {option for one in command.params for option in one.opts}
    for word in text.replace("[", " ").replace("]", " ").replace("|", " ").split():
        if word == "--" or (command.name == "add" and word in plugins.names(BUNDLED)):
            return True  # what follows belongs to the server
        if word.startswith("--"):
            if word.partition("=")[0].rstrip(",.…") not in options:
                return False
        elif isinstance(command, click.Group):
            inner = command.get_command(click.Context(command), word)
            if inner is None:
                return command.name != "toolcrib" and not word.islower()
            command = inner
            options |= {option for one in command.params for option in (*one.opts, *one.secondary_opts)}
    return True
