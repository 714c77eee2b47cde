"""What the engine needs of its host: tools, models, code, artifacts and stored workflows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Coroutine, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from toolcrib.graph.node_type import ModelAnswer, ModelTask, NodeCall
from toolcrib.schema.tools import ToolResult
from toolcrib.schema.workflows import Workflow


@dataclass(frozen=True, kw_only=True)
class RunInfo:
    """A run, as the host sees it."""

    id: str
    workflow: Workflow
    parent: str | None = None
    """The run that this one is a sub-workflow of."""
    results_of: tuple[str, ...] = ()
    """Tools whose results it has from the run that started it or that it repeats in part, and other sources
    of untrusted data in its inputs."""


class VisitScope(Protocol):
    """One visit of a node, for the services it uses."""

    @property
    def info(self) -> RunInfo: ...

    @property
    def step(self) -> str:
        """The id of the visit; unique in its run, also inside maps."""

    @property
    def node(self) -> str: ...

    def asking(self) -> AbstractContextManager[None]:
        """While the user is asked: this time does not count against the timeout of the node."""

    async def begin(self, tool: str) -> None:
        """Record that a call which must not be repeated begins; done by the engine for calls of nodes.

        `ask_model` does it for each such call of the model.
        """

    async def take_back(self) -> None:
        """The call that began last is not made yet: it waits for an approval, and begins after that."""

    def held(self, server: str) -> bool:
        """Whether an earlier process waited in this visit for the server."""

    async def wait_for_server(
        self, server: str, text: str, ready: Callable[[], Coroutine[Any, Any, None]]
    ) -> bool:
        """Ask the user to do something about a server, until `ready` returns.

        False if the user ends the wait, or at the deadline of questions.
        """

    def note(self, kind: str, **facts: Any) -> None:
        """Add an event to the trace."""


class RunServices(Protocol):
    """The host's side of a run. Every method may be called in any worker that runs the workflow."""

    async def begin_run(self, run: RunInfo) -> None:
        """This worker runs it from now on: at its start, and again after a restart."""

    async def end_run(self, run: RunInfo) -> None:
        """This worker no longer runs it: it ended, or another worker has it."""

    def tools_called(self, run: RunInfo) -> Collection[str]:
        """The tools whose results a run has that this worker runs; its own calls and `add_results`."""

    async def tools_once_called(self, run: str) -> Collection[str]:
        """The tools that a run called, in any worker."""

    async def add_results(self, run: RunInfo, tools: Collection[str]) -> None:
        """Results of these tools are part of the run from now on: a sub-workflow returned them, or an event
        brought untrusted data."""

    def repeatable(self, use: NodeCall, run: RunInfo) -> bool:
        """Whether the tool is declared safe to run twice."""

    async def call(self, use: NodeCall, visit: VisitScope) -> ToolResult:
        """Call a tool with its approvals."""

    async def ask_model(self, task: ModelTask, visit: VisitScope) -> ModelAnswer:
        """Let a model work with tools until it has an answer."""

    async def run_code(
        self, code: str, inputs: Mapping[str, Any], timeout: float | None, visit: VisitScope
    ) -> Any:
        """Run Python in a sandboxed process."""

    async def find_workflow(self, name: str, run: RunInfo) -> Workflow:
        """A stored workflow; raises `NotFound`."""

    def keep(self, data: bytes, media_type: str, visit: VisitScope) -> str:
        """Store an artifact; its id."""
