"""Testing a server step by step."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Sequence
from typing import Any

from toolcrib.config.review import is_bundled
from toolcrib.errors import ConfigError, ToolcribError
from toolcrib.host import Host
from toolcrib.operations.event_relay import relay
from toolcrib.operations.installs import installations_of
from toolcrib.operations.lookup import check_server
from toolcrib.operations.operation import (
    Emit,
    Invocation,
    operation,
)
from toolcrib.operations.results.servers import Trial, TrialRemedy
from toolcrib.schema import failures
from toolcrib.servers.installers.engine.remedies import find_remedy
from toolcrib.servers.trial import StepResult
from toolcrib.tools.definitions import read_definitions
from toolcrib.tools.review import WARNING


@operation(page=True)
async def test(host: Host, invocation: Invocation[StepResult], name: str) -> Trial:
    """Test a server: start a second instance step by step and review its tools.

    Emits each step.
    """
    check_server(host, name)
    if name in host.config.broken:
        return await _broken(host.config.broken[name], invocation.emit)
    async with relay(invocation.emit) as put:
        trial, review = await host.try_server(name, put)
    outcome = _outcome(trial.error, trial.steps, review, len(trial.definitions))
    outcome["held"] = await asyncio.to_thread(_held, host, name, trial.definitions, review)
    remedy = await asyncio.to_thread(_remedy, host, name, trial.error) if trial.error else None
    return {**outcome, "remedy": remedy} if remedy else outcome


def _held(host: Host, name: str, definitions: Sequence[Any], review: Sequence[str]) -> list[str]:
    """The tools that cannot be called before they are reviewed."""
    entry = host.config.servers.get(name)
    if entry is None or is_bundled(entry.raw) or entry.watch:
        return []
    flagged = {remark.partition(WARNING)[0] for remark in review if WARNING in remark}
    held = []
    for tool in read_definitions(definitions)[0]:
        pin = host.core.pins.pin(name, tool.definition.name)
        if tool.definition.name in flagged if pin is None else tool.hash != pin.hash:
            held.append(tool.definition.name)
    return held


def _remedy(host: Host, name: str, error: ToolcribError) -> TrialRemedy | None:
    place = installations_of(host).place(name)
    record = place.current
    if record is None:
        return None
    found = find_remedy(place.version_folder(record.id), record.options, error.message)
    if found is None:
        return None
    return TrialRemedy(**vars(found), command=shlex.join(["toolcrib", "install", name, *found.words]))


async def _broken(error: ConfigError, emit: Emit) -> Trial:
    """An entry that cannot be read fails at the first step, like one that cannot be resolved."""
    step = StepResult(name="resolve", ok=False, ms=0.0, detail=error.message, hint=error.hint)
    await emit(step)
    return _outcome(error, [step], [], 0)


def _outcome(error: ToolcribError | None, steps: list[StepResult], review: list[str], tools: int) -> Trial:
    outcome: Trial = {"ok": error is None, "steps": steps, "review": review, "tools": tools, "held": []}
    if error is not None:
        outcome["error"] = failures.to_json(error)
    return outcome
