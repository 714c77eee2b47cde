"""Host names of tests: a resolver with a table instead of DNS, and policies that allow loopback."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from toolcrib.serverkit.network import NetworkPolicy


@dataclass
class Names:
    """A resolver: each name has answers, one for each lookup; the last one is repeated."""

    table: dict[str, list[Sequence[str]]]
    asked: list[str] = field(default_factory=list)

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked.append(host)
        if host not in self.table:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        answers = self.table[host]
        return answers.pop(0) if len(answers) > 1 else answers[0]


def names(**table: str | Sequence[str]) -> Names:
    """Each name always leads to these addresses; underscores stand for dots."""
    listed = {
        name: [addresses] if isinstance(addresses, str) else addresses for name, addresses in table.items()
    }
    return Names({name.replace("_", "."): [addresses] for name, addresses in listed.items()})


def on_loopback(resolve: Any = None, **settings: Any) -> NetworkPolicy:
    """Loopback stands for the public internet, as tests leave this machine alone; private stays forbidden."""
    return NetworkPolicy(
        ports=None, kinds=frozenset({"public", "loopback"}), resolve=resolve or names(), **settings
    )


def in_turn(*answers: str) -> list[Sequence[str]]:
    """One address for each lookup."""
    return [[answer] for answer in answers]
