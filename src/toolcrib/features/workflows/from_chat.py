"""Makes the workflow of one chat, or of several that did the same with other values: which values become
inputs or references to earlier results (from which length on), which repeated calls are left out, and the
doubts.

It repeats the calls that were successful, each once, with references to earlier results and with inputs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

from pydantic import ValidationError

from toolcrib.agent.builtin_tools import NAMES
from toolcrib.agent.chat import Chat, FullResult
from toolcrib.chats.replay import replay
from toolcrib.chats.turn import Turn, TurnCall
from toolcrib.errors import ToolcribError, UsageError
from toolcrib.features.workflows.conversion import to_node
from toolcrib.features.workflows.graph.validation import validate
from toolcrib.features.workflows.planner.building import workflow_name
from toolcrib.features.workflows.planner.draft import WorkflowDoubt, free_id, valid_id
from toolcrib.features.workflows.tool_content import read_json
from toolcrib.graph.references import Path, Reference
from toolcrib.host import Host
from toolcrib.schema.tools import Tool, ToolDefinition
from toolcrib.schema.workflows import Edge, Node, Parameter, ParameterType, Workflow

FindTool = Callable[[str], Tool]
"""Raises `UnknownTool`."""
_MOST_LEAVES = 20_000

SHORTEST = 4
"""Characters of a value that can be recognised; shorter ones occur by chance."""
SHORTEST_PART = 8
"""Characters of a result inside of a longer text."""
_COMMON = frozenset(
    {"true", "false", "null", "none", "name", "text", "title", "type", "default", "utf-8", "main"}
)

MISSING = object()

_SECRET = re.compile(r"passw|secret|token|api_?key|credential|private_?key", re.IGNORECASE)
_TYPES: dict[type, ParameterType] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    list: "array",
    dict: "object",
}

LONG = 60
"""Characters of a text that only the model can have written."""


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
    for call, asked in _calls_of(turns):
        if call.tool in ignored:
            continue
        if call.outcome == "ok":
            calls.append(_read_call(call, asked, whole or {}))
        else:
            failed.append(call.tool)
    doubts = [_left_out(failed, "did not succeed")] if failed else []
    return calls, doubts


def _calls_of(turns: Sequence[Turn]) -> Iterator[tuple[TurnCall, str]]:
    asked = ""
    for turn in turns:
        asked = f"{asked}\n{turn.text or ''}"
        for call in turn.calls:
            yield call, asked


def _read_call(call: TurnCall, asked: str, whole: Mapping[str, str]) -> ChatCall:
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


@dataclass(frozen=True, kw_only=True)
class ResultPart:
    """A part of an earlier result."""

    call: int
    path: Path

    def reference(self, ids: Sequence[str]) -> str:
        return str(Reference(ids[self.call], self.path))

    def value(self, calls: Sequence[ChatCall]) -> Any:
        """The value at this place, also in another chat; None if it is missing."""
        call = calls[self.call]
        found: Any = {"text": call.text.strip(), "data": call.data}
        for part in self.path:
            found = _step(found, part)
        return found


def _step(value: Any, part: str | int) -> Any:
    if isinstance(value, Mapping):
        return value.get(part)
    is_index = isinstance(value, list) and isinstance(part, int) and part < len(value)
    return value[part] if is_index else None


def is_trivial(value: Any) -> bool:
    """Whether a value is too short or too common to say where it came from."""
    if value is None or isinstance(value, bool | dict | list):
        return True
    text = str(value).strip()
    return len(text) < SHORTEST or text.lower() in _COMMON


def find_origin(value: Any, calls: Sequence[ChatCall]) -> ResultPart | None:
    """The most specific place of exactly this value in the results, the latest result first."""
    if is_trivial(value):
        return None
    for number in range(len(calls) - 1, -1, -1):
        places = [path for path, leaf in calls[number].leaves if leaf == value and type(leaf) is type(value)]
        if places:
            return ResultPart(call=number, path=("data", *max(places, key=len)))
        if isinstance(value, str) and calls[number].text.strip() == value.strip():
            return ResultPart(call=number, path=("text",))
    return None


def find_parts(text: str, calls: Sequence[ChatCall]) -> list[tuple[str, ResultPart]]:
    """Results that occur inside of a text, the longest first and without overlaps."""
    found: list[tuple[str, ResultPart]] = []
    for number in range(len(calls) - 1, -1, -1):
        whole = calls[number].text.strip()
        candidates = [(whole, ResultPart(call=number, path=("text",)))]
        candidates += [
            (leaf, ResultPart(call=number, path=("data", *path)))
            for path, leaf in calls[number].leaves
            if isinstance(leaf, str)
        ]
        found += [
            candidate
            for candidate in candidates
            if len(candidate[0]) >= SHORTEST_PART and candidate[0] in text
        ]
    return _without_overlaps(text, sorted(found, key=lambda candidate: -len(candidate[0])))


def _without_overlaps(text: str, found: Sequence[tuple[str, ResultPart]]) -> list[tuple[str, ResultPart]]:
    kept: list[tuple[str, ResultPart]] = []
    for part, origin in found:
        if part in text:
            text = text.replace(part, "\0")
            kept.append((part, origin))
    return kept


def check_same_shape(chats: Sequence[Sequence[ChatCall]]) -> None:
    """Raises `UsageError` that says where chats differ in more than values."""
    first = [call.tool for call in chats[0]]
    for number, chat in enumerate(chats[1:], 2):
        tools = [call.tool for call in chat]
        if tools == first:
            continue
        place = next(
            (at for at, pair in enumerate(zip(first, tools, strict=False)) if pair[0] != pair[1]), None
        )
        at = min(len(first), len(tools)) if place is None else place
        names = [(sequence[at] if at < len(sequence) else "nothing") for sequence in (first, tools)]
        raise UsageError(
            f"The chats did different things: call {at + 1} is {names[0]} in the first chat and {names[1]} "
            f"in chat {number}.",
            hint="Make one workflow from each of them.",
        )


def value_at(value: Any, path: Path) -> Any:
    """A part of an argument; `MISSING` if there is none."""
    for part in path:
        is_key = isinstance(value, Mapping) and part in value
        is_index = isinstance(value, list) and isinstance(part, int) and part < len(value)
        if not is_key and not is_index:
            return MISSING
        value = value[part]
    return value


def varies(chats: Sequence[Sequence[ChatCall]], call: int, path: Path) -> bool:
    """Whether the value at this place of the arguments is not the same in all chats."""
    values = [value_at(chat[call].arguments, path) for chat in chats]
    return any(value != values[0] for value in values[1:])


def holds_everywhere(chats: Sequence[Sequence[ChatCall]], call: int, path: Path, origin: ResultPart) -> bool:
    """Whether the value came from the same place in every chat."""
    return all(value_at(chat[call].arguments, path) == origin.value(chat) for chat in chats)


def is_named(value: Any, asked: str) -> bool:
    """Whether the user wrote exactly this value."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return False
    text = str(value).strip()
    if len(text) < 2 and not isinstance(value, int):
        return False
    return re.search(rf"(?<![\w.]){re.escape(text)}(?!\w)", asked) is not None


