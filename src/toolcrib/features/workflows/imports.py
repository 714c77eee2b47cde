"""Workflows that were made elsewhere: which they are, what they do (the lines that are shown before the first
run), and whether the user confirmed that.

They are known by a digest of their content without the name, so that a copy is the same and a change needs a
confirmation again, except one that is made in the editor here.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from toolcrib.approvals.facts import reach_of
from toolcrib.approvals.known_addresses import is_web_address, values_in, web_addresses
from toolcrib.config.paths import make_private
from toolcrib.config.safe_files import exclusive, write_atomic
from toolcrib.errors import Denied, ToolcribError
from toolcrib.features.workflows.graph.node_types import node_types
from toolcrib.graph.files import write_workflow
from toolcrib.schema.tools import Principal, Tool, ToolCall
from toolcrib.schema.workflows import Node, Workflow

IMPORTED = "imported workflow"
"""In `results_of` of a run: its workflow was made elsewhere, so that its code is asked about."""
IMPORTS = "imported-workflows.json"
"""In the folder of the state, which is in no backup."""
MOST_KEPT = 5_000
MOST_NAMED = 50
_LONGEST = 200
_CODE = "Code"


class NotConfirmed(Denied):
    """The workflow was made elsewhere, and nobody has confirmed it yet."""

    kind = "workflow_not_confirmed"


class ImportedWorkflows:
    """The digests of imported workflows, each with whether it is confirmed. All methods block."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def add(self, digests: Iterable[str], *, confirmed: bool = False) -> None:
        """These were made elsewhere; what was confirmed before stays so."""
        make_private(self._file.parent)
        with exclusive(self._file):
            known = self._read()
            for digest in digests:
                known[digest] = known.pop(digest, False) or confirmed
            newest = dict(list(known.items())[-MOST_KEPT:])
            write_atomic(self._file, json.dumps(newest).encode())

    def state(self, digest: str) -> bool | None:
        """Whether it is confirmed; None if it was made here."""
        return self._read().get(digest)

    def _read(self) -> dict[str, bool]:
        try:
            known = json.loads(self._file.read_bytes())
        except FileNotFoundError:
            return {}
        return {str(digest): value is True for digest, value in known.items()}


def content_digest(workflow: Workflow) -> str:
    content = write_workflow(workflow.model_copy(update={"name": "x"}))
    return hashlib.sha256(content.encode()).hexdigest()


def codes(workflow: Workflow) -> set[str]:
    """The code of its nodes."""
    nodes = (node for node in workflow.nodes.values() if node.type == _CODE)
    return {str(node.settings.get("code", "")) for node in nodes}


def what_it_does(
    workflow: Workflow, find_tool: Callable[[str], Tool], ours: Callable[[Tool], bool]
) -> list[str]:
    """What a workflow reads, runs and sends, a line each, as far as its file tells."""
    lines = [
        f"{line} (node {name})"
        for name, node in workflow.nodes.items()
        if node.enabled and (line := _node_line(node, find_tool, ours))
    ]
    if workflow.options.desktop != "desktop":
        lines.append(f"Controls the desktop with {_cut(workflow.options.desktop)}")
    if workflow.options.tool:
        lines.append("Is offered to models as a tool")
    lines += [f"Can be started by a {trigger.type}, once you turn it on" for trigger in workflow.triggers]
    return [*lines, *_names(workflow)]


def _node_line(node: Node, find_tool: Callable[[str], Tool], ours: Callable[[Tool], bool]) -> str:
    settings = node.settings
    if node.type == _CODE:
        return "Runs Python code in a sandbox without network; its result counts as private"
    if node.type == "SubWorkflow":
        return f"Runs the workflow {_cut(settings.get('workflow'))}"
    if node.type == "AiStep":
        allowed = settings.get("allowed_tools")
        tools = ", ".join(map(_cut, allowed)) if isinstance(allowed, list) else "all that fit"
        return f"Lets a model call tools: {tools or 'none'}"
    if node.type == "McpToolCall":
        return _tool_line(_cut(settings.get("tool")), find_tool, ours)
    known = node_types().get(node.type)
    if known is None or known.group == "desktop":
        return f"Controls the desktop: {known.title if known else _cut(node.type)}"
    return ""


def _tool_line(name: str, find_tool: Callable[[str], Tool], ours: Callable[[Tool], bool]) -> str:
    try:
        tool = find_tool(name)
    except ToolcribError:
        return f"Calls {name}, which is not available here"
    if not tool.definition.read_only:
        return f"Calls {name}, which may change or send something"
    reach = reach_of(ToolCall("", tool, {}, Principal()), ours=ours(tool))
    return f"Calls {name}, which {_READS[reach if ours(tool) else 'server']}"


_READS = {
    "here": "reads here",
    "server": "reads from its server, by its own account",
    "service": "sends a query to the search engine",
    "anybody": "reads an address and can send data there",
}


def _names(workflow: Workflow) -> Iterator[str]:
    """The addresses and files that its settings name."""
    texts = list(dict.fromkeys(values_in(workflow.model_dump(mode="json", exclude={"description"}))))
    addresses = dict.fromkeys(address for text in texts for address in web_addresses(text))
    files = [text for text in texts if text.startswith(("/", "~/", "file:")) and not is_web_address(text)]
    for kind, found in (("address", list(addresses)), ("file", files)):
        yield from (f"Names the {kind} {_cut(text)}" for text in found[:MOST_NAMED])
        if len(found) > MOST_NAMED:
            yield f"Names {len(found) - MOST_NAMED} more {kind}{'es' if kind == 'address' else 's'}"


def _cut(value: object) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
