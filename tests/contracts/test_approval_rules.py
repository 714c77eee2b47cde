"""Every rule of `approvals/rules/` keeps the contract: a pure `check` that speaks of what it knows."""

from __future__ import annotations

import inspect

import pytest

from tests.approvals.people import Tools
from toolcrib import plugins
from toolcrib.approvals.facts import Facts
from toolcrib.approvals.gate import RULES
from toolcrib.schema.approvals import RuleResult

NAMES = plugins.names(RULES)


@pytest.mark.parametrize("name", NAMES)
def test_a_rule_offers_a_described_check(name: str) -> None:
    module = plugins.find(RULES, name)

    assert list(inspect.signature(module.check).parameters) == ["call", "facts"]
    assert inspect.getdoc(module)
    assert inspect.getdoc(module.check)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("tool", ["web__post", "files__read", "terminal__run_command", "python"])
def test_a_rule_finds_something_under_its_own_name_or_nothing(name: str, tool: str) -> None:
    check, call = plugins.find(RULES, name).check, Tools().call(tool, command="make", path=".git/x")

    for ours in (True, False):
        facts = Facts(ours=ours, untrusted=("web__fetch",))
        found = check(call, facts)
        assert found is None or (isinstance(found, RuleResult) and found.rule == name and found.reason)
        assert check(call, facts) == found


@pytest.mark.parametrize("name", NAMES)
def test_no_rule_allows_a_tool_of_others(name: str) -> None:
    tools = Tools()

    for tool in tools.registry.snapshot.tools:
        found = plugins.find(RULES, name).check(tools.call(tool, command="ls"), Facts(ours=False))
        assert found is None or found.effect != "allow"
