"""`update`: plan or install another version of an installed server; the one before is kept to go back to."""

from __future__ import annotations

import asyncio
from typing import Any

from toolcrib.control.answers.adding import InstallStep
from toolcrib.control.answers.installing import ServerUpdated
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.installing import installations_of, installed_json, plan_json, set_version, version_json
from toolcrib.control.needs import NOTHING, Configured, Emit, Needs
from toolcrib.control.relay import relay
from toolcrib.control.switching import status_json
from toolcrib.errors import UsageError
from toolcrib.host import Host
from toolcrib.servers.installing.installations import Installations
from toolcrib.servers.installing.plan import Plan, Record
from toolcrib.servers.installing.progress import Step

FOR_PAGES = True

Event = InstallStep


class Params(OperationParams):
    """The server, and which version: the newest, one of this number, or another file."""

    name: str
    to: str | None = None
    reference: str | None = None
    allow_scripts: tuple[str, ...] = ()
    allow_build: tuple[str, ...] = ()
    offline: bool = False
    dry_run: bool = False
    fetch_runtime: bool = False
    """As for `install`."""
    agreed: str | None = None


def needs(params: Params, configured: Configured) -> Needs:
    """The files of one server."""
    return NOTHING


async def run(host: Host, params: Params, emit: Emit) -> ServerUpdated:
    """`{name, updated, before, plan, installed, server}`; emits each step."""
    installations = installations_of(host)
    before = installations.record(params.name)
    shape: ServerUpdated = {
        "name": params.name,
        "updated": False,
        "before": version_json(before),
        "plan": None,
        "installed": None,
        "server": None,
    }
    async with relay(emit) as put:

        def tell(step: Step) -> None:
            put(step.as_json())

        plan = await _plan(installations, before, params, tell)
        current = _is_current(plan, before)
        if params.dry_run or current:
            shown = None if current else plan_json(plan)
            return {**shape, "plan": shown, "installed": None, "server": status_json(host, params.name)}
        done = await installations.apply(plan, tell, offline=params.offline)
    await asyncio.to_thread(installations.forget, plan)
    await set_version(host, done.record)
    return {
        **shape,
        "updated": True,
        "plan": plan_json(plan),
        "installed": installed_json(done),
        "server": status_json(host, params.name),
    }


async def _plan(installations: Installations, before: Record, params: Params, tell: Any) -> Plan:
    if params.agreed is not None:
        return await asyncio.to_thread(installations.agreed, params.agreed)
    options = before.options.model_copy(
        update={
            "allow_scripts": (*before.options.allow_scripts, *params.allow_scripts),
            "allow_build": (*before.options.allow_build, *params.allow_build),
        }
    )
    return await installations.plan(
        _reference(before, params),
        params.name,
        options,
        offline=params.offline,
        fetch_runtimes=params.fetch_runtime or not params.dry_run,
        progress=tell,
    )


def _reference(before: Record, params: Params) -> str:
    if params.reference is not None:
        return params.reference
    joint = {"npm:": "@", "pypi:": "=="}
    for prefix, sign in joint.items():
        if before.reference.startswith(prefix):
            return f"{prefix}{before.package}{f'{sign}{params.to}' if params.to else ''}"
    if params.to is not None:
        raise UsageError(
            f"{params.name} was installed from a file, which has no other versions.",
            hint=f"Name another file: toolcrib update {params.name} FILE",
        )
    return before.reference


def _is_current(plan: Plan, before: Record) -> bool:
    """A file or folder may have changed without a new number; its hash tells."""
    same = plan.version == before.version
    return same and (not plan.source or before.integrity == f"sha256:{plan.digest_of_source}")