def is_secret(name: str) -> bool:
    """Whether an argument of this name has a secret as its value."""
    return _SECRET.search(name) is not None


@dataclass
class Inputs:
    """The parameters so far; the same value of the same argument is one parameter."""

    found: dict[str, Parameter] = field(default_factory=dict)
    _by_value: dict[tuple[str, str], str] = field(default_factory=dict)

    def reference(self, node: str, argument: str, value: Any, *, description: str = "") -> str:
        """A reference to the parameter for this value."""
        key = (argument, repr(value))
        if key not in self._by_value:
            self._by_value[key] = self._add(node, argument, value, description)
        return f"{{{{input.{self._by_value[key]}}}}}"

    def _add(self, node: str, argument: str, value: Any, description: str) -> str:
        name = valid_id(argument)
        if name in self.found:
            name = free_id(valid_id(f"{node}_{argument}"), self.found)
        self.found[name] = self._parameter(argument, value, description)
        return name

    def _parameter(self, argument: str, value: Any, description: str) -> Parameter:
        kind = _TYPES[type(value)]
        if is_secret(argument):
            return Parameter(type=kind, description=description, secret=True)
        return Parameter(type=kind, description=description, required=False, default=value)


@dataclass(frozen=True, kw_only=True)
class FromChat:
    workflow: Workflow
    doubts: tuple[WorkflowDoubt, ...]


