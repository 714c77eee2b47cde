"""The calls of a chat that a workflow repeats: those that were successful, each once."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from toolcrib.chats.turn import Turn, TurnCall
from toolcrib.errors import ToolcribError
from toolcrib.features.workflows.planner.draft import WorkflowDoubt
from toolcrib.features.workflows.tool_content import read_json
from toolcrib.graph.references import Path
from toolcrib.schema.tools import Tool, ToolDefinition

FindTool = Callable[[str], Tool]
"""Raises `UnknownTool`."""
_MOST_LEAVES = 20_000


@dataclass(frozen=True, kw_only=True)
class ChatCall:
    tool: str
    arguments: Mapping[str, Any]
    text: str
    """Its result."""
    data: Any = None
    """The result as JSON, if it is an object or a list."""
    asked: str = ""
    """Everything that the user wrote before the call."""

    @cached_property
    def leaves(self) -> tuple[tuple[Path, Any], ...]:
        """Every value in its data that is no object or list, with its place."""
        return tuple(_leaves(self.data))


def calls_of(
    turns: Sequence[Turn], *, ignored: Collection[str] = (), whole: Mapping[str, str] | None = None
) -> tuple[list[ChatCall], list[WorkflowDoubt]]:
    """The successful calls in their order, and a doubt for what was left out.

    `ignored` are tools of the chat itself; `whole` has the results of which the model was shown a part.
    """
    calls: list[ChatCall] = []
    failed: list[str] = []
    for call, asked in _calls(turns):
        if call.tool in ignored:
            continue
        if call.outcome == "ok":
            calls.append(_read(call, asked, whole or {}))
        else:
            failed.append(call.tool)
    doubts = [_left_out(failed, "did not succeed")] if failed else []
    return calls, doubts


def _calls(turns: Sequence[Turn]) -> Iterator[tuple[TurnCall, str]]:
    asked = ""
    for turn in turns:
        asked = f"{asked}\n{turn.text or ''}"
        for call in turn.calls:
            yield call, asked


def _read(call: TurnCall, asked: str, whole: Mapping[str, str]) -> ChatCall:
    text = call.text if call.cut is None else whole.get(call.cut.name, call.text)
    return ChatCall(tool=call.tool, arguments=call.arguments, text=text, data=read_json(text), asked=asked)


def _leaves(value: Any) -> Iterator[tuple[Path, Any]]:
    """Every value inside of JSON that is no object or list, with its place."""
    left: list[tuple[Path, Any]] = [((), value)]
    count = 0
    while left and count < _MOST_LEAVES:
        path, one = left.pop()
        if isinstance(one, Mapping):
            left += [((*path, str(key)), inner) for key, inner in reversed(list(one.items()))]
        elif isinstance(one, list):
            left += [((*path, index), inner) for index, inner in reversed(list(enumerate(one)))]
        elif one is not None:
            count += 1
            yield path, one


def without_repeats(
    calls: Sequence[ChatCall], find_tool: FindTool
) -> tuple[list[ChatCall], list[WorkflowDoubt]]:
    """Leaves out a call that was made before with the same arguments and had nothing new to find out.

    A call that changes something may be meant twice: it is only left out if it directly follows itself and
    had the same result.
    """
    kept: list[ChatCall] = []
    repeated: list[str] = []
    seen: dict[str, str] = {}
    for call in calls:
        key = json.dumps([call.tool, call.arguments], sort_keys=True, default=str)
        definition = definition_of(call.tool, find_tool)
        is_safe = definition is not None and definition.repeatable
        if key in seen and (is_safe or (kept[-1] == call and seen[key] == call.text)):
            repeated.append(call.tool)
            continue
        if definition is None or not definition.read_only:
            seen.clear()  # What was read before may be different now.
        seen[key] = call.text
        kept.append(call)
    return kept, [_left_out(repeated, "repeated earlier ones")] if repeated else []


def definition_of(tool: str, find_tool: FindTool) -> ToolDefinition | None:
    try:
        return find_tool(tool).definition
    except ToolcribError:
        return None


def _left_out(tools: Sequence[str], why: str) -> WorkflowDoubt:
    names = ", ".join(dict.fromkeys(tools))
    count = f"{len(tools)} calls were" if len(tools) > 1 else "1 call was"
    return WorkflowDoubt(node=None, message=f"{count} left out because they {why}: {names}.")
