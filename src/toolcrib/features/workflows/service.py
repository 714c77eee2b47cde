"""The workflows of a host: their files, whether they are valid, and their runs; workflows offered as tools,
and the error for an imported one that is not confirmed.

Workflows as tools: those with `options.tool` are offered to agents and to clients of the gateway. Such a call
starts a run and waits for it. The run makes its calls as itself, so their approvals are asked as in any other
run, knowing what the caller has read. If the caller gives up, the run is cancelled.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from toolcrib.errors import ConfigError, ServerNotReady, ToolcribError, UnknownTool
from toolcrib.features.workflows.automation.definitions import setting_problems
from toolcrib.features.workflows.files import FileVersion, StoredWorkflow, WorkflowFiles, read_file
from toolcrib.features.workflows.graph.validation import edge_problem, validate
from toolcrib.features.workflows.imports import (
    IMPORTED,
    IMPORTS,
    ImportedWorkflows,
    NotConfirmed,
    codes,
    content_digest,
    what_it_does,
)
from toolcrib.features.workflows.inputs import input_schema, read_inputs
from toolcrib.features.workflows.records import FINAL, RunRecord
from toolcrib.features.workflows.runs import WorkflowRuns
from toolcrib.graph.files import read_workflow, workflow_from, write_workflow
from toolcrib.graph.problems import InvalidWorkflow
from toolcrib.host import Host
from toolcrib.host.core import HostCore
from toolcrib.lazy import Lazy
from toolcrib.schema.events import WorkflowsChanged
from toolcrib.schema.tools import Tool, ToolResult
from toolcrib.schema.workflows import Edge, Workflow, WorkflowProblem
from toolcrib.serverkit import caller_context
from toolcrib.serverkit.context import ToolContext
from toolcrib.tools.names import BORDER, PREFIX
from toolcrib.tools.sources.inline import InlineServer

if TYPE_CHECKING:
    from toolcrib.features.workflows.from_chat import FromChat
    from toolcrib.features.workflows.planner.planner import WorkflowPlan
    from toolcrib.features.workflows.trigger_service import WorkflowTriggers
    from toolcrib.llm.model import Model

logger = logging.getLogger(__name__)

SERVER = "workflows"


class WorkflowTool:
    """A workflow that can be called like a function."""

    def __init__(self, runs: WorkflowRuns, workflow: Workflow) -> None:
        self._runs = runs
        self._workflow = workflow
        self.name = workflow.name.replace("-", "_")
        self.definition = {
            "name": self.name,
            "title": workflow.name,
            "description": workflow.description or f"Runs the workflow {workflow.name}.",
            "inputSchema": input_schema(workflow),
            "annotations": {"readOnlyHint": False, "destructiveHint": True},
        }

    async def call(self, arguments: Mapping[str, Any], context: ToolContext | None = None) -> ToolResult:
        """The outputs of the run, or why it failed."""
        try:
            inputs = read_inputs(self._workflow, arguments, {})
            results_of = self._runs.results_in(caller_context.session.get())
            run = await self._runs.start(self._workflow, inputs, results_of=results_of)
        except ToolcribError as error:
            return _failed(error.message, error.hint)
        try:
            return _result(await self._end(run, context or ToolContext()))
        except asyncio.CancelledError:
            await asyncio.shield(self._runs.cancel(run))
            raise

    async def _end(self, run: str, context: ToolContext) -> RunRecord:
        done = 0
        async for record, step in self._runs.changes(run):
            if step is not None and step.ended is not None:
                done += 1
                context.progress(done, None, f"{step.step}: {step.state}")
            if record.state in FINAL:
                return record
        raise AssertionError("the changes of a run end with its end")


class WorkflowTools:
    """The offered workflows of a host, as one inline server."""

    def __init__(self, host: Host, runs: WorkflowRuns) -> None:
        self._host = host
        self._runs = runs
        self._server: InlineServer | None = None

    def offer(self, workflows: Sequence[Workflow]) -> None:
        """Replace the offered workflows."""
        if self._server is None and not workflows:
            return
        toolset = self._host.toolset
        try:
            if self._server is None:
                server = InlineServer(SERVER, timeout=None)
                toolset.inline.add(server)
                self._server = server
            made = [WorkflowTool(self._runs, workflow) for workflow in workflows]
            self._server.functions = {tool.name: tool for tool in made}
            toolset.registry.put(SERVER, "inline", [tool.definition for tool in made])
        except (ConfigError, ToolcribError) as error:
            logger.warning("workflows are not offered as tools", extra={"reason": error.message})


def _result(record: RunRecord) -> ToolResult:
    if record.state != "finished":
        error = record.error or {"message": f"The run {record.run} was {record.state}.", "hint": ""}
        return _failed(str(error.get("message", "")), str(error.get("hint", "")))
    outputs = dict(record.outputs or {})
    text = json.dumps(outputs, ensure_ascii=False)
    return {
        "content": [{"type": "text", "text": text}],
        "structuredContent": {"run": record.run, "outputs": outputs},
        "isError": False,
    }


def _failed(message: str, hint: str) -> ToolResult:
    return {"content": [{"type": "text", "text": f"{message} {hint}".strip()}], "isError": True}


class Workflows:
    """Created by the host on first use."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self.files = WorkflowFiles(host.paths.workflows)
        self.imports = ImportedWorkflows(host.paths.state / IMPORTS)
        self.runs = WorkflowRuns(host, self)
        self._tools = WorkflowTools(host, self.runs)
        self._lazy_triggers = Lazy(lambda: _open_triggers(host.core, self))

    @property
    def triggers(self) -> WorkflowTriggers:
        """What starts workflows by itself; opened on first use."""
        return self._lazy_triggers.value

    async def close(self) -> None:
        """Stop the engine."""
        await self.runs.close()

    async def list(self) -> list[StoredWorkflow]:
        """All workflows by name; a file that cannot be read has its problems."""
        files = await asyncio.to_thread(lambda: list(self.files.all()))
        stored = [read_file(file) for file in files]
        self._offer(stored)
        return [self._checked(entry) for entry in stored]

    async def offer_tools(self) -> None:
        """Offer the workflows that are marked as tools."""
        files = await asyncio.to_thread(lambda: list(self.files.all()))
        self._offer([read_file(file) for file in files])

    def _offer(self, stored: Iterable[StoredWorkflow]) -> None:
        found = [
            entry.workflow for entry in stored if entry.workflow is not None and entry.workflow.options.tool
        ]
        # What a stranger wrote about a workflow is not shown to models before it is confirmed.
        allowed = [
            workflow for workflow in found if self.imports.state(content_digest(workflow)) is not False
        ]
        self._tools.offer(allowed)

    async def get(self, name: str, version: str | None = None) -> StoredWorkflow:
        """One workflow, or a kept version of it; raises `NotFound`."""
        file = await asyncio.to_thread(self.files.read, name, version)
        return self._checked(read_file(file))

    async def find(self, name: str) -> Workflow:
        """A stored workflow; raises `NotFound`, or `InvalidWorkflow` if its file cannot be read."""
        return (await self.get(name)).readable

    async def save(
        self,
        workflow: Workflow | Mapping[str, Any],
        *,
        expected_version: str | None = None,
        imported: bool = False,
    ) -> StoredWorkflow:
        """Store a workflow, valid or not; raises `Conflict` if it is not the expected version any more.

        `expected_version` is empty for a new workflow. `imported` if it was made elsewhere; a changed or
        copied one stays so.
        """
        parsed = parse(workflow)
        content = write_workflow(parsed).encode()
        await asyncio.to_thread(self._note_origin, parsed, imported=imported)
        file = await asyncio.to_thread(self.files.save, parsed.name, content, expected=expected_version)
        self._host.events.publish(WorkflowsChanged(name=parsed.name))
        await self.offer_tools()
        return self._checked(read_file(file))

    def _note_origin(self, workflow: Workflow, *, imported: bool) -> None:
        """Remember a workflow that was made elsewhere, as a whole or in part. Blocks."""
        stored = [saved for file in self.files.all() if (saved := read_file(file).workflow) is not None]
        states = [(saved, self.imports.state(content_digest(saved))) for saved in stored]
        digest, parts = content_digest(workflow), codes(workflow)
        if imported and not any(state is None and content_digest(saved) == digest for saved, state in states):
            self.imports.add([digest])
        before = [state for saved, state in states if state is not None and saved.name == workflow.name]
        copied = [state for saved, state in states if state is not None and parts & codes(saved)]
        if not imported and (before or copied):
            self.imports.add([digest], confirmed=all(before or copied))

    async def admit(self, workflow: Workflow) -> tuple[str, ...]:
        """Raises `NotConfirmed` for an imported workflow that may not run yet.

        Returns what its run has to know: `IMPORTED`, or nothing.
        """
        state = await self.is_confirmed(workflow)
        if state is False:
            raise NotConfirmed(
                f"The workflow {workflow.name} was imported and was never run here.",
                hint=f"See what it does, and confirm it: toolcrib workflow run {workflow.name}",
            )
        return () if state is None else (IMPORTED,)

    async def confirm(self, workflow: Workflow) -> None:
        """The user has seen what an imported workflow does."""
        digest = content_digest(workflow)
        if await asyncio.to_thread(self.imports.state, digest) is False:
            await asyncio.to_thread(self.imports.add, [digest], confirmed=True)
            await self.offer_tools()

    async def is_confirmed(self, workflow: Workflow) -> bool | None:
        """None if the workflow was made here."""
        return await asyncio.to_thread(self.imports.state, content_digest(workflow))

    def what_it_does(self, workflow: Workflow) -> Sequence[str]:
        """What a workflow reads, runs and sends, a line each."""
        return what_it_does(workflow, self._find_tool, self._host.approvals.policy.is_ours)

    async def remove(self, name: str) -> str:
        """Remove a workflow; returns its last version, which is kept."""
        removed = await asyncio.to_thread(self.files.remove, name)
        await self.triggers.forget(name)
        self._host.events.publish(WorkflowsChanged(name=name))
        await self.offer_tools()
        return removed.version

    async def versions(self, name: str) -> Sequence[FileVersion]:
        """The kept versions, the latest first."""
        return await asyncio.to_thread(self.files.versions, name)

    def validate(self, workflow: Workflow | Mapping[str, Any] | str) -> Sequence[WorkflowProblem]:
        """Everything that is wrong with it; it can run if all of it are warnings."""
        try:
            return self._problems(parse(workflow))
        except InvalidWorkflow as error:
            return error.problems

    def check_edge(self, workflow: Workflow, edge: Edge) -> WorkflowProblem | None:
        """Why a value that an edge would bring does not fit where it is used; None if all do."""
        return edge_problem(workflow, edge, find_tool=self._find_tool, find_workflow=self._find_workflow)

    def check(self, workflow: Workflow) -> None:
        """Raises `InvalidWorkflow` if it cannot run."""
        problems = [problem for problem in self._problems(workflow) if not problem.warning]
        if problems:
            raise InvalidWorkflow(problems, name=workflow.name)

    async def plan(
        self, request: str, *, model: str | Model | None = None, current: Workflow | None = None
    ) -> WorkflowPlan:
        """Plan a workflow with a model, or change the current one; it is neither saved nor run.

        Raises `PlanRefused` with the reason.
        """
        from toolcrib.features.workflows.planner.planner import plan_workflow

        known = {entry.name: entry.workflow for entry in await self.list() if entry.workflow is not None}
        return await plan_workflow(self._host, request, stored=known, model=model, current=current)

    async def from_chat(self, *chats: str, name: str | None = None) -> FromChat:
        """A workflow from the tool calls of chats that did the same; it is not saved."""
        from toolcrib.features.workflows.from_chat import workflow_from_chats

        return await workflow_from_chats(self._host, chats, name=name)

    def _checked(self, stored: StoredWorkflow) -> StoredWorkflow:
        if stored.workflow is None:
            return stored
        return replace(stored, problems=self._problems(stored.workflow))

    def _problems(self, workflow: Workflow) -> Sequence[WorkflowProblem]:
        found = validate(workflow, find_tool=self._find_tool, find_workflow=self._find_workflow)
        return [*found, *setting_problems(workflow)]

    def _find_tool(self, name: str) -> Tool:
        """A registered tool; one of a server that does not run now may exist."""
        try:
            return self._host.toolset.registry.resolve(name)
        except UnknownTool:
            if not self._may_exist(name):
                raise
            raise ServerNotReady(
                f"The server of {name} is not running, so its tools are not known."
            ) from None

    def _may_exist(self, name: str) -> bool:
        known = self._host.toolset.registry.snapshot.by_server
        bare = name.removeprefix(PREFIX)
        servers = (server for server in self._host.config.servers if bare.startswith(f"{server}{BORDER}"))
        return any(not known.get(server) for server in servers)

    def _find_workflow(self, name: str) -> Workflow:
        return read_file(self.files.read(name)).readable


def parse(workflow: Workflow | Mapping[str, Any] | str) -> Workflow:
    """The workflow of a request or of the text of a file; raises `InvalidWorkflow`."""
    if isinstance(workflow, Workflow):
        return workflow
    return read_workflow(workflow) if isinstance(workflow, str) else workflow_from(workflow)


def _open_triggers(core: HostCore, workflows: Workflows) -> WorkflowTriggers:
    from toolcrib.features.workflows.trigger_service import WorkflowTriggers

    return WorkflowTriggers(core, workflows)
