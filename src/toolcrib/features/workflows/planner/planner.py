"""Turns a request into a valid workflow: asks a model, repairs and validates its answer, and asks again.
Decides tries, timeout, most tools, how JSON is found in an answer, and the error if there is no valid plan.

Planning never calls a tool.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from toolcrib.errors import ModelError, ModelUnreachable, PlanRefused, UsageError
from toolcrib.features.workflows.graph.node_types import node_types
from toolcrib.features.workflows.planner import prompt
from toolcrib.features.workflows.planner.building import build
from toolcrib.features.workflows.planner.catalog import PlannerCatalog
from toolcrib.features.workflows.planner.draft import (
    WorkflowChanges,
    WorkflowDoubt,
    WorkflowDraft,
    differences,
)
from toolcrib.features.workflows.planner.prompt import fitting
from toolcrib.features.workflows.planner.reading import patched, read_workflow
from toolcrib.host import Host
from toolcrib.llm.json_values import decode
from toolcrib.llm.model import CompletionRequest, Finished, Model
from toolcrib.schema.messages import FromModel, FromUser, Message, Text, Usage
from toolcrib.schema.tools import Tool, ToolDefinition
from toolcrib.schema.workflows import Workflow, WorkflowProblem
from toolcrib.tools.scanner import scan

LONGEST = 1_000_000
"""Characters of an answer that are read."""
_MOST_TRIES = 5
_MOST_COMMENTS = 200
_THINKING = re.compile(r"<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_STRING = r'"(?:\\.|[^"\\])*"'
_NOT_JSON = re.compile(
    rf"(?P<string>{_STRING})|(?P<dropped>//[^\n]*|/\*.*?\*/|,(?=\s*[}}\]]))|(?P<word>\b(?:True|False|None)\b)",
    re.DOTALL,
)
_WORDS = {"True": "true", "False": "false", "None": "null"}
_TOKEN = re.compile(rf'{_STRING}|[{{}}]|"', re.DOTALL)

_MOST_KNOWN = 10_000
_known: dict[tuple[str, str, frozenset[str]], tuple[str, ...]] = {}
"""Findings by tool, definition and the names of all tools: a scan takes milliseconds."""

TIMEOUT = 180.0
"""Seconds for one answer."""

REPAIRS = 3
"""How often problems go back to the model."""
MOST_TOOLS = 30
TOOL_TOKENS = 8000
LONGEST_REQUEST = 20_000
_LONGEST_QUOTE = 300
_LONGEST_ANSWER = 60_000
"""Characters of an answer that the model is shown again."""


class NoJson(ValueError):
    """The text has no JSON object; its message says what is wrong, for the model."""


def read_object(text: str, *, cut: bool = False) -> dict[str, Any]:
    """The largest JSON object of a text; `cut` if the model reached its output limit."""
    if cut:
        raise NoJson(
            "The answer was cut off by the output limit. Answer again, shorter, with the whole object."
        )
    text = _THINKING.sub("", text[:LONGEST]).strip()
    if not text:
        raise NoJson("The answer was empty.")
    reasons: list[str] = []
    found = [value for part in _objects(text) if (value := _parse(part, reasons)) is not None]
    if found:
        return max(found, key=lambda value: len(str(value)))
    if reasons:
        raise NoJson(f"The JSON is not valid: {reasons[0]}.")
    raise NoJson("The JSON object has no end." if "{" in text else "The answer has no JSON object.")


def _objects(text: str) -> Iterator[str]:
    """Every outermost part between matching braces, in one pass over the text."""
    start = text.find("{")
    for _ in range(_MOST_TRIES):
        if start < 0:
            return
        spans, stopped = _spans(text, start)
        yield from (text[first:last] for first, last in spans)
        start = -1 if stopped is None else text.find("{", stopped)


def _spans(text: str, start: int) -> tuple[list[tuple[int, int]], int | None]:
    """Where complete objects begin and end, and where a string without an end stopped the search.

    Braces in strings do not count.
    """
    opened: list[int] = []
    spans: list[tuple[int, int]] = []
    for token in _TOKEN.finditer(text, start):
        if token[0] == '"':
            return spans, token.end()
        if token[0] == "{":
            opened.append(token.start())
        elif token[0] == "}" and opened:
            first = opened.pop()
            while spans and spans[-1][0] > first:
                spans.pop()  # It is inside of this one.
            spans.append((first, token.end()))
    return spans, None


def _parse(text: str, reasons: list[str]) -> dict[str, Any] | None:
    try:
        found = decode(text)
    except ValueError:
        try:
            found = decode(_relaxed(text))
        except ValueError as error:
            reasons.append(str(error))
            return None
    return found if isinstance(found, dict) else None


def _relaxed(text: str) -> str:
    """The text without comments and trailing commas, and with the constants of JSON."""
    if text.count("/*") > _MOST_COMMENTS:  # Each one without an end is searched for to the end of the text.
        return text
    without_comments = _NOT_JSON.sub(_strict, text)
    return _NOT_JSON.sub(_strict, without_comments)  # A comma may have been followed by a comment.


def _strict(found: re.Match[str]) -> str:
    if found["string"] is not None:
        return found["string"]
    return _WORDS[found["word"]] if found["word"] else ""


def screened(tools: Sequence[Tool], among: Sequence[Tool]) -> tuple[list[Tool], list[WorkflowDoubt]]:
    """The tools as they can be shown to a model, and what was left out; `among` are all tools."""
    names = frozenset(name for tool in among for name in (tool.name, tool.definition.name))
    shown: list[Tool] = []
    doubts: list[WorkflowDoubt] = []
    for tool in tools:
        found = _findings(tool, among, names)
        shown.append(_without_texts(tool) if found else tool)
        if found:
            message = f"The model did not see the description of {tool.name}: {found[0]}"
            doubts.append(WorkflowDoubt(node=None, message=message))
    return shown, doubts


def _findings(tool: Tool, among: Sequence[Tool], names: frozenset[str]) -> tuple[str, ...]:
    key = (tool.name, tool.hash, names)
    if key not in _known:
        if len(_known) >= _MOST_KNOWN:
            _known.clear()
        mine = [other for other in among if other.server == tool.server]
        own = {name for other in mine for name in (other.name, other.definition.name)}
        _known[key] = tuple(scan(tool.definition.raw, own=own, others=names - own))
    return _known[key]


def _without_texts(tool: Tool) -> Tool:
    raw = {**tool.definition.raw, "description": "", "inputSchema": _plain(tool.definition.input_schema)}
    raw.pop("outputSchema", None)
    return replace(tool, definition=ToolDefinition(name=tool.definition.name, raw=raw))


def _plain(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The names and types of the arguments."""
    properties = schema.get("properties")
    types = (
        {name: _type(given) for name, given in properties.items()} if isinstance(properties, Mapping) else {}
    )
    return {"type": "object", "properties": types, "required": schema.get("required", [])}


