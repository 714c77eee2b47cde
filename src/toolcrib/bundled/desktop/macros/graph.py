"""A macro as a workflow: the walk of `toolcrib.graph` decides which of its actions comes next.

Each action is a step. A conditional is followed by an If, and the actions of a loop are the body of a Loop,
whose first step says whether there is another round. An error leads to the action that follows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from pydantic import Field

from toolcrib.bundled.desktop.macros.actions import MAX_ROUNDS, Item
from toolcrib.bundled.desktop.macros.model import LoopAction, Macro, MacroAction
from toolcrib.errors import ToolcribError
from toolcrib.graph.compiled import compiled, read
from toolcrib.graph.control import END_LOOP, IF, LOOP
from toolcrib.graph.node_settings import AnyResult, NodeSettings, fixed
from toolcrib.graph.node_type import AnyNodeType, NodeType
from toolcrib.graph.trace import Outcome, error_of
from toolcrib.graph.walk import Visit, Walk
from toolcrib.schema.workflows import ERROR, NEXT, Edge, Node, RunOptions, Workflow

MOST_STEPS = 1_000_000
"""More than a run has: the limit of a macro counts its actions, over all macros that it calls."""
Ends = list[tuple[str, str]]
"""Nodes and their outputs that lead to what comes next."""


class ActionSettings(NodeSettings):
    action: int = fixed(description="The number of the action, counted as they are written.")
    round: int = Field(default=0, description="The round of a loop to begin; 0 for the action itself.")


ACTION = NodeType(
    name="Action",
    title="Action",
    group="desktop",
    about="Does one action of a macro, or begins a round of its loop.",
    settings=ActionSettings,
    example={"action": 0},
    result=AnyResult,
)
TYPES: dict[str, AnyNodeType] = {each.name: each for each in (ACTION, IF, LOOP, END_LOOP)}


class MacroWalk:
    """The position in a macro."""

    def __init__(self, macro: Macro) -> None:
        self._walk = Walk(compiled(read(macro_workflow(macro), TYPES.__getitem__)), {}, {})

    def next(self) -> ActionSettings | None:
        """What to do now; None at the end."""
        visit = self._walk.next()
        return cast("ActionSettings", visit.settings) if isinstance(visit, Visit) else None

    def items(self, loop: int) -> Sequence[Item]:
        """Those of the rounds of a loop, as they were recorded."""
        found: Sequence[Item] = self._walk.values[f"action_{loop}"]["items"]
        return found

    def record(self, found: Mapping[str, Any]) -> None:
        """It was done; `found` decides between the paths of a conditional or loop."""
        self._walk.record(Outcome(value=found))

    def record_error(self, error: ToolcribError) -> None:
        """It failed; the walk continues behind it."""
        self._walk.record(Outcome(error=error_of(error)))


def macro_workflow(macro: Macro) -> Workflow:
    drawing = _Drawing()
    drawing.block(macro.actions, [])
    options = RunOptions(most_steps=MOST_STEPS)
    return Workflow(name="macro", nodes=drawing.nodes, edges=tuple(drawing.edges), options=options)


class _Drawing:
    """The nodes and edges so far."""

    def __init__(self) -> None:
        self._count = 0
        self.nodes: dict[str, Node] = {}
        self.edges: list[Edge] = []

    def block(self, actions: tuple[MacroAction, ...], ends: Ends) -> Ends:
        for action in actions:
            ends = self._action(action, ends)
        return ends

    def _action(self, action: MacroAction, ends: Ends) -> Ends:
        number = self._count
        self._count += 1
        step = self._add(f"action_{number}", ACTION, ends, action=number)
        ends = [(step, NEXT)]
        if action.conditional is not None:
            choice = self._add(f"{step}_if", IF, ends, condition=_reference(step, "holds"))
            then = self.block(action.conditional.then_actions, [(choice, "true")])
            ends = [*then, *self.block(action.conditional.else_actions, [(choice, "false")])]
        elif action.loop is not None:
            ends = self._loop(action.loop, step, number)
        return [*ends, (step, ERROR)]

    def _loop(self, loop: LoopAction, step: str, number: int) -> Ends:
        begin, choice = f"{step}_round", f"{step}_if"
        is_over = {"left": _reference(begin, "holds"), "operator": "equals", "right": False}
        opener = self._add(
            f"{step}_loop", LOOP, [(step, NEXT)], exit_condition=is_over, max_iterations=MAX_ROUNDS + 1
        )
        self._add(begin, ACTION, [(opener, "body")], action=number, round=_reference(opener, "iteration"))
        self._add(choice, IF, [(begin, NEXT)], condition=_reference(begin, "holds"))
        last = self.block(loop.actions, [(choice, "true")])
        self._add(f"{step}_end", END_LOOP, [*last, (choice, "false")], loop=opener)
        return [(opener, "done"), (begin, ERROR)]

    def _add(self, id_: str, node_type: AnyNodeType, ends: Ends, **settings: Any) -> str:
        self.nodes[id_] = Node(type=node_type.name, settings=settings)
        for source, output in ends:
            self.edges.append(Edge.model_validate({"from": source, "to": id_, "output": output}))
        return id_


def _reference(node: str, field: str) -> str:
    return f"{{{{{node}.{field}}}}}"
