"""`install`: plan an installation, or do what was planned and write the server into the config file."""

from __future__ import annotations

import asyncio
from typing import Any

from pydantic import Field

from toolcrib.config.review import review_entry
from toolcrib.control.answers.adding import InstallStep
from toolcrib.control.answers.installing import ServerAdded, ServerInstalled
from toolcrib.control.answers.servers import Server
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.installing import (
    OURS,
    agreed_plan,
    change_over,
    installations_of,
    installed_json,
    is_trusted,
    plan_json,
    reference_of,
    trust_again,
)
from toolcrib.control.needs import NOTHING, Configured, Emit, Needs
from toolcrib.control.relay import relay
from toolcrib.control.surface import is_page
from toolcrib.control.switching import settled, status_json
from toolcrib.control.tool_findings import found_in_server
from toolcrib.errors import UnknownServer, UsageError
from toolcrib.host import Host
from toolcrib.servers.installing.answers import Filled, fill
from toolcrib.servers.installing.installations import Installations
from toolcrib.servers.installing.naming import propose_name
from toolcrib.servers.installing.plan import Options, Plan, merged
from toolcrib.servers.installing.progress import Step

FOR_PAGES = True

Event = InstallStep


class Params(OperationParams):
    """What to install and how; without a reference, what the entry of `name` asks for, again."""

    name: str = ""
    reference: str = ""
    args: tuple[str, ...] = ()
    env: dict[str, str] = Field(default_factory=dict)
    secrets: dict[str, str] = Field(default_factory=dict, repr=False)
    """Values of the secrets that `env` refers to."""
    answers: dict[str, Any] = Field(default_factory=dict, repr=False)
    extra: dict[str, Any] = Field(default_factory=dict)
    """Further keys of the entry: timeouts, filters and the like."""
    allow_scripts: tuple[str, ...] = ()
    allow_build: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    program: str | None = None
    python: str | None = None
    offline: bool = False
    replace: bool = False
    dry_run: bool = False
    """Only plan; nothing is downloaded but what describes the packages."""
    fetch_runtime: bool = False
    """A plan may fetch the Node that it needs to look packages up; without it, the plan is incomplete."""
    agreed: str | None = None
    """The digest of a plan that was shown: that one is applied, or nothing."""
    wait: float = Field(default=0.0, ge=0, le=3600)


def needs(params: Params, configured: Configured) -> Needs:
    """A change of the file."""
    return NOTHING


async def run(host: Host, params: Params, emit: Emit) -> ServerInstalled:
    """What was written and installed, and how the server is doing; emits each step."""
    name = params.name or propose_name(params.reference)
    again = not params.reference
    _check_name(host, name, params, again=again)
    installations = installations_of(host)
    async with relay(emit) as put:

        def tell(step: Step) -> None:
            put(step.as_json())

        plan = await _plan(host, installations, name, params, tell)
        if params.dry_run:
            entry = _again(host, name, plan).entry if again else plan.entry
            return {**_shape(name, entry), "plan": plan_json(plan), "installed": None}
        filled = _again(host, name, plan) if again else _entry(name, plan, params)
        done = await installations.apply(plan, tell, offline=params.offline)
    await asyncio.to_thread(installations.forget, plan)
    # A command has shown the plan, with the command and its arguments; a page asks for trust by itself.
    trusted = is_trusted(host, name) if again else not is_page()
    await _write(host, name, filled, params, replace=params.replace or again)
    if trusted:
        await trust_again(host, name)
    await change_over(host, name)
    shape = _shape(name, filled.entry, secrets=[*filled.secrets, *params.secrets])
    server = await _status(host, name, params.wait)
    return {
        **shape,
        "findings": found_in_server(host, name),
        "server": server,
        "plan": plan_json(plan),
        "installed": installed_json(done),
    }


def _check_name(host: Host, name: str, params: Params, *, again: bool) -> None:
    """Before anything is fetched: a name that is taken, or one that is not known."""
    configured = name in (*host.config.servers, *host.config.broken)
    if again and name not in host.config.servers:
        raise UnknownServer(
            f"No server is called {name!r}.", hint=f"Say what to install: toolcrib add {name} npm:PACKAGE"
        )
    if configured and not again and not params.replace:
        raise UsageError(
            f"There is already a server called {name!r}.",
            hint="Choose another name, or add --replace to put this one in its place.",
        )


async def _plan(host: Host, installations: Installations, name: str, params: Params, tell: Any) -> Plan:
    if params.agreed is not None:
        return await agreed_plan(installations, name, params.agreed)
    options = Options(
        allow_scripts=params.allow_scripts,
        allow_build=params.allow_build,
        also=params.also,
        program=params.program,
        python=params.python,
    )
    reference = params.reference
    if not reference:
        record = installations.place(name).current
        reference = record.reference if record else reference_of(name, host.config.servers[name].raw)
        options = merged(record.options, options) if record else options
    return await installations.plan(
        reference,
        name,
        options,
        args=params.args,
        env=params.env,
        offline=params.offline,
        fetch_runtimes=params.fetch_runtime or not params.dry_run,
        progress=tell,
    )


def _entry(name: str, plan: Plan, params: Params) -> Filled:
    filled = fill(name, plan.entry, plan.questions, params.answers)
    extra = {key: value for key, value in params.extra.items() if key not in (*OURS, "args", "env")}
    return Filled({**filled.entry, **extra}, filled.secrets)


def _again(host: Host, name: str, plan: Plan) -> Filled:
    """The entry as it stands, with what the installer decides."""
    entry = dict(host.config.servers[name].raw)
    decided = {key: value for key, value in plan.entry.items() if key in OURS and key not in entry}
    version = {"version": plan.entry["version"]} if "version" in plan.entry else {}
    return Filled({**entry, **decided, **version})


async def _write(host: Host, name: str, filled: Filled, params: Params, *, replace: bool) -> None:
    for secret, value in {**filled.secrets, **params.secrets}.items():
        await asyncio.to_thread(host.secrets.set, secret, value)
    await asyncio.to_thread(host.config_store.add_server, name, filled.entry, replace=replace)


def _shape(name: str, entry: dict[str, Any], secrets: list[str] | None = None) -> ServerAdded:
    return {
        "name": name,
        "type": str(entry.get("type")),
        "enabled": entry.get("enabled", True),
        "entry": entry,
        "remarks": list(review_entry(entry)),
        "findings": [],
        "secrets": sorted(secrets or ()),
        "server": None,
    }


async def _status(host: Host, name: str, wait: float) -> Server | None:
    if wait and name in host.servers:
        await settled(host, name, wait)
    return status_json(host, name)
