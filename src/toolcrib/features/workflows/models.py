"""AI steps of workflows: an agent with chosen tools, a limit of calls, and an answer that fits a schema; how
often it may try, and the message after an answer that does not fit.

The calls that the model decided on and its answer are noted in the trace. A run that replays another one
makes the same calls and takes the same answer, without a model.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from toolcrib.agent import Agent
from toolcrib.agent.chat import Chat, ChatMetadata, Entry
from toolcrib.agent.ports import FoundTool, ToolFinder
from toolcrib.errors import CallFailed, NotFound, UsageError
from toolcrib.graph.node_type import ModelAnswer, ModelTask
from toolcrib.host import Host
from toolcrib.host.tool_selector import ToolSelector
from toolcrib.llm.model import CompletionRequest, Model, ModelEvent
from toolcrib.llm.pictures import read_picture
from toolcrib.schema.tools import Principal, Tool, ToolResult
from toolcrib.tools.ports import OnDecided, OnProgress

DECISION = "model_decision"
"""The kind of note about the calls and the answer of an AI step; an artifact has all of it."""
MOST_ANSWERS = 3
"""How often the model may answer until the answer fits the schema."""
WORKFLOWS = "workflows"
"""The inline server of workflows that are offered as tools."""
_FENCE = re.compile(r"^```(?:json)?\s*\n(.*?)\n?```\s*$", re.DOTALL)

CallTool = Callable[[str, Mapping[str, Any]], Awaitable[ToolResult]]
"""Calls a tool for the run, with its approvals."""


@dataclass
class RunCalls:
    """The `ToolCaller` of an agent in a run: calls as the run, counts, and notes each decision."""

    call_tool: CallTool
    most: int
    made: list[dict[str, Any]] = field(default_factory=list)

    async def call(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        principal: Principal = Principal(),  # noqa: B008 - the run's own is used
        timeout: float | None = None,
        on_progress: OnProgress | None = None,
        on_decided: OnDecided | None = None,
    ) -> ToolResult:
        if len(self.made) >= self.most:
            raise UsageError(
                f"All {self.most} calls of this step are used.", hint="Answer with what you have."
            )
        self.made.append({"tool": name, "arguments": dict(arguments or {})})
        return await self.call_tool(name, arguments or {})


class ChosenTools:
    """The `ToolFinder` of a step that names its tools."""

    def __init__(self, chosen: Sequence[Tool]) -> None:
        self._chosen = chosen

    def tools(self) -> Sequence[Tool]:
        return self._chosen

    async def choose(
        self, question: str, *, context: Sequence[str] = (), recent: Sequence[str] = ()
    ) -> tuple[list[FoundTool], str]:
        return [FoundTool(tool=tool, why="chosen in the workflow") for tool in self._chosen], ""

    async def search(self, query: str, limit: int) -> list[FoundTool]:
        return []


class SchemaModel:
    """A model that is asked for an answer in the form of a schema, if it can keep to one."""

    def __init__(self, model: Model, schema: Mapping[str, Any]) -> None:
        self._model = model
        self._schema = schema
        self.name = model.name
        self.form = model.form
        self.traits = model.traits
        self.close = model.close

    def stream(self, request: CompletionRequest) -> AsyncGenerator[ModelEvent, None]:
        return self._model.stream(replace(request, answer_schema=self._schema))


class UnstoredChats:
    """A `ChatStore` for one conversation that is kept in the trace of its run, not among the chats."""

    def __init__(self) -> None:
        self.busy: set[str] = set()

    async def create(self, model: str, *, title: str = "", entries: Sequence[Entry] = ()) -> Chat:
        now = datetime.now(UTC)
        info = ChatMetadata(id=secrets.token_hex(8), title=title, model=model, created=now, updated=now)
        return Chat(info, list(entries))

    async def load(self, chat: str) -> Chat:
        raise NotFound(f"There is no chat {chat!r}.")

    def append(self, chat: str, position: int, entry: Entry) -> None:
        pass

    def rewrite(self, chat: str, position: int, mark: str, entry: Entry) -> None:
        pass

    def change(self, info: ChatMetadata) -> None:
        pass

    async def flush(self) -> None:
        pass

    async def list(self, limit: int = 50) -> Sequence[ChatMetadata]:
        return []

    async def fork(self, chat: str, entries: int | None = None) -> Chat:
        raise NotFound(f"There is no chat {chat!r}.")


async def ask_model(
    host: Host, task: ModelTask, model: str | None, pictures: Sequence[bytes], call_tool: CallTool
) -> tuple[ModelAnswer, dict[str, Any]]:
    """The model's answer, and its decisions for the trace; raises `ModelError`, or `CallFailed`."""
    calls = RunCalls(call_tool, task.most_calls)
    agent = _agent(host, task, model, calls)
    images = [read_picture(data) for data in pictures]
    chat = await agent.chats.create(agent.model.name)
    ended = (await agent.ask(_prompt(task), chat=chat, images=images)).answer
    problem = ""
    for _ in range(MOST_ANSWERS):
        data, problem = _fitting(ended, task.answer_schema)
        if not problem:
            answer = ModelAnswer(text=ended, data=data, calls=len(calls.made))
            facts = {"model": agent.model.name, "text": ended, "data": data, "calls": calls.made}
            return answer, facts
        ended = (await agent.ask(_again(problem), chat=chat)).answer
    raise CallFailed(
        f"The answer of {agent.model.name} does not fit the schema: {problem}",
        hint="Describe the answer in the prompt, or use another model.",
    )


