"""Functions as tools: what is shown of them, what they are called with, and what becomes of what they do."""

from __future__ import annotations

import asyncio
import base64
import dataclasses
import datetime
import enum
import sys
import threading
from pathlib import Path
from typing import Annotated, Any, Literal, TypedDict

import pytest
import typing_extensions
from pydantic import BaseModel, Field

from toolcrib.errors import UsageError
from toolcrib.serverkit.arguments import Parameter, _by_hand, _by_pydantic, plain
from toolcrib.serverkit.context import ToolContext, ToolFailure
from toolcrib.serverkit.functions import FunctionTool
from toolcrib.serverkit.results import Audio, Image


class Point(BaseModel):
    x: int
    y: int = 0


class Colour(enum.Enum):
    RED = "red"


@dataclasses.dataclass
class Weather:
    place: str
    degrees: float


class Person(TypedDict):
    name: str
    age: Annotated[int, "In years"]


class Node(typing_extensions.TypedDict):
    children: list[Node]


class PlainNode(TypedDict):
    children: list[PlainNode]


def text_of(result: dict[str, Any]) -> str:
    return str(result["content"][0]["text"])


async def called(function: Any, /, **arguments: Any) -> dict[str, Any]:
    return await FunctionTool.from_function(function).call(arguments)


def greet(
    name: Annotated[str, "Whom to greet"],
    times: Annotated[int, Field(description="How often")] = 1,
    loud: bool = False,
) -> str:
    """Greet someone.

    As often as you like.
    """
    return " ".join([f"Hello {name}{'!' if loud else ''}"] * times)


def test_a_definition_is_read_from_the_signature_and_the_docstring() -> None:
    tool = FunctionTool.from_function(greet, title="Greet", read_only=True, idempotent=True, open_world=False)
    assert tool.definition == {
        "name": "greet",
        "title": "Greet",
        "description": "Greet someone.\n\nAs often as you like.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "name": {"type": "string", "description": "Whom to greet"},
                "times": {"type": "integer", "description": "How often", "default": 1},
                "loud": {"type": "boolean", "default": False},
            },
            "required": ["name"],
            "additionalProperties": False,
        },
        "annotations": {
            "title": "Greet",
            "readOnlyHint": True,
            "destructiveHint": False,
            "idempotentHint": True,
            "openWorldHint": False,
        },
    }


def test_name_description_and_destructiveness_can_be_told() -> None:
    tool = FunctionTool.from_function(greet, name="hail", description="Other words.", destructive=True)
    assert (tool.name, tool.definition["description"]) == ("hail", "Other words.")
    assert tool.definition["annotations"] == {"readOnlyHint": False, "destructiveHint": True}


@pytest.mark.parametrize(
    "hint",
    [
        str,
        int,
        float,
        bool,
        Any,
        list,
        dict,
        list[int],
        dict[str, float],
        str | None,
        int | str | list[bool],
        Literal["a"],
        Literal["a", "b"],
        dict[str, list[str | None]],
    ],
    ids=str,
)
def test_the_light_way_and_pydantic_agree(hint: Any) -> None:
    parameters = [Parameter("p", hint, "Words"), Parameter("q", int, "", 3)]
    described = plain(hint)
    number = plain(int)
    assert described is not None
    assert number is not None
    light_schema, light_check = _by_hand(parameters, [described, number])
    heavy_schema, heavy_check = _by_pydantic(parameters)
    assert light_schema == heavy_schema
    for value in ("a", "1", 1, 1.5, True, None, ["x"], [1], {"k": 1}, {"k": ["x", None]}, "nan"):
        assert outcome(light_check, {"p": value}) == outcome(heavy_check, {"p": value, "q": 3}), value


def outcome(check: Any, arguments: dict[str, Any]) -> Any:
    try:
        checked = check(arguments)
    except ValueError as error:
        return [(each["loc"], each["msg"]) for each in error.errors()]  # type: ignore[attr-defined]
    return checked["p"], type(checked["p"])


async def test_models_enums_dates_and_constraints_come_as_themselves() -> None:
    def seen(
        point: Point,
        colour: Colour,
        day: datetime.date,
        count: Annotated[int, Field(ge=1)] = 1,
        copy: str = "",
    ) -> str:
        return f"{point!r} {colour!r} {day!r} {count} {copy}"

    result = await called(seen, point={"x": "3"}, colour="red", day="2026-01-02", copy="c")
    assert text_of(result) == "Point(x=3, y=0) <Colour.RED: 'red'> datetime.date(2026, 1, 2) 1 c"
    schema = FunctionTool.from_function(seen).definition["inputSchema"]
    assert schema["properties"]["count"] == {"type": "integer", "minimum": 1, "default": 1}
    assert schema["$defs"]["Point"]["properties"]["x"]["type"] == "integer"


