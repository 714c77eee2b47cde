"""`propose`: what adding a server would run, fetch and write, for a person to read; nothing is written."""

from __future__ import annotations

import time

from toolcrib.control.answers.adding import InstallStep, Proposed
from toolcrib.control.launching import launch_shown
from toolcrib.control.needs import NOTHING, Configured, Emit, Needs
from toolcrib.control.proposing import ProposeParams, propose
from toolcrib.control.relay import relay
from toolcrib.host import Host

FOR_PAGES = True

Event = InstallStep


class Params(ProposeParams):
    """What is to be added."""


def needs(params: Params, configured: Configured) -> Needs:
    """The configuration alone."""
    return NOTHING


async def run(host: Host, params: Params, emit: Emit) -> Proposed:
    """The exact command and all that belongs to it; `launch` is null while values are missing."""
    began = time.perf_counter()
    async with relay(emit) as put:
        found = await propose(host, params, progress=lambda step: put(step.as_json()))
    plan = found.plan
    return {
        "name": found.name,
        "launch": await launch_shown(host, found.entry, plan) if found.entry else None,
        "entry": dict(found.entry.raw) if found.entry else {},
        "secrets": sorted(found.secrets),
        "needed": found.needed,
        "missing": found.missing,
        "plan": plan.digest if plan else "",
        "package": plan.package if plan else "",
        "version": plan.version if plan else "",
        "ms": round((time.perf_counter() - began) * 1000, 1),
    }