def workflow_of(
    chats: Sequence[Sequence[ChatCall]], *, name: str, find_tool: FindTool, description: str = ""
) -> FromChat:
    """The workflow of the last chat; what differs in the others is a parameter. Raises `UsageError`."""
    if not chats or not chats[-1]:
        raise UsageError(
            "The chat has no successful tool calls, so there is nothing to repeat.",
            hint="Choose a chat in which tools were called.",
        )
    check_same_shape(chats)
    return _Assembly(chats, find_tool).build(workflow_name(name), description)


@dataclass
class _Assembly:
    chats: Sequence[Sequence[ChatCall]]
    """The last one gives the values."""
    find_tool: FindTool
    inputs: Inputs = field(default_factory=Inputs)
    doubts: list[WorkflowDoubt] = field(default_factory=list)
    without: set[tuple[int, Path]] = field(default_factory=set)
    """Places whose references turned out to be wrong."""

    @property
    def calls(self) -> Sequence[ChatCall]:
        return self.chats[-1]

    def build(self, name: str, description: str) -> FromChat:
        workflow = self._assemble(name, description)
        wrong = self._unfit(workflow)
        if wrong:
            self.without, self.inputs, self.doubts = wrong, Inputs(), []
            workflow = self._assemble(name, description)
        return FromChat(workflow=workflow, doubts=tuple(self.doubts))

    def _assemble(self, name: str, description: str) -> Workflow:
        ids = self._ids()
        nodes = {ids[number]: self._node(number, ids) for number in range(len(self.calls))}
        edges = [Edge.model_validate({"from": one, "to": other}) for one, other in pairwise(ids)]
        self._suggest_maps(ids)
        last = nodes[ids[-1]].type == "McpToolCall"
        return Workflow(
            name=name,
            description=description,
            inputs=self.inputs.found,
            nodes=nodes,
            edges=tuple(edges),
            outputs={"result": f"{{{{{ids[-1]}.text}}}}"} if last else {},
        )

    def _ids(self) -> list[str]:
        ids: list[str] = []
        for call in self.calls:
            wanted = valid_id(call.tool.rpartition("__")[2])
            same = sum(known == wanted or known.startswith(f"{wanted}_") for known in ids)
            ids.append(wanted if wanted not in ids else f"{wanted[:60]}_{same + 1}")
        return ids

    def _node(self, number: int, ids: Sequence[str]) -> Node:
        call = self.calls[number]
        arguments = {
            key: self._value(number, ids, (key,), value, key) for key, value in call.arguments.items()
        }
        try:
            return to_node(call.tool, arguments, find_tool=self.find_tool)
        except (ToolcribError, ValidationError) as error:
            if isinstance(error, ToolcribError):
                self._doubt(ids[number], f"{error.message} Add its server before the workflow runs.")
            return Node(type="McpToolCall", settings={"tool": call.tool, "arguments": arguments})

    def _value(self, number: int, ids: Sequence[str], path: Path, value: Any, argument: str) -> Any:
        """The value, a reference to where it came from, or a parameter."""
        inner: Callable[[str | int, Any], Any] = lambda part, inner_value: self._value(  # noqa: E731
            number, ids, (*path, part), inner_value, part if isinstance(part, str) else argument
        )
        if isinstance(value, dict) and value:
            return {key: inner(key, inner_value) for key, inner_value in value.items()}
        if isinstance(value, list) and value and not varies(self.chats, number, path):
            return [inner(index, inner_value) for index, inner_value in enumerate(value)]
        return self._leaf(number, ids, path, value, argument)

    def _leaf(self, number: int, ids: Sequence[str], path: Path, value: Any, argument: str) -> Any:
        node, call, earlier = ids[number], self.calls[number], self.calls[:number]
        if is_secret(argument) and isinstance(value, str):
            self._doubt(node, f"{argument} looks like a secret; it is a required input and was not stored.")
            return self.inputs.reference(node, argument, value)
        origin = find_origin(value, earlier)
        if is_named(value, call.asked):
            if origin is not None:
                self._doubt(
                    node, f"{argument} is an input; it also occurs in the result of {ids[origin.call]}."
                )
            return self.inputs.reference(node, argument, value, description="Named in the chat.")
        if origin is not None and self._fits(number, path, origin):
            self._note_position(node, argument, origin, ids)
            return origin.reference(ids)
        if varies(self.chats, number, path):
            return self.inputs.reference(node, argument, value, description="Different in each chat.")
        return self._text(number, ids, path, value, argument) if isinstance(value, str) else value

    def _fits(self, number: int, path: Path, origin: ResultPart) -> bool:
        if (number, path) in self.without or self._is_other_data(origin):
            return False
        return holds_everywhere(self.chats, number, path, origin)

    def _is_other_data(self, origin: ResultPart) -> bool:
        """Whether a run gets structured data that cannot be what the text of the result shows."""
        definition = definition_of(self.calls[origin.call].tool, self.find_tool)
        has_object = definition is not None and "outputSchema" in definition.raw
        return has_object and origin.path[0] == "data" and isinstance(self.calls[origin.call].data, list)

    def _note_position(self, node: str, argument: str, origin: ResultPart, ids: Sequence[str]) -> None:
        index = next((part for part in origin.path if isinstance(part, int)), None)
        if index is not None:
            which = f"item {index + 1} of the result of {ids[origin.call]}"
            self._doubt(node, f"{argument} is {which}; check that it is always this one.")

    def _text(self, number: int, ids: Sequence[str], path: Path, value: str, argument: str) -> str:
        """A text with the results that occur in it as references."""
        parts = [] if (number, path) in self.without else find_parts(value, self.calls[:number])
        parts = [(part, origin) for part, origin in parts if not self._is_other_data(origin)]
        written = value.replace("{{", r"\{{")
        if len(self.chats) == 1:
            for part, origin in parts:
                written = written.replace(part.replace("{{", r"\{{"), origin.reference(ids))
        if len(value) > LONG and written == value.replace("{{", r"\{{"):
            self._doubt(ids[number], f"{argument} was written by the model and stays the same in every run.")
        return written

    def _suggest_maps(self, ids: Sequence[str]) -> None:
        tools = [call.tool for call in self.calls]
        for tool in dict.fromkeys(tools):
            if tools.count(tool) >= 3:
                first = ids[tools.index(tool)]
                self._doubt(
                    first, f"{tool} was called {tools.count(tool)} times; a Map could repeat it for a list."
                )

    def _unfit(self, workflow: Workflow) -> set[tuple[int, Path]]:
        """Places with references that the types of the results do not allow."""
        found = validate(workflow, find_tool=self.find_tool)
        wrong = {problem.node for problem in found if not problem.warning and "{{" in problem.message}
        numbers = [number for number, node in enumerate(workflow.nodes) if node in wrong]
        return {(number, path) for number in numbers for path in _paths(self.calls[number].arguments)}

    def _doubt(self, node: str | None, message: str) -> None:
        doubt = WorkflowDoubt(node=node, message=message)
        if doubt not in self.doubts:
            self.doubts.append(doubt)