def _type(schema: object) -> dict[str, Any]:
    kind = schema.get("type") if isinstance(schema, Mapping) else None
    return {"type": kind} if isinstance(kind, str) else {}


class PlanningModel:
    """A model that is asked for JSON; remembers if its server rejects structured answers."""

    def __init__(self, model: Model, schema: Mapping[str, Any], *, timeout: float = TIMEOUT) -> None:
        self.name = model.name
        self._model = model
        self._schema: Mapping[str, Any] | None = schema
        self._timeout = timeout

    async def ask(self, system: str, messages: Sequence[Message]) -> Finished:
        """Raises `ModelError`."""
        if self._schema is not None and not (await self._model.traits()).structured:
            self._schema = None
        request = CompletionRequest(messages=messages, system=system, answer_schema=self._schema)
        try:
            return await self._answer(request)
        except ModelError as error:
            # A server with a compatible protocol may not know structured answers.
            if self._schema is None or type(error) is not ModelError:
                raise
        self._schema = None
        return await self._answer(replace(request, answer_schema=None))

    async def _answer(self, request: CompletionRequest) -> Finished:
        try:
            async with asyncio.timeout(self._timeout), aclosing(self._model.stream(request)) as events:
                async for event in events:
                    if isinstance(event, Finished):
                        return event
        except TimeoutError:
            raise ModelUnreachable(
                f"{self.name} did not answer within {self._timeout:g} seconds.",
                hint="Try again, or choose another model.",
            ) from None
        raise ModelError(f"{self.name} ended without an answer.")


