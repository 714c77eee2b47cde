"""Workflows as tools: those with `options.tool` are offered to agents and to clients of the gateway.

Such a call starts a run and waits for it. The run makes its calls as itself, so their approvals are asked as
in any other run, knowing what the caller has read. If the caller gives up, the run is cancelled.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Mapping, Sequence
from typing import Any

from toolcrib.errors import ConfigError, ToolcribError
from toolcrib.features.workflows.inputs import input_schema, read_inputs
from toolcrib.features.workflows.records import FINAL, RunRecord
from toolcrib.features.workflows.runs import WorkflowRuns
from toolcrib.host import Host
from toolcrib.schema.tools import ToolResult
from toolcrib.schema.workflows import Workflow
from toolcrib.serverkit import caller_context
from toolcrib.serverkit.context import ToolContext
from toolcrib.tools.sources.inline import InlineServer

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
