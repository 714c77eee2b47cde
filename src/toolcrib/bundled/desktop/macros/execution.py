"""Runs macros: with a deadline, limits and a log. A cancelled run stops at once. Limits: default and longest
timeout, most steps, calls of other macros, speed, log entries. Also a macro as a workflow of steps.

One macro runs at a time on a desktop, because two would type into each other's windows.

A macro as a workflow: the walk of `toolcrib.graph` decides which of its actions comes next. Each action is a
step. A conditional is followed by an If, and the actions of a loop are the body of a Loop, whose first step
says whether there is another round. An error leads to the action that follows.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from pydantic import Field

from toolcrib.bundled.desktop.input_actions import kind_of
from toolcrib.bundled.desktop.macros.actions import MAX_ROUNDS, Item, act, begin_round, method_name
from toolcrib.bundled.desktop.macros.model import LoopAction, Macro, MacroAction, MethodCall, flatten
from toolcrib.bundled.desktop.macros.scope import MacroScope
from toolcrib.bundled.desktop.macros.store import MacroStore
from toolcrib.bundled.desktop.macros.variables import read_parameters
from toolcrib.bundled.desktop.session import DesktopSession
from toolcrib.errors import ToolcribError
from toolcrib.graph.compiled import compiled, read
from toolcrib.graph.control import END_LOOP, IF, LOOP
from toolcrib.graph.node_settings import AnyResult, NodeSettings, fixed
from toolcrib.graph.node_type import AnyNodeType, NodeType
from toolcrib.graph.trace import Outcome, error_of
from toolcrib.graph.walk import Visit, Walk
from toolcrib.schema.workflows import ERROR, NEXT, Edge, Node, RunOptions, Workflow
from toolcrib.serverkit.context import ToolContext, ToolFailure

MOST_STEPS = 1_000_000
"""More than a run has: the limit of a macro counts its actions, over all macros that it calls."""
Ends = list[tuple[str, str]]
"""Nodes and their outputs that lead to what comes next."""


DEFAULT_TIMEOUT = 300.0
LONGEST_TIMEOUT = 3600.0
MAX_STEPS = 10_000
MAX_CALLS = 5
"""How deep macros may call each other."""
SLOWEST, FASTEST = 0.1, 100.0
KEPT = 1_000
"""Log entries of one run; older ones are dropped."""
MAX_DESCRIPTION = 200
STOPPED = "It was stopped."


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
TYPES: dict[str, AnyNodeType] = {node_type.name: node_type for node_type in (ACTION, IF, LOOP, END_LOOP)}


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


@dataclass(frozen=True)
class ExecutionOptions:
    speed: float = 1.0
    continue_on_error: bool = False
    timeout: float = DEFAULT_TIMEOUT
    record_execution: bool = True
    """Whether the result has the log."""


@dataclass(frozen=True)
class ExecutionLogEntry:
    name: str
    execution_time: float
    """Seconds since 1970."""
    action_index: int
    """The place of the action in its macro, counting nested ones in the order in which they are written."""
    description: str
    success: bool = True
    error: str = ""
    duration: float = 0.0


@dataclass(frozen=True)
class ExecutionResult:
    success: bool
    actions_executed: int
    execution_duration: float
    error: str = ""
    log: tuple[ExecutionLogEntry, ...] = ()


@dataclass(frozen=True)
class ExecutionStep:
    """Reported before each action."""

    current_action: int
    total_actions: int
    elapsed: float
    description: str


OnStep = Callable[[ExecutionStep], None]


class MacroRunner:
    """Runs the macros of a store on the desktop of a session."""

    def __init__(self, session: DesktopSession, store: MacroStore) -> None:
        self._session = session
        self._store = store
        self._is_running = False

    async def execute(
        self,
        name: str,
        parameter_values: Mapping[str, str],
        application: str = "",
        options: ExecutionOptions = ExecutionOptions(),  # noqa: B008 - frozen
        on_step: OnStep = lambda step: None,
        context: ToolContext | None = None,
    ) -> ExecutionResult:
        """What fails in the macro is in the result; raises `ToolFailure` if it cannot start."""
        macro = await asyncio.to_thread(self._store.get, name)
        variables = read_parameters(macro, parameter_values)
        with self._alone():
            backend = await self._session.backend(context)
            speed = min(max(options.speed or 1.0, SLOWEST), FASTEST)
            session = self._session
            scope = MacroScope(backend, session.snapshots, session.pictures, application, speed, variables)
            run = _Run(self._store, options, _Log(macro, on_step))
            result = await run.whole(macro, scope)
        await asyncio.to_thread(self._store.count_execution, macro.name)
        return result if options.record_execution else dataclasses.replace(result, log=())

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        if self._is_running:
            raise ToolFailure("Another macro is running.", "Wait until it has ended, or cancel it.")
        self._is_running = True
        try:
            yield
        finally:
            self._is_running = False


class StepLimit(ToolFailure):
    """The macro did too much; it stops even if it continues after other errors."""

    kind = "step_limit"


class _Log:
    """Collects the entries of one run, also of the macros that it calls."""

    def __init__(self, macro: Macro, on_step: OnStep) -> None:
        self._name = f"{macro.name}/executions/{uuid.uuid4().hex}"
        self._total = sum(1 for _ in flatten(macro.actions))
        self._on_step = on_step
        self._started = time.monotonic()
        self._open: list[tuple[int, float, ExecutionLogEntry]] = []
        """The actions that are running, the innermost last: their numbers and when they began."""
        self._entries: deque[tuple[int, ExecutionLogEntry]] = deque(maxlen=KEPT)
        self._count = 0
        self.failed = ""
        """The first error."""

    @property
    def depth(self) -> int:
        return len(self._open)

    def begin(self, action: MacroAction, index: int, prefix: str) -> None:
        if self._count >= MAX_STEPS:
            raise StepLimit(f"The macro was stopped after {MAX_STEPS} actions.")
        self._count += 1
        began, description = time.monotonic(), f"{prefix}{describe_action(action)}"[:MAX_DESCRIPTION]
        self._on_step(ExecutionStep(self._count, self._total, began - self._started, description))
        name = f"{self._name}/logEntries/{self._count}"
        self._open.append((self._count, began, ExecutionLogEntry(name, time.time(), index, description)))

    def end(self, depth: int, error: str = "") -> None:
        """End the actions that are running below a depth; all of them have failed if there is an error."""
        while len(self._open) > depth:
            number, began, entry = self._open.pop()
            if error:
                self.failed = self.failed or f"{entry.description}: {error}"
            took = time.monotonic() - began
            ended = dataclasses.replace(entry, success=not error, error=error, duration=took)
            self._entries.append((number, ended))

    def result(self, error: str = "") -> ExecutionResult:
        failed = error or self.failed
        self.end(0, STOPPED if error else "")
        took = time.monotonic() - self._started
        entries = tuple(entry for _, entry in sorted(self._entries, key=lambda pair: pair[0]))
        return ExecutionResult(not failed, self._count, took, failed, entries)


@dataclass
class _Run:
    store: MacroStore
    options: ExecutionOptions
    log: _Log
    calls: list[str] = field(default_factory=list)
    """The macros that are running, the innermost last."""

    async def whole(self, macro: Macro, scope: MacroScope) -> ExecutionResult:
        seconds = min(self.options.timeout or DEFAULT_TIMEOUT, LONGEST_TIMEOUT)
        try:
            async with asyncio.timeout(seconds):
                await self.macro(macro, scope)
        except TimeoutError:
            return self.log.result(f"The macro was stopped after {seconds:g} s.")
        except ToolcribError as failure:
            self.log.end(0, failure.message)
            return self.log.result(self.log.failed or failure.message)
        return self.log.result()

    async def macro(self, macro: Macro, scope: MacroScope) -> None:
        if len(self.calls) >= MAX_CALLS:
            raise ToolFailure(f"Macros call each other more than {MAX_CALLS} levels deep.")
        self.calls.append(macro.name)
        actions, around = list(flatten(macro.actions)), self.log.depth
        # In a thread, because it loads pydantic, which no other tool needs.
        walk = await asyncio.to_thread(MacroWalk, macro)
        try:
            while (step := walk.next()) is not None:
                await asyncio.sleep(0)  # a loop without waits can be cancelled too
                action, depth = actions[step.action]
                await self.step(walk, step, action, scope, around + depth - 1)
        finally:
            self.calls.pop()
        self.log.end(around)

    async def step(
        self, walk: MacroWalk, step: ActionSettings, action: MacroAction, scope: MacroScope, depth: int
    ) -> None:
        self.log.end(depth + bool(step.round))
        if not step.round:
            self.log.begin(action, step.action, f"{self.calls[-1]}: " if len(self.calls) > 1 else "")
        try:
            found = await self.found(walk, step, action, scope)
        except ToolcribError as error:
            self.log.end(depth, error.message)
            if isinstance(error, StepLimit) or not self.options.continue_on_error:
                raise
            walk.record_error(error)
            return
        if not action.blocks:
            self.log.end(depth)
        walk.record(found)

    async def found(
        self, walk: MacroWalk, step: ActionSettings, action: MacroAction, scope: MacroScope
    ) -> dict[str, Any]:
        if step.round and action.loop is not None:
            items = walk.items(step.action)
            return {"holds": await begin_round(scope, action.loop, step.round, items)}
        call = action.method_call
        if call is None or method_name(call.method) != "execute_macro":
            return await act(scope, action)
        await self.call(scope, scope.variables.fill_record(call))
        return {}

    async def call(self, scope: MacroScope, call: MethodCall) -> None:
        parameters = dict(call.args)
        name, application = parameters.pop("macro", ""), parameters.pop("application", scope.application)
        macro = await asyncio.to_thread(self.store.get, name)
        variables = read_parameters(macro, parameters)
        await self.macro(macro, dataclasses.replace(scope, application=application, variables=variables))


def describe_action(action: MacroAction) -> str:
    """Its own description, or what it does; never what is typed, which may be private."""
    if action.description:
        return action.description
    if action.input is not None:
        return f"input {kind_of(action.input)}"
    chosen = getattr(action, action.chosen)
    if action.method_call is not None:
        target = action.method_call.args.get("selector", "")
        return f"{action.method_call.method} {target}".strip()
    if action.assign is not None:
        return f"assign {action.assign.variable}"
    inner = getattr(chosen, "chosen", "")
    return f"{action.chosen} {inner}".strip()