class ToolSelection(Protocol):
    """Finds the tools for a request."""

    def tools(self) -> Sequence[Tool]:
        """All enabled tools."""

    async def select(self, request: str, most: int) -> Sequence[Tool]:
        """The tools that fit a request, best first."""


@dataclass(frozen=True, kw_only=True)
class WorkflowPlan:
    """A valid workflow for a request."""

    workflow: Workflow
    changes: WorkflowChanges
    """What is new, or different from the current workflow."""
    doubts: tuple[WorkflowDoubt, ...]
    """What was corrected or assumed, for the user to check."""
    offered: tuple[str, ...]
    """The tools that the model could choose from."""
    requests: int
    """How often the model was asked."""
    model: str
    usage: Usage = field(default_factory=Usage)


@dataclass(kw_only=True)
class _Talk:
    """What was said to the model and what it answered."""

    messages: list[Message]
    usage: Usage = field(default_factory=Usage)
    requests: int = 0

    def heard(self, answer: Finished) -> None:
        self.requests += 1
        self.usage += answer.usage
        text = answer.message.text.strip()
        if text:
            self.messages.append(FromModel(parts=(Text(text[:_LONGEST_ANSWER]),)))

    def say(self, text: str) -> None:
        self.messages.append(FromUser(parts=(Text(text),)))


@dataclass(frozen=True, kw_only=True)
class _Attempt:
    workflow: Workflow | None = None
    doubts: tuple[WorkflowDoubt, ...] = ()
    problems: tuple[WorkflowProblem, ...] = ()


