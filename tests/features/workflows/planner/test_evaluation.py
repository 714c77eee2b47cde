"""Requests and a model that fails as real ones do lead to plans that mean the request, or to refusals."""

from __future__ import annotations

import sys

import pytest

from tests.features.workflows.planner.evaluation.failures import FAILURES
from tests.features.workflows.planner.evaluation.requests import cases
from tests.features.workflows.planner.evaluation.runner import Table, evaluate, evaluate_all

ALWAYS_VALID = ("correct", "text around", "trailing commas", "python literals", "injection obeyed")
ALWAYS_REFUSED = ("always empty", "always invalid JSON", "always truncated", "declines", "refuses", "stops")


def test_there_are_two_hundred_different_requests() -> None:
    assert len({case.text for case in cases()}) == 200


@pytest.mark.acceptance
async def test_every_request_leads_to_a_plan_that_means_it_or_to_a_clear_refusal() -> None:
    """Each request with one kind of failure, so that all kinds occur."""
    failures = list(FAILURES)
    pairs = [(case, failures[number % len(failures)]) for number, case in enumerate(cases())]

    table = await evaluate_all(pairs)

    assert table.share >= 0.99, _shown(table)
    assert len(table.counts) > 60
    _check_kinds(table)


@pytest.mark.acceptance
async def test_every_request_survives_every_kind_of_failure() -> None:
    table = await evaluate_all((case, failure) for failure in FAILURES for case in cases()[::6])

    sys.stdout.write("\n".join(["", *table.rows(), ""]))
    assert table.share >= 0.99, _shown(table)
    assert table.total["valid"] > 2 * table.total["refused"]
    _check_kinds(table)


async def test_a_model_without_structured_answers_plans_as_well() -> None:
    outcomes = [await evaluate(case, "text around", structured=False) for case in cases()[::40]]

    assert [outcome.result for outcome in outcomes if outcome] == ["valid"] * 5


def _check_kinds(table: Table) -> None:
    for failure in ALWAYS_VALID:
        assert set(table.counts[failure]) == {"valid"}, failure
    for failure in ALWAYS_REFUSED:
        assert set(table.counts[failure]) == {"refused"}, failure
    for failure in [name for name in table.counts if name.endswith(", once")]:
        assert not table.counts[failure]["refused"], failure


def _shown(table: Table) -> str:
    return "\n".join([*table.rows(), *(str(outcome) for outcome in table.wrong[:5])])
