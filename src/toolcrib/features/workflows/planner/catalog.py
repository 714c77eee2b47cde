"""What a plan may be made of: the node types, and the tools that were selected for the request; how spellings
of names are compared.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import ValidationError

from toolcrib.errors import NotFound, UnknownTool
from toolcrib.features.workflows.planner.draft import PlannedNode
from toolcrib.graph.node_settings import draft as read_settings
from toolcrib.graph.node_type import AnyNodeType
from toolcrib.schema.tools import Tool
from toolcrib.schema.workflows import NEXT, Workflow
from toolcrib.suggestions import did_you_mean

_OUTPUTS = {"branch": ("true", "false"), "loop": ("body", "done"), "map": ("body", "done"), "end": ()}
"""Of a node whose settings cannot be read yet, by its flow."""


def folded(name: str) -> str:
    """A name without case, spaces and punctuation, to compare spellings."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


@dataclass(frozen=True, kw_only=True)
class PlannerCatalog:
    types: Mapping[str, AnyNodeType]
    tools: Mapping[str, Tool]
    """By public name: those that were offered, and those that the current workflow uses."""
    workflows: Mapping[str, Workflow] = field(default_factory=dict)
    """The stored workflows, for SubWorkflow."""

    def type_of(self, node: PlannedNode) -> AnyNodeType | None:
        return self.types.get(node.type)

    def flow(self, node: PlannedNode) -> str:
        found = self.type_of(node)
        return "step" if found is None else found.flow

    def outputs(self, node: PlannedNode) -> tuple[str, ...]:
        """The outputs of a node besides `error`, as far as its settings can be read."""
        found = self.type_of(node)
        if found is None:
            return (NEXT,)
        try:
            return tuple(found.outputs(read_settings(found.settings, node.settings)))
        except ValidationError:
            return _cases(node) or _OUTPUTS.get(found.flow, (NEXT,))

    def tool(self, name: str) -> Tool:
        """The tool of exactly this name; raises `UnknownTool`."""
        if name in self.tools:
            return self.tools[name]
        hint = did_you_mean(name[:100], self.tools, otherwise="Use only the listed tools.")
        raise UnknownTool(f"There is no tool {name[:100]!r} among the listed ones.", hint=hint)

    def workflow(self, name: str) -> Workflow:
        """Raises `NotFound`."""
        if name in self.workflows:
            return self.workflows[name]
        hint = did_you_mean(name[:100], self.workflows, otherwise="Use only the listed workflows.")
        raise NotFound(f"There is no workflow {name[:100]!r}.", hint=hint)

    def find_tool(self, name: str) -> Tool | None:
        """The tool of exactly this name, or the only one whose name differs in punctuation or its server."""
        if name in self.tools:
            return self.tools[name]
        wanted = folded(name)
        alike = [
            tool
            for tool in self.tools.values()
            if folded(tool.name) == wanted or tool.definition.name == name.strip()
        ]
        return alike[0] if len(alike) == 1 else None


def _cases(node: PlannedNode) -> tuple[str, ...]:
    """The outputs of a Switch with invalid settings."""
    cases = node.settings.get("cases")
    if not isinstance(cases, list):
        return ()
    names = [case.get("name") for case in cases if isinstance(case, Mapping)]
    return (*(name for name in names if isinstance(name, str)), "default")
