"""Which node of a workflow comes next: a pure fold over the outcomes so far, also for disabled nodes and
error outputs. Limits the steps of a run and decisions without a step.

The same fold drives a run, replays its recorded steps after a restart, takes over the outcomes of an earlier
run, and explains a run to its reader. It reads no clock and has no side effects.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from toolcrib.errors import ToolcribError
from toolcrib.graph.compiled import CompiledGraph, CompiledNode
from toolcrib.graph.node_settings import NodeSettings
from toolcrib.graph.references import parse, references_in
from toolcrib.graph.trace import Outcome, error_of
from toolcrib.schema.workflows import ERROR

MOST_DECISIONS = 10_000
"""Decisions of control nodes between two steps; more means loops that do nothing."""


@dataclass(frozen=True, kw_only=True)
class Visit:
    """A node to run now."""

    step: str
    """The id of the visit: the node's id, and `#2` and so on for later visits."""
    node: str
    settings: NodeSettings | None
    """None if `problem` says why they are not valid."""
    problem: Mapping[str, Any] | None = None
    notes: tuple[Mapping[str, Any], ...] = ()
    """The decisions of control nodes that led here."""


@dataclass(frozen=True, kw_only=True)
class WalkEnd:
    """The walk is over."""

    outputs: Any = None
    error: Mapping[str, Any] | None = None
    """Why the run failed; None if it was successful."""
    notes: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, kw_only=True)
class RunDecision:
    """How often a node went on at each of its outputs, and why it did the last time.

    Of control nodes, disabled ones, and those that failed and have an error path.
    """

    node: str
    output: str
    """The last one."""
    reason: str
    taken: Mapping[str, int]
    """By output; `body` of a loop counts its rounds."""


@dataclass(frozen=True, kw_only=True)
class MapItem:
    """The part of a workflow that runs for one item of a map."""

    map: str
    """The id of the Map."""
    item: Any
    index: int
    values: Mapping[str, Any] = field(default_factory=dict)
    """The results of earlier nodes that the body refers to."""


