"""The approvals of a host: the user's rules, the gate, and the questions that wait for an answer."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from toolcrib.approvals.facts import WORKFLOW_CODE
from toolcrib.approvals.gate import ApprovalGate
from toolcrib.approvals.question import DurableAsker
from toolcrib.config.paths import Paths
from toolcrib.config.settings import Settings
from toolcrib.host.core import HostCore
from toolcrib.host.service_preview import ServicePreviews
from toolcrib.host.workspace_tools import WorkspaceTools
from toolcrib.schema.tools import Tool
from toolcrib.store.approvals import ApprovalRequests, ApprovalRules
from toolcrib.tools import ports


@dataclass(frozen=True, kw_only=True)
class Approvals:
    """Decides which calls may run."""

    policy: ApprovalGate
    """The settings and the user's rules."""
    gate: ports.CallGate
    """The policy, unless another gate was passed to `open_host`."""
    questions: DurableAsker
    """Questions that wait for the user."""
    rules: ApprovalRules
    """The user's rules, as stored."""


async def open_approvals(
    core: HostCore, gate: ports.CallGate | None, previews: ServicePreviews
) -> tuple[Approvals, WorkspaceTools]:
    """The approvals, and the workspace tools, which work in the folders of their sessions."""
    database, clock, settings = core.database, core.clock, core.config.settings
    rules = await ApprovalRules.open(database, clock=clock)
    wait_seconds = settings.approvals.wait_seconds
    waiting = DurableAsker(ApprovalRequests(database, clock), timeout=wait_seconds)

    def is_ours(tool: Tool) -> bool:
        """Whether a tool came with Toolcrib, so that its annotations can be trusted."""
        if tool.origin == "mcp":
            return tool.server in core.config.bundled
        return tool is WORKFLOW_CODE or workspace_tools.owns(tool)

    policy = ApprovalGate(
        rules=rules,
        ours=is_ours,
        asker=waiting if settings.approvals.headless == "wait" else None,
        protected=_own_folders(core.paths),
        folders=(settings.terminal.folder, *settings.terminal.folders),
        default_project=_default_project(settings),
        preview=previews.of,
        scope_of=previews.scope_of,
    )
    adopt_settings(policy, settings)
    workspace_tools = WorkspaceTools(settings.terminal, policy.project_of, hidden=_own_folders(core.paths))
    return Approvals(policy=policy, gate=gate or policy, questions=waiting, rules=rules), workspace_tools


def adopt_settings(policy: ApprovalGate, settings: Settings) -> None:
    """Use the settings for approvals from now on."""
    policy.adopt(settings.approvals)
    views = {"gateway": settings.gateway, **{f"gateway:{name}": p for name, p in settings.profiles.items()}}
    policy.unasked = frozenset(name for name, view in views.items() if view.approvals == "off")


def _default_project(settings: Settings) -> str:
    """Where commands run in sessions without a project."""
    return str(Path(settings.terminal.folder or ".").expanduser().absolute())


def _own_folders(paths: Paths) -> tuple[Path, ...]:
    """Files that control the host; not those offered to tools, which may be in the same home."""
    backup = paths.config_file.with_name(f"{paths.config_file.name}.bak")
    folders = (paths.database.parent, paths.workflows, paths.state, paths.runtime, paths.logs, paths.cache)
    return (paths.config_file, backup, paths.secrets_file, paths.accounts_file, *folders)
