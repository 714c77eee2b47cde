"""Typed Python functions as tools: a raw MCP definition, and a call that always ends in a raw MCP result. How
many calls of one tool run at once, and how long a cancelled one may clean up.

A blocking function runs in a thread of its own unless it is marked quick. Whatever a tool does (raise, exit,
ignore its cancellation, never return), its caller gets a result or can stop waiting, and no other call is
affected.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import threading
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any, get_type_hints

from pydantic_core import ValidationError

from toolcrib.errors import ToolcribError
from toolcrib.serverkit.arguments import Arguments, explain, read_arguments
from toolcrib.serverkit.context import ToolContext, ToolFailure
from toolcrib.serverkit.data_flow import DATA_FLOW, SCOPED, Reach
from toolcrib.serverkit.results import Result, failure_result, output_schema, to_result
from toolcrib.serverkit.threads import NoThread, in_thread

__all__ = ["FunctionTool", "ToolContext", "ToolFailure"]

logger = logging.getLogger(__name__)

MAX_CALLS_AT_ONCE = 256
"""Of one blocking tool: a function that never returns keeps its thread, and those must not pile up."""
CANCEL_GRACE = 1.0
"""Seconds that a cancelled coroutine has to clean up."""

_left_behind: set[asyncio.Task[Any]] = set()
"""Coroutines that ignored their cancellation; held here so that they are not collected while they run."""


@dataclass(eq=False)
class FunctionTool:
    """A function that models can call."""

    name: str
    definition: dict[str, Any]
    """The raw MCP definition: name, description, inputSchema, annotations …"""
    function: Callable[..., Any]
    arguments: Arguments
    quick: bool = False
    preview_function: Callable[..., Any] | None = None
    """Describes a call for an approval question; changes nothing."""
    scope_function: Callable[..., Any] | None = None
    """Says what a call acts on, so that one approval can cover several; see `scope_by`."""
    _threads: threading.Semaphore = field(
        default_factory=lambda: threading.Semaphore(MAX_CALLS_AT_ONCE), init=False, repr=False
    )

    @classmethod
    def from_function(
        cls,
        function: Callable[..., Any],
        *,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        read_only: bool = False,
        destructive: bool | None = None,
        idempotent: bool = False,
        open_world: bool | None = None,
        quick: bool = False,
        outside: bool = False,
        private: bool = False,
        reach: Reach | None = None,
        preview: Callable[..., Any] | None = None,
    ) -> FunctionTool:
        """Make a tool; its description is the docstring, its schema comes from the signature.

        A parameter is described by `Annotated[str, "…"]` or `Annotated[str, Field(description="…")]`.
        `quick` promises that a blocking function returns at once, so that it needs no thread. `outside`,
        `private` and `reach` are those of `DataFlow`. `preview` has the same parameters and returns what an
        approval question shows.
        """
        arguments = read_arguments(function)
        chosen: str = name or function.__name__
        definition: dict[str, Any] = {"name": chosen}
        if title:
            definition["title"] = title
        definition["description"] = description if description is not None else inspect.getdoc(function) or ""
        definition["inputSchema"] = arguments.schema
        shape = output_schema(get_type_hints(function).get("return"))
        if shape is not None:
            definition["outputSchema"] = shape
        definition["annotations"] = _annotations(title, read_only, destructive, idempotent, open_world)
        if outside or private or reach is not None:
            flow = {"outside": outside, "private": private, **({"reach": reach} if reach else {})}
            definition["_meta"] = {DATA_FLOW: flow}
        return cls(chosen, definition, function, arguments, quick, preview)

    async def call(self, arguments: Mapping[str, Any], context: ToolContext | None = None) -> Result:
        """Run it; a failure is a result with `isError`, only cancellation is raised."""
        try:
            named = self.arguments.check(arguments)
        except ValidationError as error:
            return failure_result(*explain(self.name, error, self.arguments.schema))
        try:
            return to_result(await self._run(named, context or ToolContext()))
        except ToolFailure as error:
            return failure_result(error.message, error.hint, error.reason)
        except ToolcribError as error:
            return failure_result(error.message, error.hint)
        except Exception as error:
            logger.exception("%s failed", self.name)
            return failure_result(f"{self.name} failed: {type(error).__name__}: {error}")

    async def preview(self, arguments: Mapping[str, Any]) -> dict[str, Any] | None:
        """What an approval question shows of a call; None if its arguments say it all."""
        return await self._describe(self.preview_function, arguments)

    async def scope(self, arguments: Mapping[str, Any]) -> dict[str, Any] | None:
        """What a call acts on; None if the tool does not say."""
        return await self._describe(self.scope_function, arguments)

    def scope_by(self, function: Callable[..., Any]) -> None:
        """Have calls approved by what they act on.

        The function has the same parameters as the tool and returns `key`, `label` and `reason`: calls with
        the same key are one question, an empty key asks each time.
        """
        self.scope_function = function
        self.definition["_meta"] = {**self.definition.get("_meta", {}), SCOPED: True}

    async def _describe(
        self, function: Callable[..., Any] | None, arguments: Mapping[str, Any]
    ) -> dict[str, Any] | None:
        if function is None:
            return None
        try:
            named = self.arguments.check(arguments)
        except ValidationError:
            return None
        if inspect.iscoroutinefunction(function):
            shown = await function(**named)
        else:
            shown = await in_thread(function, **named)
        return shown if isinstance(shown, dict) else None

    async def _run(self, named: dict[str, Any], context: ToolContext) -> Any:
        if inspect.iscoroutinefunction(self.function):
            return await self._run_coroutine(named, context)
        if self.quick:
            try:
                return self.function(**self._with_context(named, context))
            except SystemExit as error:
                raise _exited(error) from error
        return await self._run_in_thread(named, context)

    def _with_context(self, named: dict[str, Any], context: ToolContext) -> dict[str, Any]:
        wanted = self.arguments.context_name
        return named if wanted is None else {**named, wanted: context}

    async def _run_in_thread(self, named: dict[str, Any], context: ToolContext) -> Any:
        if not self._threads.acquire(blocking=False):
            raise ToolFailure(
                f"{MAX_CALLS_AT_ONCE} calls of {self.name} are still running.", "Try again later."
            )
        loop = asyncio.get_running_loop()

        def work() -> Any:
            try:
                return self.function(**self._with_context(named, context.for_thread(loop)))
            finally:
                self._threads.release()

        work.__name__ = self.name  # what a debugger shows as the thread's name
        try:
            return await in_thread(work)
        except NoThread:
            self._threads.release()
            raise

    async def _run_coroutine(self, named: dict[str, Any], context: ToolContext) -> Any:
        work = _held_async(self.function(**self._with_context(named, context)))
        if self.quick:
            return await work
        return await _cancellable(work)


async def _cancellable(work: Coroutine[Any, Any, Any]) -> Any:
    """Await work that may ignore its cancellation: the caller is then free after a moment all the same."""
    task = asyncio.get_running_loop().create_task(work)
    try:
        await asyncio.wait((task,))
    except asyncio.CancelledError:
        task.cancel()
        _left_behind.add(task)
        task.add_done_callback(_forget)
        await asyncio.wait((task,), timeout=CANCEL_GRACE)
        raise
    if task.cancelled():
        raise ToolFailure("The tool stopped: something it waited for was cancelled.")
    return task.result()


def _forget(task: asyncio.Task[Any]) -> None:
    _left_behind.discard(task)
    if not task.cancelled():
        task.exception()


def _exited(error: SystemExit) -> ToolFailure:
    """A tool that asks the process to end only ends itself."""
    return ToolFailure(f"The tool tried to exit with {error.code!r}.")


async def _held_async(work: Awaitable[Any]) -> Any:
    try:
        return await work
    except SystemExit as error:
        raise _exited(error) from error


def _annotations(
    title: str | None,
    read_only: bool,
    destructive: bool | None,
    idempotent: bool,
    open_world: bool | None,
) -> dict[str, Any]:
    hints: dict[str, Any] = {"title": title} if title else {}
    hints["readOnlyHint"] = read_only
    if read_only:
        destructive = False
    if destructive is not None:
        hints["destructiveHint"] = destructive
    if idempotent:
        hints["idempotentHint"] = True
    if open_world is not None:
        hints["openWorldHint"] = open_world
    return hints