class Planner:
    """Plans workflows with one model."""

    def __init__(
        self,
        model: Model,
        tools: ToolSelection,
        *,
        workflows: Mapping[str, Workflow] | None = None,
        repairs: int = REPAIRS,
        timeout: float = TIMEOUT,
    ) -> None:
        self._model = model
        self._tools = tools
        self._workflows = workflows or {}
        self._repairs = repairs
        self._timeout = timeout

    async def plan(self, request: str, current: Workflow | None = None) -> WorkflowPlan:
        """A workflow for the request, or the current one changed; raises `PlanRefused` and `ModelError`."""
        request = _checked(request)
        offered, doubts = screened(await self._offer(request), self._tools.tools())
        catalog = self._catalog(offered, current)
        system = prompt.system_prompt(catalog, offered, is_edit=current is not None)
        schema = prompt.PLAN if current is None else prompt.EDIT
        model = PlanningModel(self._model, schema, timeout=self._timeout)
        talk = _Talk(messages=[FromUser(parts=(Text(prompt.request_message(request, current)),))])
        while True:
            answer = await model.ask(system, tuple(talk.messages))
            talk.heard(answer)
            attempt = _attempt(answer, catalog, request, current)
            if attempt.workflow is not None:
                return WorkflowPlan(
                    workflow=attempt.workflow,
                    changes=differences(current, attempt.workflow),
                    doubts=(*doubts, *attempt.doubts),
                    offered=tuple(tool.name for tool in offered),
                    requests=talk.requests,
                    model=self._model.name,
                    usage=talk.usage,
                )
            if talk.requests > self._repairs:
                raise _refused(attempt.problems, talk, answer)
            talk.say(prompt.repair_message(attempt.problems, is_edit=current is not None))

    async def _offer(self, request: str) -> list[Tool]:
        """The best tools, as many as fit; all of them if there are few."""
        context = (await self._model.traits()).context_tokens
        found = list(await self._tools.select(request, MOST_TOOLS))
        known = self._tools.tools()
        if len(known) <= MOST_TOOLS:
            found += [tool for tool in known if tool not in found]
        return fitting(found, min(TOOL_TOKENS, context // 4))

    def _catalog(self, offered: Sequence[Tool], current: Workflow | None) -> PlannerCatalog:
        used = [] if current is None else [node.settings.get("tool") for node in current.nodes.values()]
        known = [tool for tool in self._tools.tools() if tool.name in used]
        tools = {tool.name: tool for tool in (*offered, *known)}
        return PlannerCatalog(types=node_types(), tools=tools, workflows=self._workflows)


def _checked(request: str) -> str:
    text = request.strip()
    if not text or len(text) > LONGEST_REQUEST:
        what = "is empty" if not text else f"is longer than {LONGEST_REQUEST:,} characters"
        raise UsageError(f"The request {what}.", hint="Say in a few sentences what the workflow should do.")
    return text


def _attempt(answer: Finished, catalog: PlannerCatalog, request: str, current: Workflow | None) -> _Attempt:
    """What one answer comes to; raises `PlanRefused` if the model refuses."""
    if answer.reason in ("refused", "filtered"):
        raise PlanRefused(
            f"The model refused: {_quoted(answer.message.text) or answer.detail or 'no reason'}."
        )
    try:
        found = read_object(answer.message.text, cut=answer.reason == "length")
    except NoJson as error:
        return _Attempt(problems=(WorkflowProblem(node=None, message=str(error)),))
    draft = _draft(found, current)
    workflow, problems = build(draft, catalog, request, current)
    if workflow is not None and workflow == current:
        problems = [WorkflowProblem(node=None, message="The patch changes nothing.")]
        return _Attempt(problems=tuple(problems))
    return _Attempt(workflow=workflow, doubts=tuple(draft.doubts), problems=tuple(problems))


def _draft(answer: Mapping[str, Any], current: Workflow | None) -> WorkflowDraft:
    refusal = answer.get("refusal")
    if (
        isinstance(refusal, str)
        and refusal.strip()
        and not answer.get("workflow")
        and not answer.get("patch")
    ):
        raise PlanRefused(f"The model cannot plan this: {_quoted(refusal)}", hint=_REFUSED_HINT)
    if current is not None:
        patch = answer.get("patch", answer)
        return patched(current, patch if isinstance(patch, Mapping) else {})
    workflow = answer.get("workflow", answer)
    return read_workflow(workflow if isinstance(workflow, Mapping) else {})


_REFUSED_HINT = "Add the servers that it needs, or say the request in another way."


def _refused(problems: Sequence[WorkflowProblem], talk: _Talk, answer: Finished) -> PlanRefused:
    first = problems[0]
    where = f"node {first.node}: " if first.node else ""
    more = f" ({len(problems) - 1} more problems)" if len(problems) > 1 else ""
    said = _quoted(answer.message.text)
    quote = f" The model wrote: {said}" if said and "{" not in answer.message.text else ""
    return PlanRefused(
        f"The model gave no valid workflow in {talk.requests} attempts. {where}{first.message}{more}{quote}",
        hint="Say the request more exactly, in smaller steps, or choose another model.",
    )


def _quoted(text: str) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= _LONGEST_QUOTE else f"{plain[:_LONGEST_QUOTE]}…"


class PlannerTools:
    """The tools of a host, selected by its retrieval."""

    def __init__(self, host: Host) -> None:
        self._host = host

    def tools(self) -> Sequence[Tool]:
        return self._host.answering_tools()

    async def select(self, request: str, most: int) -> Sequence[Tool]:
        finder = self._host.toolset.finder
        await finder.follow(self.tools)
        return (await finder.select(request, most)).tools


async def plan_workflow(
    host: Host,
    request: str,
    *,
    stored: Mapping[str, Workflow],
    model: str | Model | None = None,
    current: Workflow | None = None,
) -> WorkflowPlan:
    """A workflow for the request, or the current one changed; raises `PlanRefused` and `ModelError`."""
    chosen = (
        host.chats.models.get(host.chats.models.choose(model))
        if model is None or isinstance(model, str)
        else model
    )
    return await Planner(chosen, PlannerTools(host), workflows=stored).plan(request, current)
