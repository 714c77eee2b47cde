"""Shell commands, judged before they run: which only read, which destroy, and which to ask about.

`judge` gives the verdict, `simple_commands` the words for exact rules, `guards_for` what must be in place
when a command runs unasked, `stays_local` whether it uses no network. Nothing here runs anything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolcrib.serverkit.shell.verdict import Verdict, judge, rough_commands, simple_commands

if TYPE_CHECKING:
    from toolcrib.serverkit.shell.readers import Guards

__all__ = ["Verdict", "guards_for", "judge", "rough_commands", "simple_commands", "stays_local"]


def guards_for(command: str, cwd: str = "", project: str = "") -> Guards:
    """The guards that a command needs when it runs; none when it is not understood."""
    from toolcrib.serverkit.shell import readers

    return readers.guards_for(command, cwd, project)


def stays_local(command: str) -> bool:
    """Whether nothing that a command prints can come from the network."""
    from toolcrib.serverkit.shell import network

    return network.stays_local(command)