async def replay(decision: Mapping[str, Any], call_tool: CallTool) -> ModelAnswer:
    """Make the recorded calls again and return the recorded answer."""
    for call in decision.get("calls", ()):
        await call_tool(call["tool"], call["arguments"])
    return ModelAnswer(
        text=decision.get("text", ""), data=decision.get("data"), calls=len(decision.get("calls", ()))
    )


def _agent(host: Host, task: ModelTask, model: str | None, calls: RunCalls) -> Agent:
    agent = host.agent(model)
    # The last round offers no tools, and each of the others has at least one call.
    rounds = min(agent.settings.max_rounds, task.most_calls + 1)
    schema = task.answer_schema
    return replace(
        agent,
        model=agent.model if schema is None else SchemaModel(agent.model, schema),
        caller=calls,
        chats=UnstoredChats(),
        finder=_finder(host, task.tools),
        settings=agent.settings.replace(max_rounds=rounds),
        gate=None,
        user=None,
        stop=None,
        _running={},
        _turns={},
        _ending={},
    )


def _finder(host: Host, names: Sequence[str] | None) -> ToolFinder:
    if names is None:
        settings = lambda: host.settings.retrieval  # noqa: E731
        # Not workflows: one that calls itself would never end.
        offered = lambda: [tool for tool in host.answering_tools() if tool.server != WORKFLOWS]  # noqa: E731
        return ToolSelector(offered, host.toolset.finder, settings)
    known = host.toolset.registry
    return ChosenTools([known.resolve(name) for name in names])


def _prompt(task: ModelTask) -> str:
    if task.answer_schema is None:
        return task.prompt
    schema = json.dumps(task.answer_schema, ensure_ascii=False)
    form = "Answer with JSON only, without any other text. It must fit this JSON Schema:"
    return f"{task.prompt}\n\n{form}\n{schema}"


def _again(problem: str) -> str:
    return f"That answer does not fit the JSON Schema: {problem} Answer again, with JSON only."


def _fitting(text: str, schema: Mapping[str, Any] | None) -> tuple[Any, str]:
    """The data of an answer, or why it does not fit."""
    if schema is None:
        return None, ""
    import jsonschema_rs

    fenced = _FENCE.match(text.strip())
    try:
        data = json.loads(fenced[1] if fenced else text)
    except ValueError as error:
        return None, f"It is not JSON ({error})."
    for misfit in jsonschema_rs.validator_for(dict(schema)).iter_errors(data):
        where = "/".join(map(str, misfit.instance_path)) or "the answer"
        return None, f"{where}: {misfit.message[:300]}."
    return data, ""
