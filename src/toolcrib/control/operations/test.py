"""`test`: start a second instance of a server step by step, and look its tools over."""

from __future__ import annotations

import asyncio
import shlex

from toolcrib.control import failures
from toolcrib.control.answers.servers import Trial, TrialRemedy, TrialStep
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.installing import installations_of
from toolcrib.control.lookup import check_server
from toolcrib.control.needs import NOTHING, Configured, Emit, Needs
from toolcrib.control.relay import relay
from toolcrib.control.shapes import step_json
from toolcrib.errors import ConfigError, ToolcribError
from toolcrib.host import Host
from toolcrib.servers.installing.remedies import find_remedy
from toolcrib.servers.trial import Step

FOR_PAGES = True

Event = TrialStep


class Params(OperationParams):
    """The server."""

    name: str


def needs(params: Params, configured: Configured) -> Needs:
    """The trial brings its own instance."""
    return NOTHING


async def run(host: Host, params: Params, emit: Emit) -> Trial:
    """`{ok, steps, review, tools, error?, remedy?}`; emits each step as it is done."""
    check_server(host, params.name)
    if params.name in host.config.broken:
        return await _broken(host.config.broken[params.name], emit)
    async with relay(emit) as put:
        trial, review = await host.try_server(params.name, lambda step: put(step_json(step)))
    steps = [step_json(step) for step in trial.steps]
    outcome = _outcome(trial.error, steps, review, len(trial.definitions))
    remedy = await asyncio.to_thread(_remedy, host, params.name, trial.error) if trial.error else None
    return {**outcome, "remedy": remedy} if remedy else outcome


def _remedy(host: Host, name: str, error: ToolcribError) -> TrialRemedy | None:
    place = installations_of(host).place(name)
    record = place.current
    if record is None:
        return None
    found = find_remedy(place.version_folder(record.id), record.options, error.message)
    if found is None:
        return None
    return {
        "reason": found.reason,
        "option": found.option,
        "values": list(found.values),
        "command": shlex.join(["toolcrib", "install", name, *found.words]),
    }


async def _broken(error: ConfigError, emit: Emit) -> Trial:
    """An entry that cannot be read fails at the first step, like one that cannot be resolved."""
    step = step_json(Step(name="resolve", ok=False, ms=0.0, detail=error.message, hint=error.hint))
    await emit(step)
    return _outcome(error, [step], [], 0)


def _outcome(error: ToolcribError | None, steps: list[TrialStep], review: list[str], tools: int) -> Trial:
    outcome: Trial = {"ok": error is None, "steps": steps, "review": review, "tools": tools}
    if error is not None:
        outcome["error"] = failures.to_json(error)
    return outcome
