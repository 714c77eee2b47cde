"""Adding, installing and trying out a server as work that goes on in the host: operations one after another.

Each is the operation that a command would run, so that the same checks hold; what they tell on the way
becomes the steps that a person sees.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime
from itertools import groupby
from typing import Any, cast

from toolcrib.config.aliases import type_of
from toolcrib.control import failures
from toolcrib.control.answers.adding import Admitted, InstallStep
from toolcrib.control.answers.installing import ServerInstalled, ServerUpdated
from toolcrib.control.answers.servers import Trial, TrialStep
from toolcrib.control.dispatch import perform
from toolcrib.control.installing import installations_of
from toolcrib.host import Host
from toolcrib.host.installs import Setup
from toolcrib.schema.setups import SetupKind, SetupStatus, SetupStep, StepKey
from toolcrib.servers.installing.files import folder_size
from toolcrib.servers.transport import traits_of

LAST_LINES = 8
REVIEW = "descriptions, hidden text, sizes"
CLEAR = "nothing a model would find unclear"
_WORDS = {"spawn": "start"}


def new_status(
    name: str, kind: SetupKind, entry: Mapping[str, Any], *, installs: bool, found: SetupStep | None = None
) -> SetupStatus:
    """The steps that are to come."""
    opens: StepKey = "start" if traits_of(type_of(entry)).spawns else "connect"
    install: tuple[StepKey, ...] = ("install",) if installs else ()
    keys: tuple[StepKey, ...] = ("resolve", *install, opens, "handshake", "list", "review")
    if kind == "update":
        keys = install
    steps = [SetupStep(key=key, detail=REVIEW if key == "review" else "") for key in keys]
    if found is not None:
        steps[0] = found
    return SetupStatus(name=name, kind=kind, began=datetime.now(UTC), steps=tuple(steps), entry=entry)


async def add(host: Host, setup: Setup, params: Mapping[str, Any], *, installs: bool) -> None:
    """Install what was planned, write the entry, trust exactly what was shown, try it."""
    if installs:
        setup.begin("install")
    admitted = cast("Admitted", await perform(host, "admit", params, _Telling(setup)))
    if installs:
        await _installed(host, setup, admitted["packages"], admitted["ms"])
    await _trust(host, setup.status.name, str(params["mark"]))
    await trial(host, setup)


async def agree(host: Host, setup: Setup, mark: str, *, installs: bool) -> None:
    """Trust what is configured, install what it needs, try it."""
    name = setup.status.name
    await _trust(host, name, mark)
    if installs:
        setup.begin("install")
        done = cast("ServerInstalled", await perform(host, "install", {"name": name}, _Telling(setup)))
        await _installed(host, setup, len(done["plan"]["fetches"]))
    await trial(host, setup)


async def update(host: Host, setup: Setup, params: Mapping[str, Any]) -> None:
    """Put another version in place, as planned."""
    setup.begin("install")
    done = cast("ServerUpdated", await perform(host, "update", params, _Telling(setup)))
    await _installed(host, setup, len(done["plan"]["fetches"]) if done["plan"] else 0)
    setup.end("ok")


async def trial(host: Host, setup: Setup) -> None:
    """Start a second instance step by step, and look its tools over."""
    setup.next()
    name = setup.status.name
    outcome = cast("Trial", await perform(host, "test", {"name": name}, _Telling(setup)))
    if "error" in outcome:
        lines = await asyncio.to_thread(host.log_lines, name, LAST_LINES)
        # It was started several times, and each time it may have said the same.
        setup.change(soon=True, log=tuple(line for line, _ in groupby(lines)))
        raise failures.from_json(cast("Mapping[str, Any]", outcome["error"]))
    many = len(outcome["review"])
    setup.finish("review", CLEAR if not many else f"{many} remark{'s' if many > 1 else ''}")
    setup.change(soon=True, review=tuple(outcome["review"]), tools=outcome["tools"])
    setup.end("ok")


class _Telling:
    """Writes down what an operation tells: a step of an installation, or one of a trial."""

    def __init__(self, setup: Setup) -> None:
        self._setup = setup

    async def __call__(self, event: Any) -> None:
        if "stage" in event:
            self._install(event)
        else:
            self._try(event)

    def _install(self, step: InstallStep) -> None:
        """What cannot be counted is told in words, and the count stays in view while the rest is done."""
        setup = self._setup
        if step["total"]:
            setup.change(soon=True, done=step["done"], total=step["total"])
            setup.step("install", soon=True, detail=f"{step['done']} of {_packages(step['total'])}")
        else:
            setup.step("install", soon=True, detail=step["detail"])

    def _try(self, step: TrialStep) -> None:
        setup = self._setup
        key = cast("StepKey", _WORDS.get(step["name"], step["name"]))
        known = next((one for one in setup.status.steps if one.key == key), None)
        # Looking a package up has its own time; that it can be resolved now goes without saying.
        if known is not None and (known.state != "done" or not step["ok"]):
            state = "done" if step["ok"] else "fail"
            setup.step(key, state=state, detail=step["detail"], ms=step["ms"])
        if step["ok"] and not any(one.state == "work" for one in setup.status.steps):
            setup.next()


async def _trust(host: Host, name: str, mark: str) -> None:
    await perform(host, "trust", {"names": [name], "agree": {name: mark}}, _unheard)


async def _installed(host: Host, setup: Setup, packages: int, ms: float | None = None) -> None:
    place = installations_of(host).place(setup.status.name)
    current = place.current
    size = await asyncio.to_thread(folder_size, place.version_folder(current.id)) if current else 0
    what = _packages(packages) if packages else "copied"
    setup.finish("install", f"{what}, {_amount(size)}" if size else what, ms)


def _amount(size: int) -> str:
    return f"{size / 1e6:.1f} MB" if size >= 100_000 else f"{max(1, size // 1000)} KB"


def _packages(many: int) -> str:
    return f"{many} package{'' if many == 1 else 's'}"


async def _unheard(event: Any) -> None:
    pass
