"""`toolcrib completion`: print the completion script of a shell (bash, zsh, fish); `install` beside it sets
it up."""

from __future__ import annotations

import os
from pathlib import Path

import click

from toolcrib.cli.declare import declare
from toolcrib.cli.group import FormedCommand
from toolcrib.cli.output import say_exactly
from toolcrib.cli.surface import Surface

SHELLS = ("bash", "zsh", "fish")
_CHANGES = {
    "bash": (
        "    return 0\n",
        "    # After `name=` and `vendor:` the value follows without a space.\n"
        "    [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *[=:] ]] && compopt -o nospace\n"
        "    return 0\n",
    ),
    "zsh": (
        "        compadd -U -V unsorted -a completions\n",
        "        # After `name=` and `vendor:` the value follows without a space.\n"
        "        local -a open\n"
        "        open=(${(M)completions:#*[=:]})\n"
        "        completions=(${completions:#*[=:]})\n"
        "        (( $#open )) && compadd -U -S '' -V unsorted -a open\n"
        "        (( $#completions )) && compadd -U -V unsorted -a completions\n",
    ),
    # A description may contain commas.
    "fish": ('string split "," $completion', 'string split -m 1 "," $completion'),
}
"""Replacements in click's script for a shell."""
_VARIABLE = "_TOOLCRIB_COMPLETE"


def first_words(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """The shells, and what else can be done with them."""
    return [name for name in (*SHELLS, *FormedCommand("completion").forms()) if name.startswith(incomplete)]


@declare("Housekeeping", cls=FormedCommand)
@click.argument("shell", type=click.Choice(SHELLS), required=False, shell_complete=first_words)
def command(surface: Surface, shell: str | None) -> None:
    """Print the completion script for a shell.

    Completes commands, options, and the names of servers, tools and their parameters.

    `toolcrib completion install` sets it up for your shell.
    """
    chosen = shell or own_shell()
    script = script_for(chosen)
    if not surface.answer({"shell": chosen, "script": script}):
        say_exactly(script)


def script_for(shell: str) -> str:
    """The script that makes this shell complete."""
    from click.shell_completion import ShellComplete, get_completion_class

    from toolcrib.cli.entry import PROGRAM, program

    found = get_completion_class(shell)
    assert found is not None
    # Not the class's own `source`: the one for bash starts bash to check its version.
    return ShellComplete.source(found(program(), {}, PROGRAM, _VARIABLE)).replace(*_CHANGES[shell])


def own_shell() -> str:
    """The user's shell; raises `UsageError` if it is none of these."""
    name = Path(os.environ.get("SHELL", "")).name
    if name in SHELLS:
        return name
    raise click.UsageError(f"Name the shell: {', '.join(SHELLS)}.")
