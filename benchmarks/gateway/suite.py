"""All gateways through all cases; one that cannot be installed or started is named with the reason."""

from __future__ import annotations

import asyncio
import importlib
import pkgutil
import sys
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, cast

from benchmarks.gateway import peers
from benchmarks.gateway.cases import calls, killed, listing, start
from benchmarks.gateway.contract import Peer
from benchmarks.gateway.installing import InstallFailed
from tests.real_servers.node import NodeMissing

OURS = "toolcrib"
Case = Callable[[dict[str, Peer], int], Awaitable[dict[str, dict[str, Any]]]]
CASES: dict[str, tuple[Case, int]] = {
    "calls": (calls.measure, 1),
    "listing": (listing.measure, 1),
    "start": (start.measure, 4),
    "hanging": (start.measure_hanging, 10),
    "killed": (killed.measure, 4),
}
"""Each with how much rarer it is repeated than a block of calls: it takes longer."""


def find_peers(only: Iterable[str] = ()) -> dict[str, Peer]:
    """The files of the folder, ours first."""
    names = [module.name for module in pkgutil.iter_modules(peers.__path__)]
    wanted = [name for name in names if not only or name in set(only)]
    ordered = sorted(wanted, key=lambda name: (name != OURS, name))
    return {name: cast(Peer, importlib.import_module(f"{peers.__name__}.{name}")) for name in ordered}


def measure(rounds: int, only: Iterable[str] = (), cases: Iterable[str] = ()) -> dict[str, Any]:
    """Everything, by gateway; on the fastest loop there is, because the client must not be the limit."""
    import uvloop

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(_measure(rounds, tuple(only), tuple(cases)))


async def _measure(rounds: int, only: tuple[str, ...], cases: tuple[str, ...]) -> dict[str, Any]:
    found = find_peers(only)
    results: dict[str, dict[str, Any]] = {name: {"title": peer.TITLE} for name, peer in found.items()}
    present: dict[str, Peer] = {}
    for name, peer in found.items():
        try:
            peer.install()
            present[name] = peer
        except (InstallFailed, NodeMissing) as error:
            results[name]["unavailable"] = _reason(str(error))
    for case in cases or CASES:
        run, rarer = CASES[case]
        print(f"  {case} …", file=sys.stderr, flush=True)
        for name, outcome in (await run(present, max(1, rounds // rarer))).items():
            results[name][case] = outcome
    return results


def _reason(text: str) -> str:
    """What an installer said, without its command and its address."""
    lines = [line.strip() for line in text.splitlines()[1:] if line.strip() and "://" not in line]
    return (lines[0] if lines else text.splitlines()[0])[:200]