async def test_a_type_that_contains_itself_can_be_a_parameter() -> None:
    def count(node: Node) -> int:
        return 1 + sum(map(count, node["children"]))

    assert text_of(await called(count, node={"children": [{"children": []}, {"children": []}]})) == "3"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({}, "name: is required"),
        ({"name": 5}, "name: Input should be a valid string"),
        ({"name": "x", "times": "many"}, "times: Input should be a valid integer"),
        ({"name": "x", "nmae": 1}, "nmae: unknown parameter"),
    ],
)
async def test_a_wrong_argument_is_named_and_what_the_tool_takes_is_listed(
    arguments: dict[str, Any], told: str
) -> None:
    for function in (greet, lambda_with_model):
        result = await FunctionTool.from_function(function, name="greet").call(arguments)
        assert result["isError"] is True
        assert told in text_of(result)
        assert "Parameters: name, times (optional)" in text_of(result)


def lambda_with_model(name: str, times: int = 1, point: Point | None = None) -> str:
    return name


async def test_a_wrong_value_is_not_repeated() -> None:
    assert "hunter2" not in text_of(await called(greet, name=["hunter2"], times="hunter2"))


@pytest.mark.parametrize("text", ["nan", "inf", "-Infinity", float("inf"), float("nan")])
async def test_what_is_no_finite_number_is_refused(text: Any) -> None:
    def half(number: float) -> float:
        return number / 2

    assert "number: Input should be a finite number" in text_of(await called(half, number=text))


def test_a_signature_that_cannot_be_a_tools_is_refused_with_a_reason() -> None:
    def anything(*values: int) -> None: ...

    def unknown(value: "Missing") -> None: ...  # type: ignore[name-defined]  # noqa: F821, UP037

    def threaded(value: threading.Thread) -> None: ...

    def nested(value: PlainNode) -> None: ...

    cases = ((anything, "values"), (unknown, "Missing"), (threaded, "Thread"), (nested, "typing_extensions"))
    for function, reason in cases:
        with pytest.raises(UsageError, match=reason):
            FunctionTool.from_function(function)


@pytest.mark.parametrize(
    ("value", "content"),
    [
        ("text", [{"type": "text", "text": "text"}]),
        (None, []),
        (3, [{"type": "text", "text": "3"}]),
        ([1, 2], [{"type": "text", "text": "[1,2]"}]),
        (["a", "b"], [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]),
        (Path("x/y"), [{"type": "text", "text": '"x/y"'}]),
        (
            Image(b"png", "image/png"),
            [{"type": "image", "data": base64.b64encode(b"png").decode(), "mimeType": "image/png"}],
        ),
        ((b"gif", "image/gif"), [{"type": "image", "data": "Z2lm", "mimeType": "image/gif"}]),
        (Audio(b"wav"), [{"type": "audio", "data": "d2F2", "mimeType": "audio/wav"}]),
        (
            ["see", Image(b"png")],
            [
                {"type": "text", "text": "see"},
                {"type": "image", "data": "cG5n", "mimeType": "image/png"},
            ],
        ),
        (
            {"type": "resource_link", "uri": "file:///x", "name": "x"},
            [{"type": "resource_link", "uri": "file:///x", "name": "x"}],
        ),
    ],
)
async def test_each_kind_of_value_becomes_content(value: Any, content: list[Any]) -> None:
    def give() -> Any:
        return value

    assert await called(give) == {"content": content, "isError": False}


@pytest.mark.parametrize(
    ("value", "structured"),
    [
        ({"a": 1, "when": datetime.date(2026, 1, 2)}, {"a": 1, "when": "2026-01-02"}),
        (Point(x=1), {"x": 1, "y": 0}),
        (Weather("Bern", 3.5), {"place": "Bern", "degrees": 3.5}),
        ({"type": "text", "colour": "red"}, {"type": "text", "colour": "red"}),
        ({"bad": float("nan")}, {"bad": None}),
    ],
)
async def test_objects_become_structured_content_with_their_json_as_text(value: Any, structured: Any) -> None:
    def give() -> Any:
        return value

    result = await called(give)
    assert result["structuredContent"] == structured
    assert text_of(result).startswith("{")


async def test_a_ready_result_passes_unchanged() -> None:
    ready = {"content": [{"type": "text", "text": "x"}], "structuredContent": {"a": 1}, "_meta": {"k": "v"}}

    def give() -> Any:
        return ready

    assert await called(give) == ready


