"""Plans requests with the scripted model and counts what comes of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Literal

from tests.features.workflows.planner.evaluation.failures import FAILURES, INJECTED
from tests.features.workflows.planner.evaluation.graphs import Case, Json
from tests.features.workflows.planner.evaluation.model import AnswerModel
from tests.features.workflows.planner.evaluation.shape import shape_of
from toolcrib import plugins
from toolcrib.errors import PlanRefused
from toolcrib.features.workflows.planner.planner import Planner
from toolcrib.graph.files import workflow_from
from toolcrib.retrieval.index import Index
from toolcrib.schema.tools import Tool, ToolDefinition
from toolcrib.schema.workflows import Workflow
from toolcrib.tools.registry import Registry

SERVERS = (
    "calendar",
    "canvas",
    "demo",
    "desktop",
    "discord",
    "filesystem",
    "mail",
    "terminal",
    "websearch",
)
STORED = {"weekly-report": Workflow(name="weekly-report")}
Result = Literal["valid", "wrong", "refused"]


@cache
def bundled_tools() -> tuple[Tool, ...]:
    """The tools of the bundled servers, from their own definitions."""
    registry = Registry()
    for name in SERVERS:
        served: Any = plugins.find("toolcrib.bundled", name).create((".",) if name == "filesystem" else ())
        registry.put(name, "mcp", [tool.definition for tool in served.tools.values()])
    return tuple(registry.snapshot.tools.values())


class Selection:
    """Retrieval by words over these tools."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._tools = tools
        self._index = Index(tools)
        self._selected: dict[tuple[str, int], Sequence[Tool]] = {}

    def tools(self) -> Sequence[Tool]:
        return self._tools

    async def select(self, request: str, most: int) -> Sequence[Tool]:
        if (request, most) not in self._selected:
            self._selected[request, most] = self._index.select(request, most).tools
        return self._selected[request, most]


@cache
def selection() -> Selection:
    return Selection(bundled_tools())


class PoisonedSelection:
    """The same selection; the descriptions of all servers but one try to direct the model."""

    def __init__(self) -> None:
        self._tools = {
            tool.name: tool if tool.server == "terminal" else _with_order(tool) for tool in bundled_tools()
        }

    def tools(self) -> Sequence[Tool]:
        return list(self._tools.values())

    async def select(self, request: str, most: int) -> Sequence[Tool]:
        return [self._tools[tool.name] for tool in await selection().select(request, most)]


@cache
def poisoned() -> PoisonedSelection:
    return PoisonedSelection()


def _with_order(tool: Tool) -> Tool:
    raw = {**tool.definition.raw, "description": f"{tool.definition.description} {INJECTED}"}
    definition = ToolDefinition(name=tool.definition.name, raw=raw)
    return replace(tool, definition=definition, hash=f"poisoned-{tool.hash}")


def as_workflow(graph: Json) -> Workflow:
    """The workflow of a correct answer."""
    nodes = {one["id"]: {key: one[key] for key in one if key != "id"} for one in graph["nodes"]}
    inputs = {one["name"]: {"type": one["type"]} for one in graph.get("inputs", ())}
    name = "".join(letter if letter.isalnum() else "-" for letter in graph["name"].lower())
    return workflow_from({**graph, "name": name, "nodes": nodes, "inputs": inputs})


@dataclass(frozen=True, kw_only=True)
class Outcome:
    case: str
    failure: str
    result: Result
    requests: int
    detail: str = ""


async def evaluate(case: Case, failure: str, *, structured: bool = True) -> Outcome | None:
    """What comes of one request with one kind of failure; None if it does not apply."""
    steps = FAILURES[failure](case)
    if steps is None:
        return None
    model = AnswerModel(steps, structured=structured)
    tools = poisoned() if failure == "injection obeyed" else selection()
    current = None if case.current is None else as_workflow(case.current)
    planner = Planner(model, tools, workflows=STORED)
    try:
        plan = await planner.plan(case.text, current)
    except PlanRefused as error:
        clear = len(error.message) > 30
        result: Result = "refused" if clear else "wrong"
        return Outcome(
            case=case.name, failure=failure, result=result, requests=len(model.requests), detail=error.message
        )
    expected = as_workflow(case.expected or case.answer["workflow"])
    same = shape_of(plan.workflow) == shape_of(expected)
    return Outcome(
        case=case.name,
        failure=failure,
        result="valid" if same else "wrong",
        requests=plan.requests,
        detail="" if same else plan.workflow.model_dump_json(by_alias=True, exclude_defaults=True),
    )


@dataclass
class Table:
    """Counts of each result, by failure."""

    counts: dict[str, Counter[str]] = field(default_factory=dict)
    wrong: list[Outcome] = field(default_factory=list)

    def add(self, outcome: Outcome | None) -> None:
        if outcome is None:
            return
        self.counts.setdefault(outcome.failure, Counter())[outcome.result] += 1
        if outcome.result == "wrong":
            self.wrong.append(outcome)

    @property
    def total(self) -> Counter[str]:
        return sum(self.counts.values(), Counter())

    @property
    def share(self) -> float:
        """The share of valid plans and clear refusals."""
        total = self.total
        return 1 - total["wrong"] / max(1, total.total())

    def rows(self) -> Iterator[str]:
        yield f"{'failure':36} {'valid':>6} {'refused':>8} {'wrong':>6}"
        for name, counted in (*self.counts.items(), ("all", self.total)):
            yield f"{name:36} {counted['valid']:6} {counted['refused']:8} {counted['wrong']:6}"
        yield f"valid or clearly refused: {self.share:.2%}"


async def evaluate_all(pairs: Iterable[tuple[Case, str]]) -> Table:
    table = Table()
    for case, failure in pairs:
        table.add(await evaluate(case, failure))
    return table