class Walk:
    """The position in a workflow."""

    def __init__(
        self,
        graph: CompiledGraph,
        inputs: Mapping[str, Any],
        run: Mapping[str, Any],
        item: MapItem | None = None,
    ) -> None:
        self._graph = graph
        self._item = item
        self._values: dict[str, Any] = {"input": dict(inputs), "run": dict(run)}
        self._visits: dict[str, int] = {}
        self._completed: dict[str, int] = {}
        self._notes: list[Mapping[str, Any]] = []
        self.decisions: dict[str, RunDecision] = {}
        self._steps = 0
        self._visit: Visit | None = None
        self._end: WalkEnd | None = None
        self._at: str | None = None
        self._go(self._first())

    @property
    def values(self) -> Mapping[str, Any]:
        """What references can lead to now."""
        return self._values

    def next(self) -> Visit | WalkEnd:
        """The visit to run now, until its outcome is recorded; then the one after it."""
        decisions = 0
        while self._end is None and self._visit is None:
            decisions += 1
            if decisions > MOST_DECISIONS:
                self._fail(self._at, _no_progress())
            elif self._at is None:
                self._finish()
            else:
                self._arrive(self._graph.nodes[self._at])
        return self._end or self._visit  # type: ignore[return-value]

    def record(self, outcome: Outcome) -> None:
        """The outcome of the visit that `next` gave."""
        visit, self._visit = self._visit, None
        if visit is None:
            raise ValueError("No visit is under way.")
        if outcome.error is None:
            self._values[visit.node] = outcome.value
            self._go(self._graph.target(visit.node, outcome.output))
        elif outcome.fatal:
            self._fail(visit.node, outcome.error)
        else:
            self._take_error_path(visit.node, outcome.error, outcome.value)

    def take_over(self, outcomes: Mapping[str, Outcome]) -> list[str]:
        """Record outcomes of an earlier run for as long as the walk comes to the same visits."""
        taken: list[str] = []
        while isinstance(visit := self.next(), Visit) and visit.step in outcomes:
            self.record(outcomes[visit.step])
            taken.append(visit.step)
        return taken

    def values_for(self, map_id: str) -> dict[str, Any]:
        """The values that the body of a map refers to; its items get no others."""
        nodes = [self._graph.nodes[node].node for node in self._graph.bodies[map_id]]
        texts = [text for node in nodes for _, text in references_in(node.model_dump())]
        roots = {reference.root for text in texts for reference in parse(text).references}
        return {root: self._values[root] for root in roots & self._values.keys() - {"input", "run"}}

    def _first(self) -> str:
        if self._item is None:
            return self._graph.entry
        self._values |= {**self._item.values, "item": self._item.item, "index": self._item.index}
        return self._graph.first(self._item.map)

    def _go(self, target: str | None) -> None:
        self._at = target
        if target is not None:
            self._completed.pop(target, None)

    def _arrive(self, node: CompiledNode) -> None:
        if node.closes is not None:
            return self._close(node, node.closes)
        if not node.node.enabled:
            return self._pass(node)
        settings, problem = self._settings(node.id)
        if node.type.decide is None:
            return self._start_visit(node.id, settings, problem)
        return self._decide(node, settings, problem)

    def _settings(self, node_id: str) -> tuple[NodeSettings | None, Mapping[str, Any] | None]:
        try:
            return self._graph.settings(node_id, self._values), None
        except ToolcribError as error:
            return None, error_of(error)

    def _start_visit(
        self, node_id: str, settings: NodeSettings | None, problem: Mapping[str, Any] | None
    ) -> None:
        self._steps += 1
        if self._steps > self._graph.workflow.options.most_steps:
            return self._fail(node_id, _too_many(self._graph.workflow.options.most_steps))
        number = self._visits[node_id] = self._visits.get(node_id, 0) + 1
        step = node_id if number == 1 else f"{node_id}#{number}"
        notes, self._notes = tuple(self._notes), []
        self._visit = Visit(step=step, node=node_id, settings=settings, problem=problem, notes=notes)
        return None

    def _decide(
        self, node: CompiledNode, settings: NodeSettings | None, problem: Mapping[str, Any] | None
    ) -> None:
        if problem is not None or node.type.decide is None:
            return self._take_error_path(node.id, problem or {})
        try:
            route = node.type.decide(settings, self._completed.get(node.id, 0))
        except ToolcribError as error:
            return self._take_error_path(node.id, error_of(error))
        self._values[node.id] = dict(route.value)
        self._note(node.id, route.output, route.reason)
        return self._go(self._graph.target(node.id, route.output))

    def _close(self, node: CompiledNode, opener: str) -> None:
        """The end of a body: a loop decides again, an item of a map is done."""
        if self._item is None or opener != self._item.map:
            self._completed[opener] = self._completed.get(opener, 0) + 1
            self._at = opener
            return
        settings, problem = self._settings(node.id)
        value = getattr(settings, "value", None)
        self._end = WalkEnd(outputs=value, error=problem, notes=tuple(self._notes))

    def _pass(self, node: CompiledNode) -> None:
        self._values[node.id] = None
        self._note(node.id, node.passed, "it is turned off")
        self._go(self._graph.target(node.id, node.passed))

    def _take_error_path(self, node_id: str, error: Mapping[str, Any], value: Any = None) -> None:
        target = self._graph.target(node_id, ERROR)
        if target is None:
            return self._fail(node_id, error)
        self._values[node_id] = {**(value if isinstance(value, Mapping) else {}), "error": dict(error)}
        self._note(node_id, ERROR, str(error.get("message", "")))
        return self._go(target)

    def _note(self, node_id: str, output: str, reason: str) -> None:
        self._notes.append({"kind": "route", "node": node_id, "output": output, "reason": reason})
        before = self.decisions[node_id].taken if node_id in self.decisions else {}
        taken = {**before, output: before.get(output, 0) + 1}
        self.decisions[node_id] = RunDecision(node=node_id, output=output, reason=reason, taken=taken)

    def _fail(self, node_id: str | None, error: Mapping[str, Any]) -> None:
        self._end = WalkEnd(error={**error, "node": node_id}, notes=tuple(self._notes))

    def _finish(self) -> None:
        outputs = None if self._item is not None else self._graph.outputs(self._values)
        self._end = WalkEnd(outputs=outputs, notes=tuple(self._notes))


def _no_progress() -> Mapping[str, Any]:
    return {
        "kind": "no_progress",
        "message": f"The run decided {MOST_DECISIONS} times without a step between the decisions.",
        "hint": "Put a step into the loop, or lower its max_iterations.",
    }


def _too_many(most: int) -> Mapping[str, Any]:
    return {
        "kind": "too_many_steps",
        "message": f"The run has taken more than {most} steps.",
        "hint": "Check the exit conditions of its loops, or raise options.most_steps.",
    }
