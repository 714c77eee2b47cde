"""Operations return dataclasses; callers get JSON, and the client's types and schemas agree."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from pydantic import TypeAdapter

from toolcrib.operations.operation import Invocation, operation
from toolcrib.schema.json_values import OMITTED, to_json
from toolcrib.web.contract import Schemas


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True, kw_only=True)
class Part:
    """A part."""

    name: str
    hint: str = field(default="", metadata=OMITTED)


@dataclass(frozen=True, kw_only=True)
class Whole:
    """A whole with parts."""

    parts: tuple[Part, ...]
    colour: Colour = Colour.RED
    made: datetime | None = None


WHOLE = Whole(
    parts=(Part(name="a"), Part(name="b", hint="turn it")),
    made=datetime(2026, 1, 2, 3, 4, 5, 678900, UTC),
)
WRITTEN = {
    "parts": [{"name": "a"}, {"name": "b", "hint": "turn it"}],
    "colour": "red",
    "made": "2026-01-02T03:04:05.678+00:00",
}


@operation()
async def make(host: object, invocation: Invocation[Part]) -> dict[str, list[Whole]]:
    """Make one."""
    await invocation.emit(WHOLE.parts[1])
    return {"made": [WHOLE]}


@operation()
async def pass_on(host: object, value: Any) -> Any:
    """Return what is given."""
    return value


async def test_the_result_and_the_events_of_an_operation_are_json() -> None:
    events = []

    async def emit(event: object) -> None:
        events.append(event)

    result = await make.run(None, make.read({}), Invocation(emit=emit))

    assert result == {"made": [WRITTEN]}
    assert events == [{"name": "b", "hint": "turn it"}]


async def test_a_result_without_dataclasses_is_not_copied() -> None:
    value = {"content": [{"type": "text"}]}

    params = pass_on.read({"value": value})
    result = await pass_on.run(None, params, Invocation())

    assert result is params.value


def test_the_schema_describes_what_is_written() -> None:
    schema = TypeAdapter(Whole).json_schema(mode="serialization", schema_generator=Schemas)

    assert to_json(WHOLE) == WRITTEN
    assert schema["required"] == ["parts", "colour", "made"]
    assert schema["properties"]["colour"]["enum"] == ["red", "blue"]
    assert schema["properties"]["made"]["anyOf"] == [{"type": "string"}, {"type": "null"}]
    assert schema["$defs"]["Part"]["required"] == ["name"]
