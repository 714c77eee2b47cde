"""The process that outlives a killed host: a shell that waits, which weighs a tenth of a waiting Python, and
then a Python that ends what the host left behind.

It reads lines: `+ GROUP`, `- GROUP`, and `!` when nothing is left to be done. At the end of the input without
that, which is when the host was killed, everything goes that is still listed, or carries the host's token.
"""

from __future__ import annotations

import sys
from pathlib import Path

from toolcrib.servers.processes import orphans

DONE = "!\n"
_WAITING = """
groups=
while read -r sign group; do
    case $sign in '!') exit 0 ;; esac
    case $group in '' | *[!0-9]*) continue ;; esac
    kept=
    for one in $groups; do
        [ "$one" = "$group" ] || kept="$kept $one"
    done
    case $sign in
        +) groups="$kept $group" ;;
        -) groups=$kept ;;
    esac
done
"$@" $groups || for group in $groups; do kill -9 "-$group"; done
"""
"""The last resort is for an environment that was removed while its host ran."""


def command(token: str) -> list[str]:
    """What to run for a host of this token."""
    ending = [sys.executable, "-I", "-S", str(Path(orphans.__file__)), token]
    return ["/bin/sh", "-c", _WAITING, "toolcrib-watchdog", *ending]
