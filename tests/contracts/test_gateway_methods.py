"""Every module of `gateway/methods` offers handlers, and no two of them the same method."""

from __future__ import annotations

import inspect
from collections import Counter

import pytest

from toolcrib import plugins

METHODS = "toolcrib.gateway.methods"
NAMES = plugins.names(METHODS)


@pytest.mark.parametrize("name", NAMES)
def test_a_method_module_offers_handlers_by_method(name: str) -> None:
    module = plugins.find(METHODS, name)

    assert module.METHODS
    assert inspect.getdoc(module)
    for method, handler in module.METHODS.items():
        assert method == method.strip() != ""
        assert inspect.iscoroutinefunction(handler)
        assert len(inspect.signature(handler).parameters) == 3


def test_no_two_modules_answer_one_method() -> None:
    counts = Counter(method for name in NAMES for method in plugins.find(METHODS, name).METHODS)

    assert [method for method, count in counts.items() if count > 1] == []
