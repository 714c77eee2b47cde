"""The page's types are made from the operations, and are those that are checked in."""

from __future__ import annotations

import json
from pathlib import Path

from toolcrib.operations.operation import operation
from toolcrib.operations.registry import operations
from toolcrib.web.contract import contract, document
from toolcrib.web.typescript import typescript

TYPES = Path(__file__).parents[2] / "frontend" / "src" / "api" / "types.ts"


def test_the_types_of_the_page_are_those_of_the_operations() -> None:
    assert TYPES.read_text() == typescript(contract()), "Run `make generated`."


def test_no_two_types_have_one_name() -> None:
    assert not [name for name in contract().types if "__" in name]


def test_every_operation_says_what_it_answers() -> None:
    vague = [
        one.name for one in contract().operations if one.result == {} or one.result.get("type") == "object"
    ]

    assert not vague


def test_only_six_operations_are_kept_from_pages() -> None:
    assert [one.name for one in operations() if not one.page] == [
        "ask",
        "database_refused",
        "database_sign",
        "evaluate",
        "host_reopen",
        "watch",
    ]


def test_an_operation_that_does_not_opt_in_is_not_offered() -> None:
    @operation()
    async def new_operation(host: object) -> None:
        """Do something."""

    assert not new_operation.page


def test_the_document_describes_every_path_and_refers_to_nothing_that_is_not_there() -> None:
    described = document()
    text = json.dumps(described)
    referred = {part.partition('"')[0] for part in text.split("#/components/schemas/")[1:]}

    assert set(described["paths"]) == {*(f"/api/{one.name}" for one in contract().operations), "/api/live"}
    assert referred <= set(described["components"]["schemas"])
    assert described["paths"]["/api/sign_in"]["post"]["security"] == []
