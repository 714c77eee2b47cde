"""`setup_add`: add a server as it was proposed, trust what was shown and try it; it goes on by itself."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from toolcrib.control.answers.setups import SetupShown
from toolcrib.control.installing import agreed_plan, installations_of
from toolcrib.control.needs import RUNNING, Configured, Emit, Needs
from toolcrib.control.operations.admit import Params as AdmitParams
from toolcrib.control.setting_up import add, new_status
from toolcrib.control.setup_shapes import setup_json
from toolcrib.errors import UsageError
from toolcrib.host import Host
from toolcrib.schema.setups import SetupStep

FOR_PAGES = True


class Params(AdmitParams):
    """The same as for `admit`; the mark is also the person's word that exactly this may run."""

    found_ms: float = Field(default=0.0, ge=0)
    """How long it took to find the package, to be shown."""
    type: str = ""
    """What was found, so that the steps to come can be shown before it is read again."""


def needs(params: Params, configured: Configured) -> Needs:
    """The host in which it goes on."""
    return RUNNING


async def run(host: Host, params: Params, emit: Emit) -> SetupShown:
    """How it stands at the beginning; the live stream tells the rest."""
    if not params.name:
        raise UsageError("A server needs a name.")
    plan = await agreed_plan(installations_of(host), params.name, params.plan) if params.plan else None
    entry: dict[str, Any] = {"type": params.type, **(plan.entry if plan else params.entry or {})}
    found = None
    if plan is not None:
        found = SetupStep(key="resolve", state="done", detail=f"{plan.version} found", ms=params.found_ms)
    status = new_status(params.name, "add", entry, installs=plan is not None, found=found)
    words = params.model_dump(exclude={"found_ms", "type"}, exclude_unset=True)
    return setup_json(
        host.setups.begin(status, lambda setup: add(host, setup, words, installs=plan is not None))
    )
