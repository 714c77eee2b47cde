"""`admit`: add a server just as it was proposed. It waits for a person's word: adding is not trusting."""

from __future__ import annotations

import asyncio
import time

from toolcrib.config.launch import launch_of
from toolcrib.control.answers.adding import Admitted, InstallStep
from toolcrib.control.installing import installations_of
from toolcrib.control.launching import mark_of
from toolcrib.control.needs import NOTHING, Configured, Emit, Needs
from toolcrib.control.proposing import Proposal, ProposeParams, propose
from toolcrib.control.relay import relay
from toolcrib.errors import UsageError
from toolcrib.host import Host
from toolcrib.servers.installing.progress import Progress

FOR_PAGES = True

Event = InstallStep


class Params(ProposeParams):
    """The same as was proposed, with the mark of what was shown and the plan that it names."""

    mark: str
    plan: str = ""


def needs(params: Params, configured: Configured) -> Needs:
    """A change of the file."""
    return NOTHING


async def run(host: Host, params: Params, emit: Emit) -> Admitted:
    """Install what was planned, write the entry; emits each step of the installation."""
    began = time.perf_counter()
    proposal = await propose(host, params, agreed=params.plan)
    if proposal.entry is None:
        raise UsageError(
            f"{proposal.name} needs values that were not given.", hint=", ".join(proposal.missing)
        )
    if mark_of(launch_of(proposal.entry.raw)) != params.mark:
        raise UsageError(f"{proposal.name} is no longer what you were shown.", hint="Look at the plan again.")
    async with relay(emit) as put:
        packages = await _install(host, proposal, lambda step: put(step.as_json()))
    for name, value in proposal.secrets.items():
        await asyncio.to_thread(host.secrets.set, name, value)
    await asyncio.to_thread(host.config_store.add_server, proposal.name, proposal.entry.raw)
    await host.reload()
    return {
        "name": proposal.name,
        "mark": params.mark,
        "trusted": host.trust.holds(proposal.entry),
        "packages": packages,
        "version": proposal.plan.version if proposal.plan else "",
        "ms": round((time.perf_counter() - began) * 1000, 1),
    }


async def _install(host: Host, proposal: Proposal, tell: Progress) -> int:
    if proposal.plan is None:
        return 0
    installations = installations_of(host)
    await installations.apply(proposal.plan, tell)
    await asyncio.to_thread(installations.forget, proposal.plan)
    return len(proposal.plan.fetches)
