"""`import_plan`: what taking in the servers of another host's file would do; changes nothing."""

from __future__ import annotations

from toolcrib.control.answers.importing import ImportPlan
from toolcrib.control.needs import NOTHING, Configured, Emit, Needs
from toolcrib.control.taking_in import ImportParams, planned, planned_json, source_json
from toolcrib.host import Host

FOR_PAGES = True


class Params(ImportParams):
    """The source, and what a person decided so far."""


def needs(params: Params, configured: Configured) -> Needs:
    """The configuration alone."""
    return NOTHING


async def run(host: Host, params: Params, emit: Emit) -> ImportPlan:
    """`{source, servers, refused, digest, written}`."""
    reading, found = await planned(host, params)
    return {
        "source": source_json(reading),
        "servers": [planned_json(one) for one in found],
        "refused": dict(reading.refused),
        "digest": reading.digest,
        "written": False,
    }
