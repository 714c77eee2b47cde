"""Shell commands, understood before they run: what only reads, what destroys, what a person must judge.

`judge` gives the verdict, `simple_commands` the words for exact rules. Nothing here runs anything.
"""

from toolcrib.serverkit.shell.verdict import Verdict, judge, rough_commands, simple_commands

__all__ = ["Verdict", "judge", "rough_commands", "simple_commands"]
