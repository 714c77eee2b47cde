"""Each thing is declared once: no two classes have nearly the same fields.

Compared are dataclasses, TypedDicts, pydantic models and sections of the config file with three fields or
more. Two are twins if at least 60 % of the names of their fields are equal. Fields of a class from which both
inherit do not count, and neither do variants of a union, which differ in a `Literal`. Others have a reason.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import combinations
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src"
DESKTOP = "bundled.desktop"
DECLARING = frozenset({"TypedDict", "BaseModel", "Section"})
FEWEST_FIELDS = 3
TWINS = 0.6


@dataclass(eq=False)
class Declared:
    """A class as its module declares it."""

    name: str
    is_dataclass: bool
    bases: list[str]
    fields: dict[str, ast.expr]
    """Annotations by name, without those of the bases."""
    above: list[Declared] = field(default_factory=list)
    """The classes it inherits from, near and far."""

    @property
    def declares_data(self) -> bool:
        bases = {base.rpartition(".")[2] for one in (self, *self.above) for base in one.bases}
        return self.is_dataclass or any(one.is_dataclass for one in self.above) or bool(bases & DECLARING)

    @cached_property
    def all_fields(self) -> dict[str, ast.expr]:
        return {name: kind for one in (*reversed(self.above), self) for name, kind in one.fields.items()}


@cache
def declared() -> dict[str, Declared]:
    """All classes by module and name."""
    found: dict[str, Declared] = {}
    for file in sorted(SOURCE.rglob("*.py")):
        module = ".".join(file.relative_to(SOURCE).with_suffix("").parts)
        tree = ast.parse(file.read_text(encoding="utf-8"))
        imported = {
            alias.asname or alias.name: f"{node.module}.{alias.name}"
            for node in tree.body
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                one = _declared(module, node, imported)
                found[one.name] = one
    for one in found.values():
        one.above = list(_above(one, found))
    return found


def _declared(module: str, node: ast.ClassDef, imported: dict[str, str]) -> Declared:
    bases = [ast.unparse(base).partition("[")[0] for base in node.bases]
    annotated = [line for line in node.body if isinstance(line, ast.AnnAssign)]
    return Declared(
        name=f"{module}.{node.name}",
        is_dataclass=any("dataclass" in ast.unparse(decorator) for decorator in node.decorator_list),
        bases=[imported.get(base, f"{module}.{base}") for base in bases],
        fields={
            line.target.id: line.annotation
            for line in annotated
            if isinstance(line.target, ast.Name) and _outer(line.annotation) != "ClassVar"
        },
    )


def _above(one: Declared, found: dict[str, Declared]) -> Iterator[Declared]:
    for base in one.bases:
        if base in found:
            yield found[base]
            yield from _above(found[base], found)


@cache
def twins() -> set[tuple[str, str]]:
    """All pairs, by their names without the package."""
    data = [one for one in declared().values() if one.declares_data and len(one.all_fields) >= FEWEST_FIELDS]
    return {
        (one.name.removeprefix("toolcrib."), other.name.removeprefix("toolcrib."))
        for one, other in combinations(sorted(data, key=lambda one: one.name), 2)
        if _are_twins(one, other)
    }


def _are_twins(one: Declared, other: Declared) -> bool:
    shared = one.all_fields.keys() & other.all_fields.keys()
    if len(shared) < FEWEST_FIELDS or one in other.above or other in one.above:
        return False
    above = {name for base in one.above if base in other.above for name in base.all_fields}
    first, second = (set(each.all_fields) - above for each in (one, other))
    if min(len(first), len(second)) < FEWEST_FIELDS or len(first & second) < TWINS * len(first | second):
        return False
    return not any(_differ(one.all_fields[name], other.all_fields[name]) for name in first & second)


def _differ(kind: ast.expr, other: ast.expr) -> bool:
    return _outer(kind) == _outer(other) == "Literal" and ast.dump(kind) != ast.dump(other)


def _outer(kind: ast.expr) -> str:
    """`Literal` of `Literal["a"]`."""
    return kind.value.id if isinstance(kind, ast.Subscript) and isinstance(kind.value, ast.Name) else ""


MOST_IN_DESKTOP = 26
"""Pairs with a class of the desktop server; the bound may only fall."""
EXCEPTIONS: dict[str, tuple[tuple[str, str], ...]] = {
    "The event of a turn as JSON: it is stored and replayed, has its kind, and names the tool's server.": (
        ("agent.events.Asking", "chats.events.CallAskingEvent"),
        ("agent.events.Asking", "chats.events.ServerAskingEvent"),
        ("agent.events.CallEnded", "chats.events.ResultEvent"),
        ("agent.events.CallEnded", "chats.wire.CallWhole"),
        ("agent.events.CallMoved", "chats.events.ProgressEvent"),
        ("agent.events.RoundEnded", "chats.events.RoundEvent"),
        ("agent.events.TurnEnded", "chats.events.EndedEvent"),
        ("agent.export.AnswerUsage", "chats.wire.TokenUsage"),
        ("agent.ports.AgentQuestion", "chats.events.CallAskingEvent"),
        ("agent.ports.AgentQuestion", "chats.events.ServerAskingEvent"),
        ("chats.events.ProgressEvent", "operations.results.call_result.CallProgress"),
        ("chats.events.ResultEvent", "chats.wire.CallItem"),
        ("chats.turn.TurnNote", "chats.wire.NoteItem"),
        ("chats.wire.TokenUsage", "schema.messages.Usage"),
    ),
    "The answer of `ask`, without what a turn keeps to itself.": (
        ("agent.events.CallMoved", "operations.results.call_result.CallProgress"),
        ("agent.events.TurnEnded", "operations.results.models.Answered"),
        ("chats.events.EndedEvent", "operations.results.models.Answered"),
    ),
    "The wire leaves out what may be secret or is of no use to a reader, and adds what the host knows.": (
        ("accounts.account.Account", "features.accounts.results.AccountShown"),
        ("agent.chat.TextFile", "chats.wire.FileInfo"),
        ("approvals.question.ApprovalRequest", "operations.results.policy.ApprovalQuestion"),
        ("config.settings.ProfileSettings", "operations.results.gateway.ProfileShown"),
        ("graph.node_type.NodeQuestion", "features.workflows.results.runs.StepQuestion"),
        (
            "features.workflows.planner.planner.WorkflowPlan",
            "features.workflows.results.plans.WorkflowPlanned",
        ),
        ("features.workflows.records.RunQuestion", "features.workflows.results.runs.StepQuestion"),
        ("features.workflows.records.StepRecord", "features.workflows.results.runs.StepShown"),
        ("features.workflows.results.runs.StepShown", "graph.trace.Trace"),
        ("features.workflows.results.runs.StepTrace", "graph.trace.Trace"),
        ("features.workflows.results.workflows.WorkflowImported", "features.workflows.files.StoredWorkflow"),
        ("features.workflows.results.workflows.WorkflowShown", "features.workflows.files.StoredWorkflow"),
        ("operations.proposals.Proposal", "operations.results.additions.Proposed"),
        ("operations.results.additions.Needed", "servers.installers.engine.plan.InstallQuestion"),
        ("operations.results.calls.Call", "operations.results.calls.CallRecorded"),
        ("operations.pages.SignedInPage", "store.page_keys.PageKey"),
        ("operations.results.setups.SetupShown", "schema.setups.SetupStatus"),
    ),
    "A rule is stored and shown without the keys that have default values.": (
        ("approvals.rule.Pattern", "operations.results.policy.RulePattern"),
        ("approvals.rule.Rule", "operations.results.policy.RuleShown"),
    ),
    "A section reads the config file, whose keys and checks are its own (decision 0005).": (
        ("config.entries._Restart", "schema.servers.RestartPolicy"),
        ("config.entries._Sandbox", "schema.servers.SandboxPolicy"),
        ("config.settings.EmbedderSettings", "retrieval.embedder.EmbedderChoice"),
        ("config.settings.ProfileSettings", "operations.gateway.ProfileAddParams"),
        ("servers.installers.bundle.BundleCommand", "servers.transports.stdio.StdioSpec"),
        ("servers.installers.engine.plan.LaunchCommand", "servers.transports.stdio.ProcessSpec"),
        ("servers.installers.engine.plan.LaunchCommand", "servers.transports.stdio.StdioSpec"),
    ),
    "The parameters of an operation, checked with their own limits.": (
        ("features.clients.commands.import_.ImportFile", "config.drafts.DraftSource"),
        ("gateway.profile.Profile", "operations.gateway.ProfileAddParams"),
        ("operations.gateway.ProfileAddParams", "operations.results.gateway.ProfileShown"),
    ),
    "The settings and results of a node are models: their descriptions are shown, their values checked.": (
        ("chats.call_question.PictureRect", "features.workflows.nodes.take_screenshot.ScreenRegion"),
        ("graph.node_type.ModelAnswer", "features.workflows.nodes.ai_step.AiStepResult"),
        ("graph.node_type.UserAnswer", "features.workflows.nodes.ask_user.AskUserResult"),
        ("graph.node_type.NodeQuestion", "features.workflows.nodes.ask_user.AskUserSettings"),
        ("features.workflows.nodes.click.ClickResult", "features.workflows.nodes.find_text.FindTextResult"),
        (
            "features.workflows.nodes.mcp_tool_call.McpToolCallResult",
            "features.workflows.tool_content.ToolContent",
        ),
    ),
    "A draft of a model is changed in place and may be wrong; a file has other keys (`from`, `to`).": (
        ("graph.topology.DraftNode", "features.workflows.planner.draft.PlannedNode"),
        (
            "features.workflows.planner.draft.WorkflowEdgeChange",
            "features.workflows.planner.draft.PlannedEdge",
        ),
        ("features.workflows.planner.draft.WorkflowEdgeChange", "schema.workflows.Edge"),
        ("features.workflows.planner.draft.PlannedEdge", "schema.workflows.Edge"),
    ),
    "A tool's result for models: with null for what is missing, fewer fields, or numbers to refer to.": (
        ("accounts.dav_discovery.DavCalendar", "bundled.calendar.results.CalendarResult"),
        ("bundled.calendar.model.Attendee", "bundled.calendar.results.AttendeeResult"),
        ("bundled.calendar.model.CalendarInfo", "bundled.calendar.results.CalendarResult"),
        ("bundled.mail.mailbox.Changed", "bundled.mail.results.ChangedEmail"),
        ("bundled.websearch.engines.engine.Hit", "bundled.websearch.tools.WebSearchResult"),
    ),
    "In a change, None leaves a field as it is.": (
        ("bundled.calendar.model.EventChanges", "bundled.calendar.model.NewEvent"),
    ),
    "Different things, alike by chance.": (
        ("accounts.dav_discovery.DavCalendar", "bundled.calendar.model.CalendarInfo"),
        ("bundled.canvas.results.AssignmentList", "bundled.canvas.results.SubmissionList"),
        ("bundled.canvas.results.FileFacts", "bundled.discord.results.DiscordAttachment"),
        ("features.clients.commands.import_.ImportFile", "config.paste.pasted.PastedDocument"),
        (
            "config.drafts.ServerDraft",
            "features.clients.transfer.translation.ExportedServer",
        ),
        ("operations.results.models.AnswerCall", "operations.results.tools.Tried"),
        (
            "servers.installers.bundle.BundleCommand",
            "servers.installers.engine.plan.LaunchCommand",
        ),
    ),
}
"""Pairs that stay, by their reason."""

SHARED_NAMES = {"Decision", "Image", "Parameter", "SetupForgotten", "Word"}
"""Classes of several modules: each is part of the interface of the page, or public in `serverkit`."""


def _of_desktop(pair: tuple[str, str]) -> bool:
    return any(name.startswith(DESKTOP) for name in pair)


def test_each_thing_is_declared_once() -> None:
    excepted = {tuple(sorted(pair)) for pairs in EXCEPTIONS.values() for pair in pairs}
    found = {pair for pair in twins() if not _of_desktop(pair)}

    assert sorted(found - excepted) == [], "Declare it once, or inherit; see the module's docstring."
    assert sorted(excepted - found) == [], "These are no twins any more: remove them from the list."


def test_the_desktop_server_repeats_itself_less_and_less() -> None:
    assert len([pair for pair in twins() if _of_desktop(pair)]) <= MOST_IN_DESKTOP


def test_each_class_has_a_name_of_its_own() -> None:
    modules: dict[str, set[str]] = {}
    for path in declared():
        module, _, name = path.rpartition(".")
        if not name.startswith("_"):
            modules.setdefault(name, set()).add(module)

    assert {name for name, places in modules.items() if len(places) > 1} == SHARED_NAMES
