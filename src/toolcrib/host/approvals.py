"""Builds the gate of a host: the person's rules, questions that wait, and whose tools are whose."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from toolcrib.approvals.durable_questions import DurableAsker
from toolcrib.approvals.gate import Gate
from toolcrib.clock import Clock
from toolcrib.config.contents import Config
from toolcrib.config.paths import Paths
from toolcrib.host.workspace_tools import WorkspaceTools
from toolcrib.schema.tools import Tool
from toolcrib.store.approvals import ApprovalRequests, ApprovalRules
from toolcrib.store.database import Database


async def open_gate(
    database: Database, clock: Clock, paths: Paths, config: Config, config_now: Callable[[], Config]
) -> tuple[Gate, DurableAsker, WorkspaceTools]:
    """The gate, where its questions wait, and the workbench that works in its sessions' folders."""
    rules = await ApprovalRules.open(database, clock=clock)
    settings = config.settings.approvals
    waiting = DurableAsker(ApprovalRequests(database, clock), timeout=settings.wait_seconds)
    gate = Gate(
        rules=rules,
        ours=lambda tool: is_ours(tool, config_now(), workspace_tools),
        asker=waiting if settings.headless == "wait" else None,
        protected=_own_folders(paths),
        folders=(config.settings.terminal.folder, *config.settings.terminal.folders),
    )
    gate.adopt(settings)
    workspace_tools = WorkspaceTools(config.settings.terminal, gate.project_of, hidden=_own_folders(paths))
    return gate, waiting, workspace_tools


def is_ours(tool: Tool, config: Config, workspace_tools: WorkspaceTools) -> bool:
    """Whether a tool came with Toolcrib: what it declares of itself is then true."""
    if tool.origin != "mcp":
        return workspace_tools.owns(tool)
    return tool.server in config.bundled


def _own_folders(paths: Paths) -> tuple[Path, ...]:
    """What decides about us; not the files that we lend out, which may lie in the same home."""
    backup = paths.config_file.with_name(f"{paths.config_file.name}.bak")
    folders = (paths.database.parent, paths.state, paths.runtime, paths.logs, paths.cache)
    return (paths.config_file, backup, paths.secrets_file, *folders)