def test_an_output_schema_is_shown_for_objects_with_known_fields() -> None:
    def person() -> Person: ...  # type: ignore[empty-body]

    def point() -> Point: ...  # type: ignore[empty-body]

    def weather() -> Weather: ...  # type: ignore[empty-body]

    def text() -> str: ...  # type: ignore[empty-body]

    def picture() -> Image: ...  # type: ignore[empty-body]

    def shown(function: Any) -> Any:
        return FunctionTool.from_function(function).definition.get("outputSchema")

    assert shown(person) == {
        "type": "object",
        "properties": {"name": {"type": "string"}, "age": {"type": "integer", "description": "In years"}},
        "required": ["name", "age"],
    }
    assert shown(point)["properties"].keys() == {"x", "y"}
    assert shown(weather)["required"] == ["place", "degrees"]
    assert shown(text) is None
    assert shown(picture) is None


async def test_the_context_is_handed_over_and_not_shown() -> None:
    heard: list[Any] = []

    def work(steps: int, context: ToolContext) -> str:
        context.progress(1, steps, "one")
        context.log("warning", {"a": 1})
        return threading.current_thread().name

    async def work_async(context: ToolContext) -> str:
        context.progress(2)
        return "ok"

    context = ToolContext(lambda *report: heard.append(report), lambda *report: heard.append(report))
    tool = FunctionTool.from_function(work)
    assert list(tool.definition["inputSchema"]["properties"]) == ["steps"]
    assert text_of(await tool.call({"steps": 4}, context)) != threading.main_thread().name
    await FunctionTool.from_function(work_async).call({}, context)
    assert heard == [(1, 4, "one"), ("warning", {"a": 1}), (2, None, None)]
    assert (await tool.call({"steps": 4}))["isError"] is False


async def test_a_blocking_function_runs_beside_the_loop_and_a_quick_one_in_it() -> None:
    def where() -> str:
        return str(threading.current_thread() is threading.main_thread())

    assert text_of(await FunctionTool.from_function(where).call({})) == "False"
    assert text_of(await FunctionTool.from_function(where, quick=True).call({})) == "True"


@pytest.mark.parametrize("quick", [True, False])
async def test_whatever_a_tool_raises_becomes_an_error_for_the_model(quick: bool) -> None:
    def fail() -> None:
        raise ToolFailure("No.", "Do this.")

    def crash() -> None:
        raise KeyError("k")

    def leave() -> None:
        sys.exit(1)

    async def leave_async() -> None:
        sys.exit(1)

    async def stop() -> None:
        raise asyncio.CancelledError

    cases: list[tuple[Any, str]] = [(fail, "No.\nDo this."), (crash, "crash failed: KeyError: 'k'")]
    cases += [(leave, "exit"), (leave_async, "exit")]
    cases += [] if quick else [(stop, "cancelled")]
    for function, told in cases:
        result = await FunctionTool.from_function(function, quick=quick).call({})
        assert result["isError"] is True
        assert told.lower() in text_of(result).lower()


async def test_a_cancelled_caller_stops_its_coroutine_and_is_free() -> None:
    events: list[str] = []
    began = asyncio.Event()

    async def work() -> None:
        began.set()
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            events.append("cleaned up")

    call = asyncio.create_task(FunctionTool.from_function(work).call({}))
    await began.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert events == ["cleaned up"]


async def test_a_cancelled_caller_leaves_a_blocked_thread_behind_at_once() -> None:
    began, release, ended = asyncio.Event(), threading.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    def block() -> None:
        loop.call_soon_threadsafe(began.set)
        release.wait()
        ended.set()

    call = asyncio.create_task(FunctionTool.from_function(block).call({}))
    await began.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert not ended.is_set()
    release.set()
    assert await asyncio.to_thread(ended.wait, 10)


async def test_threads_of_a_tool_that_never_returns_do_not_pile_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolcrib.serverkit.functions.MAX_CALLS_AT_ONCE", 2)
    release = threading.Event()

    def block() -> str:
        release.wait()
        return "done"

    tool = FunctionTool.from_function(block)
    running = [asyncio.create_task(tool.call({})) for _ in range(2)]
    await asyncio.sleep(0)
    assert "still running" in text_of(await tool.call({}))
    release.set()
    assert [text_of(result) for result in await asyncio.gather(*running)] == ["done", "done"]
    assert text_of(await tool.call({})) == "done"


async def test_a_system_out_of_threads_is_an_error_and_costs_no_slot(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolcrib.serverkit.functions.MAX_CALLS_AT_ONCE", 1)
    tool = FunctionTool.from_function(greet)

    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        for _ in range(3):
            assert "cannot start another thread" in text_of(await tool.call({"name": "x"}))
    assert text_of(await tool.call({"name": "x"})) == "Hello x"
