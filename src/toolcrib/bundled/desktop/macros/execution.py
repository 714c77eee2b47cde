"""Runs macros: with a deadline, limits and a trace. A cancelled run stops at once.

One macro runs at a time on a desktop, because two would type into each other's windows.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from toolcrib.bundled.desktop.elements.selector import attribute
from toolcrib.bundled.desktop.macros import loops
from toolcrib.bundled.desktop.macros.conditions import holds, wait
from toolcrib.bundled.desktop.macros.expressions import Value, evaluate, unknown_variable
from toolcrib.bundled.desktop.macros.inputs import perform_input
from toolcrib.bundled.desktop.macros.methods import call_method, method_name
from toolcrib.bundled.desktop.macros.model import (
    AssignAction,
    ConditionalAction,
    LoopAction,
    Macro,
    MacroAction,
    MethodCall,
    flatten,
)
from toolcrib.bundled.desktop.macros.scope import MacroScope
from toolcrib.bundled.desktop.macros.store import MacroStore
from toolcrib.bundled.desktop.macros.trace import ExecutionResult, OnStep, Trace
from toolcrib.bundled.desktop.macros.variables import read_parameters
from toolcrib.bundled.desktop.session import DesktopSession
from toolcrib.errors import ToolcribError
from toolcrib.serverkit.context import ToolContext, ToolFailure

DEFAULT_TIMEOUT = 300.0
LONGEST_TIMEOUT = 3600.0
MAX_STEPS = 10_000
MAX_CALLS = 5
"""How deep macros may call each other."""
SLOWEST, FASTEST = 0.1, 100.0


@dataclass(frozen=True)
class ExecutionOptions:
    speed: float = 1.0
    continue_on_error: bool = False
    timeout: float = DEFAULT_TIMEOUT
    record_execution: bool = True
    """Whether the result has the log."""


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
            run = _Run(self._store, options, Trace(macro, on_step))
            result = await run.whole(macro, scope)
        await asyncio.to_thread(self._store.count_execution, macro.name)
        return result if options.record_execution else dataclasses.replace(result, log=(), dropped=0)

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        if self._is_running:
            raise ToolFailure("Another macro is running.", "Wait until it has ended, or cancel it.")
        self._is_running = True
        try:
            yield
        finally:
            self._is_running = False


@dataclass
class _Run:
    store: MacroStore
    options: ExecutionOptions
    trace: Trace
    calls: list[str] = field(default_factory=list)
    """The macros that are running, the innermost last."""

    async def whole(self, macro: Macro, scope: MacroScope) -> ExecutionResult:
        seconds = min(self.options.timeout or DEFAULT_TIMEOUT, LONGEST_TIMEOUT)
        try:
            async with asyncio.timeout(seconds):
                await self.macro(macro, scope)
        except TimeoutError:
            return self.trace.result(f"The macro was stopped after {seconds:g} s.")
        except ToolcribError as failure:
            return self.trace.result(self.trace.failed or failure.message)
        return self.trace.result()

    async def macro(self, macro: Macro, scope: MacroScope) -> None:
        if len(self.calls) >= MAX_CALLS:
            raise ToolFailure(f"Macros call each other more than {MAX_CALLS} levels deep.")
        self.calls.append(macro.name)
        numbers = {id(action): index for index, (action, _) in enumerate(flatten(macro.actions))}
        try:
            await self.actions(macro.actions, scope, numbers)
        finally:
            self.calls.pop()

    async def actions(
        self, actions: tuple[MacroAction, ...], scope: MacroScope, numbers: Mapping[int, int]
    ) -> None:
        for action in actions:
            await asyncio.sleep(0)  # a loop without waits can be cancelled too
            if self.trace.count >= MAX_STEPS:
                raise StepLimit(f"The macro was stopped after {MAX_STEPS} actions.")
            prefix = f"{self.calls[-1]}: " if len(self.calls) > 1 else ""
            try:
                with self.trace.step(action, numbers[id(action)], prefix):
                    await self.action(action, scope, numbers)
            except StepLimit:
                raise
            except ToolcribError:
                if not self.options.continue_on_error:
                    raise

    async def action(self, action: MacroAction, scope: MacroScope, numbers: Mapping[int, int]) -> None:
        if action.conditional is not None:
            await self.conditional(action.conditional, scope, numbers)
        elif action.loop is not None:
            await self.loop(action.loop, scope, numbers)
        elif action.assign is not None:
            await _assign(scope, action.assign)
        elif action.wait is not None:
            await wait(scope, scope.variables.fill_record(action.wait))
        elif action.input is not None:
            async with scope.settling():
                await perform_input(scope, scope.variables.fill_json(action.input))
        elif action.method_call is not None:
            await self.call(scope, scope.variables.fill_record(action.method_call))

    async def conditional(
        self, action: ConditionalAction, scope: MacroScope, numbers: Mapping[int, int]
    ) -> None:
        is_true = await holds(scope, scope.variables.fill_record(action.condition))
        await self.actions(action.then_actions if is_true else action.else_actions, scope, numbers)

    async def loop(self, action: LoopAction, scope: MacroScope, numbers: Mapping[int, int]) -> None:
        async for _ in loops.rounds(scope, action):
            await self.actions(action.actions, scope, numbers)

    async def call(self, scope: MacroScope, call: MethodCall) -> None:
        if method_name(call.method) != "execute_macro":
            async with scope.settling():
                await call_method(scope, call.method, call.args)
            return
        parameters = dict(call.args)
        name, application = parameters.pop("macro", ""), parameters.pop("application", scope.application)
        macro = await asyncio.to_thread(self.store.get, name)
        inner = dataclasses.replace(
            scope, application=application, variables=read_parameters(macro, parameters)
        )
        await self.macro(macro, inner)


class StepLimit(ToolFailure):
    """The macro did too much; it stops even if it continues after other errors."""

    kind = "step_limit"


async def _assign(scope: MacroScope, action: AssignAction) -> None:
    scope.variables.assign(action.variable, await _value(scope, action))


async def _value(scope: MacroScope, action: AssignAction) -> Value:
    if action.literal is not None:
        return scope.variables.fill(action.literal)
    if action.expression is not None:
        return evaluate(action.expression, scope.variables)
    if action.parameter is not None:
        if action.parameter not in scope.variables:
            raise unknown_variable(action.parameter, scope.variables)
        return scope.variables[action.parameter]
    if action.element_attribute is None:
        raise ToolFailure("An assignment needs a value.")
    wanted = scope.variables.fill_record(action.element_attribute)
    _, element = await scope.only_element(wanted.element_selector)
    return attribute(element, wanted.attribute)