def _paths(value: Any, path: Path = ()) -> list[Path]:
    if isinstance(value, dict):
        return [inner for key, inner_value in value.items() for inner in _paths(inner_value, (*path, key))]
    if isinstance(value, list):
        return [
            inner for index, inner_value in enumerate(value) for inner in _paths(inner_value, (*path, index))
        ]
    return [path]


async def workflow_from_chats(host: Host, chats: Sequence[str], *, name: str | None = None) -> FromChat:
    """The workflow of the last chat, in which the values that differ in the others are inputs.

    Raises `NotFound`, and `UsageError` if the chats did different things.
    """
    found = [await host.chats.store.load(chat) for chat in dict.fromkeys(chats)]
    read = [await _calls(host, chat) for chat in found]
    title = found[-1].info.title
    made = workflow_of(
        [calls for calls, _ in read],
        name=name or title or f"chat-{found[-1].id}",
        description=title,
        find_tool=host.toolset.registry.resolve,
    )
    return FromChat(workflow=made.workflow, doubts=(*read[-1][1], *made.doubts))


async def _calls(host: Host, chat: Chat) -> tuple[list[ChatCall], list[WorkflowDoubt]]:
    entries = await host.chats.rows.read(chat.id)
    whole = {entry.name: entry.text for entry in chat.entries if isinstance(entry, FullResult)}
    calls, failed = calls_of(replay(entries), ignored=NAMES, whole=whole)
    kept, repeated = without_repeats(calls, host.toolset.registry.resolve)
    return kept, [*failed, *repeated]
