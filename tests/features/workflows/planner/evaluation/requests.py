"""The two hundred requests, from templates over the tools of the bundled servers and the node types."""

from __future__ import annotations

from functools import cache

from tests.features.workflows.planner.evaluation import branches, chains, edits
from tests.features.workflows.planner.evaluation.graphs import Case

_FAMILIES = (
    chains.two_steps,
    chains.longer,
    chains.waits,
    chains.workflows,
    branches.conditions,
    branches.loops,
    branches.maps,
    branches.filters,
    edits.edits,
)


@cache
def cases() -> tuple[Case, ...]:
    return tuple(case for family in _FAMILIES for case in family())
