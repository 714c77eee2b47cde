"""What a model would find unclear is said, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from toolcrib.tools.review import review


def tool(
    name: str = "convert", description: str = "Turn Celsius into Fahrenheit.", **properties: Any
) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties}
    return {"name": name, "description": description, "inputSchema": schema}


def test_a_clear_tool_gets_no_remark() -> None:
    clear = {"type": "number", "description": "Degrees Celsius."}

    assert review("s", [tool(celsius=clear, to={"enum": ["fahrenheit"]})]) == []


@pytest.mark.parametrize(
    ("definition", "expected"),
    [
        (tool(description=" "), "convert has no description."),
        (tool(description="Converts."), "only repeats its name"),
        (tool(description="This tool converts"), "only repeats its name"),
        (tool(x={"description": "What"}), "the parameter x has no type"),
        (tool(x={"type": "string"}), "x has no description"),
        (tool(x={"type": "string"}, y={"type": "string"}), "x, y have no description"),
        (tool(description="Long. " * 2000), "tokens in every prompt"),
    ],
)
def test_what_would_be_unclear_is_said(definition: dict[str, Any], expected: str) -> None:
    (remark,) = review("s", [definition])

    assert expected in remark


def test_parameters_without_a_description_are_one_remark_however_many_tools_have_them() -> None:
    remarks = review("s", [tool(f"convert{number}", x={"type": "string"}) for number in range(12)])

    assert len(remarks) == 1
    assert remarks[0].startswith("Parameters of 12 tools have no description: convert0, ")
    assert remarks[0].endswith(" and 2 more.")


def test_too_many_tools_are_remarked_on() -> None:
    assert "a lot for one prompt" in review("s", [tool(f"convert{number}") for number in range(60)])[-1]
