"""What comes of two hundred requests when the planning model makes every kind of mistake.

python -m benchmarks planner
"""

from __future__ import annotations

import asyncio
from typing import Any

from tests.features.workflows.planner.evaluation.failures import FAILURES
from tests.features.workflows.planner.evaluation.requests import cases
from tests.features.workflows.planner.evaluation.runner import Table, evaluate_all


def measure() -> Table:
    """Every request with every kind of mistake."""
    return asyncio.run(evaluate_all((case, failure) for failure in FAILURES for case in cases()))


def summary(table: Table) -> dict[str, Any]:
    counts = {name: dict(counted) for name, counted in table.counts.items()}
    return {"requests": len(cases()), "share": table.share, "total": dict(table.total), "failures": counts}
