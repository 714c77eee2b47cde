"""Testing a server step by step; and adding, installing and testing one as background work in the host. The
steps that the page shows, their summaries ("no unclear descriptions"), and the log lines after a failure."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import groupby
from typing import Any, cast

from pydantic import Field

from toolcrib.config.aliases import type_of
from toolcrib.config.review import is_bundled
from toolcrib.errors import ConfigError, ToolcribError, UsageError
from toolcrib.host import Host
from toolcrib.host.installs import Setup
from toolcrib.operations.event_relay import relay
from toolcrib.operations.installs import InstallParams, agreed_plan, install, installations_of
from toolcrib.operations.lookup import check_server
from toolcrib.operations.operation import RUNNING, Emit, Invocation, operation
from toolcrib.operations.params_model import OperationParams
from toolcrib.operations.proposals import AdmitParams, admit
from toolcrib.operations.results.servers import Trial, TrialRemedy
from toolcrib.operations.results.setups import SetupForgotten, SetupShown, setup_json
from toolcrib.operations.trust import launch_shown, trust
from toolcrib.operations.updates import UpdateParams
from toolcrib.operations.updates import update as update_server
from toolcrib.schema import failures
from toolcrib.schema.setups import SetupKind, SetupStatus, SetupStep, StepKey
from toolcrib.servers.installers.engine.contract import InstallProgress
from toolcrib.servers.installers.engine.files import folder_size
from toolcrib.servers.installers.engine.remedies import find_remedy
from toolcrib.servers.transport import traits_of
from toolcrib.servers.trial import StepResult
from toolcrib.tools.definitions import read_definitions
from toolcrib.tools.review import WARNING


@operation(page=True, needs=RUNNING)
async def setups(host: Host) -> list[SetupShown]:
    """List servers that are being added, installed or tested, and how the latest went; oldest first."""
    return [setup_json(status) for status in host.installs.setups.all()]


class SetupAddParams(AdmitParams):
    """The parameters of `admit`; the mark also approves exactly what was shown."""

    found_ms: float = Field(default=0.0, ge=0)
    """How long it took to find the package, for display."""
    type: str = ""
    """The type of the server, to show the next steps before the entry is read again."""


@operation(page=True, needs=RUNNING)
async def setup_add(host: Host, params: SetupAddParams) -> SetupShown:
    """Add a server as proposed, trust what was shown and test it, in the background.

    Progress comes over `/api/live`.
    """
    if not params.name:
        raise UsageError("A server needs a name.")
    plan = await agreed_plan(installations_of(host), params.name, params.plan) if params.plan else None
    entry: dict[str, Any] = {"type": params.type, **(plan.entry if plan else params.entry or {})}
    found = None
    if plan is not None:
        found = SetupStep(key="resolve", state="done", detail=f"{plan.version} found", ms=params.found_ms)
    status = new_status(params.name, "add", entry, installs=plan is not None, found=found)
    values = params.model_dump(exclude={"found_ms", "type"}, exclude_unset=True)
    return setup_json(
        host.installs.setups.begin(status, lambda setup: add(host, setup, values, installs=plan is not None))
    )


class SetupUpdateParams(OperationParams):
    """The server, the version, and the digest of the plan that was shown."""

    name: str
    to: str | None = None
    agreed: str


@operation(page=True, needs=RUNNING)
async def setup_update(host: Host, params: SetupUpdateParams) -> SetupShown:
    """Install another version of a server as planned, in the background.

    Progress comes over `/api/live`.
    """
    check_server(host, params.name)
    entry = host.config.servers.get(params.name)
    status = new_status(params.name, "update", entry.raw if entry else {}, installs=True)
    values = params.model_dump()
    return setup_json(host.installs.setups.begin(status, lambda setup: update(host, setup, values)))


@operation(page=True, needs=RUNNING)
async def setup_test(host: Host, name: str) -> SetupShown:
    """Test a server step by step, in the background.

    If work on this server is already running, that is returned.
    """
    check_server(host, name)
    known = host.installs.setups.get(name)
    if known is not None and known.running:
        return setup_json(known)
    entry = host.config.servers.get(name)
    raw = {"type": entry.type, **entry.raw} if entry else {}
    status = new_status(name, "test", raw, installs=False)
    return setup_json(host.installs.setups.begin(status, lambda setup: trial(host, setup)))


@operation(page=True, needs=RUNNING)
async def setup_trust(host: Host, name: str, mark: str) -> SetupShown:
    """Trust a configured server as shown, install what it needs and test it, in the background.

    Progress comes over `/api/live`.
    """
    check_server(host, name)
    if name in host.config.broken:
        raise host.config.broken[name]
    shown = await launch_shown(host, host.config.servers[name])
    if shown["mark"] != mark:
        raise UsageError(f"{name} has changed since it was shown.", hint="Check it again.")
    installs = not shown["installed"]
    status = new_status(
        name,
        "trust",
        {"type": shown["type"], **host.config.servers[name].raw},
        installs=installs,
    )
    return setup_json(
        host.installs.setups.begin(status, lambda setup: agree(host, setup, mark, installs=installs))
    )


@operation(page=True, needs=RUNNING)
async def setup_stop(host: Host, name: str) -> SetupShown:
    """Stop the work on a server and everything it started.

    What was half installed is removed.
    """
    return setup_json(await host.installs.setups.stop(name))


@operation(page=True, needs=RUNNING)
async def setup_forget(host: Host, name: str) -> SetupForgotten:
    """Dismiss the outcome of finished work on a server."""
    return {"name": name, "forgotten": host.installs.setups.forget(name)}


LAST_LINES = 8
REVIEW = "descriptions, hidden text, sizes"
CLEAR = "no unclear descriptions"
_STEP_KEYS = {"spawn": "start"}


def new_status(
    name: str, kind: SetupKind, entry: Mapping[str, Any], *, installs: bool, found: SetupStep | None = None
) -> SetupStatus:
    """The status before the work starts, with its steps."""
    opens: tuple[StepKey, ...] = ("start", "handshake") if traits_of(type_of(entry)).spawns else ("connect",)
    install: tuple[StepKey, ...] = ("install",) if installs else ()
    keys: tuple[StepKey, ...] = ("resolve", *install, *opens, "list", "review")
    if kind == "update":
        keys = install
    steps = [SetupStep(key=key, detail=REVIEW if key == "review" else "") for key in keys]
    if found is not None:
        steps[0] = found
    return SetupStatus(name=name, kind=kind, began=datetime.now(UTC), steps=tuple(steps), entry=entry)


async def add(host: Host, setup: Setup, params: Mapping[str, Any], *, installs: bool) -> None:
    """Install as planned, write the entry, trust exactly what was shown, test it."""
    if installs:
        setup.begin("install")
    admitted = await admit(host, _invocation(setup), AdmitParams.model_validate(params))
    if installs:
        await _installed(host, setup, admitted["packages"], admitted["ms"])
    await _trust(host, setup.status.name, str(params["mark"]))
    await trial(host, setup)


async def agree(host: Host, setup: Setup, mark: str, *, installs: bool) -> None:
    """Trust a configured server, install what it needs, test it."""
    name = setup.status.name
    await _trust(host, name, mark)
    if installs:
        setup.begin("install")
        done = await install(host, _invocation(setup), InstallParams(name=name))
        await _installed(host, setup, len(done["plan"]["fetches"]))
    await trial(host, setup)


async def update(host: Host, setup: Setup, params: Mapping[str, Any]) -> None:
    """Install another version, as planned."""
    setup.begin("install")
    done = await update_server(host, _invocation(setup), UpdateParams.model_validate(params))
    await _installed(host, setup, len(done["plan"]["fetches"]) if done["plan"] else 0)
    setup.end("ok")


async def trial(host: Host, setup: Setup) -> None:
    """Start a second instance step by step, and review its tools."""
    setup.next()
    name = setup.status.name
    outcome = await test(host, _invocation(setup), name)
    if "error" in outcome:
        lines = await asyncio.to_thread(host.log_lines, name, LAST_LINES)
        # The server was started several times and may have repeated its lines.
        setup.change(soon=True, log=tuple(line for line, _ in groupby(lines)))
        raise failures.from_json(cast("Mapping[str, Any]", outcome["error"]))
    count = len(outcome["review"])
    setup.finish("review", CLEAR if not count else f"{count} remark{'s' if count > 1 else ''}")
    setup.change(soon=True, review=tuple(outcome["review"]), tools=outcome["tools"])
    setup.end("ok")


def _invocation(setup: Setup) -> Invocation[Any]:
    """Only the page starts setups."""
    return Invocation(emit=_SetupEvents(setup), from_page=True)


class _SetupEvents:
    """Updates a setup from the events of an operation: steps of an installation or of a test."""

    def __init__(self, setup: Setup) -> None:
        self._setup = setup

    async def __call__(self, event: Any) -> None:
        if isinstance(event, InstallProgress):
            self._install(event)
        else:
            self._try(event)

    def _install(self, step: InstallProgress) -> None:
        """Show the count, or the detail of a step without one; the last count stays visible."""
        setup = self._setup
        if step.total:
            setup.change(soon=True, done=step.done, total=step.total)
            setup.step("install", soon=True, detail=f"{step.done} of {_packages(step.total)}")
        else:
            setup.step("install", soon=True, detail=step.detail)

    def _try(self, step: StepResult) -> None:
        setup = self._setup
        key = cast("StepKey", _STEP_KEYS.get(step.name, step.name))
        if key == "ready":  # which only some servers have
            *before, review = setup.status.steps
            setup.change(soon=True, steps=(*before, SetupStep(key=key), SetupStep(key=review.key)))
        known = next((known for known in setup.status.steps if known.key == key), None)
        # Finding the package was measured before; a successful `resolve` must not replace it.
        if known is not None and (known.state != "done" or not step.ok):
            state = "done" if step.ok else "fail"
            setup.step(key, state=state, detail=step.detail, ms=step.ms)
        if step.ok and not any(other.state == "work" for other in setup.status.steps):
            setup.next()


async def _trust(host: Host, name: str, mark: str) -> None:
    await trust(host, names=[name], agree={name: mark})


async def _installed(host: Host, setup: Setup, packages: int, ms: float | None = None) -> None:
    place = installations_of(host).place(setup.status.name)
    current = place.current
    size = await asyncio.to_thread(folder_size, place.version_folder(current.id)) if current else 0
    summary = _packages(packages) if packages else "copied"
    setup.finish("install", f"{summary}, {_amount(size)}" if size else summary, ms)


def _amount(size: int) -> str:
    return f"{size / 1e6:.1f} MB" if size >= 100_000 else f"{max(1, size // 1000)} KB"


def _packages(count: int) -> str:
    return f"{count} package{'' if count == 1 else 's'}"


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
