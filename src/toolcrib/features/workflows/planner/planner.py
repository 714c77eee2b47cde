"""Turns a request into a valid workflow: asks a model, repairs and validates its answer, and asks again.

Planning never calls a tool.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from toolcrib.errors import PlanRefused, UsageError
from toolcrib.features.workflows.doubts import Doubt
from toolcrib.features.workflows.graph.node_types import node_types
from toolcrib.features.workflows.planner import answer_schema, prompt
from toolcrib.features.workflows.planner.building import build
from toolcrib.features.workflows.planner.catalog import Catalog
from toolcrib.features.workflows.planner.changes import WorkflowChanges, differences
from toolcrib.features.workflows.planner.draft import Draft
from toolcrib.features.workflows.planner.json_text import NoJson, read_object
from toolcrib.features.workflows.planner.model_request import TIMEOUT, PlanningModel
from toolcrib.features.workflows.planner.offer import fitting
from toolcrib.features.workflows.planner.patches import patched
from toolcrib.features.workflows.planner.reading import read_workflow
from toolcrib.features.workflows.planner.screening import screened
from toolcrib.llm.model import Finished, Model
from toolcrib.schema.messages import FromModel, FromUser, Message, Text, Usage
from toolcrib.schema.tools import Tool
from toolcrib.schema.workflows import Workflow, WorkflowProblem

REPAIRS = 3
"""How often problems go back to the model."""
MOST_TOOLS = 30
TOOL_TOKENS = 8000
LONGEST_REQUEST = 20_000
_LONGEST_QUOTE = 300
_LONGEST_ANSWER = 60_000
"""Characters of an answer that the model is shown again."""


class ToolSelection(Protocol):
    """Finds the tools for a request."""

    def tools(self) -> Sequence[Tool]:
        """All enabled tools."""

    async def select(self, request: str, most: int) -> Sequence[Tool]:
        """The tools that fit a request, best first."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A valid workflow for a request."""

    workflow: Workflow
    changes: WorkflowChanges
    """What is new, or different from the current workflow."""
    doubts: tuple[Doubt, ...]
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
    doubts: tuple[Doubt, ...] = ()
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

    async def plan(self, request: str, current: Workflow | None = None) -> Plan:
        """A workflow for the request, or the current one changed; raises `PlanRefused` and `ModelError`."""
        request = _checked(request)
        offered, doubts = screened(await self._offer(request), self._tools.tools())
        catalog = self._catalog(offered, current)
        system = prompt.system_prompt(catalog, offered, is_edit=current is not None)
        model = PlanningModel(self._model, _schema(current), timeout=self._timeout)
        talk = _Talk(messages=[FromUser(parts=(Text(prompt.request_message(request, current)),))])
        while True:
            answer = await model.ask(system, tuple(talk.messages))
            talk.heard(answer)
            attempt = _attempt(answer, catalog, request, current)
            if attempt.workflow is not None:
                return Plan(
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

    def _catalog(self, offered: Sequence[Tool], current: Workflow | None) -> Catalog:
        used = [] if current is None else [node.settings.get("tool") for node in current.nodes.values()]
        known = [tool for tool in self._tools.tools() if tool.name in used]
        tools = {tool.name: tool for tool in (*offered, *known)}
        return Catalog(types=node_types(), tools=tools, workflows=self._workflows)


def _checked(request: str) -> str:
    text = request.strip()
    if not text or len(text) > LONGEST_REQUEST:
        what = "is empty" if not text else f"is longer than {LONGEST_REQUEST:,} characters"
        raise UsageError(f"The request {what}.", hint="Say in a few sentences what the workflow should do.")
    return text


def _schema(current: Workflow | None) -> dict[str, Any]:
    return answer_schema.PLAN if current is None else answer_schema.EDIT


def _attempt(answer: Finished, catalog: Catalog, request: str, current: Workflow | None) -> _Attempt:
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


def _draft(answer: Mapping[str, Any], current: Workflow | None) -> Draft:
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
