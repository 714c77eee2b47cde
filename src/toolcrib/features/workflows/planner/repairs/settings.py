"""Settings in another spelling, and settings that are null."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from toolcrib.features.workflows.planner.catalog import PlannerCatalog, folded
from toolcrib.features.workflows.planner.draft import PlannedNode, WorkflowDraft
from toolcrib.graph.node_type import AnyNodeType

_OTHER_NAMES = {
    "tool": ("toolname", "name", "function"),
    "arguments": ("args", "params", "parameters", "toolarguments", "input", "inputs"),
    "exit_condition": ("condition", "until", "exitwhen"),
    "condition": ("expression", "if"),
    "items": ("list", "over", "array"),
    "loop": ("loopid", "loopnode"),
    "map": ("mapid", "mapnode"),
    "prompt": ("instruction", "instructions", "text"),
    "seconds": ("duration", "delay"),
}
"""What models call some settings, without case and punctuation."""


def apply(draft: WorkflowDraft, catalog: PlannerCatalog) -> None:
    for node in draft.new_nodes():
        kind = catalog.type_of(node)
        if kind is not None:
            _rename(draft, node, kind)
            _drop_null(node, kind)


def match(given: Iterable[str], known: Iterable[str]) -> dict[str, str]:
    """Known names by given ones that only differ in case and punctuation, each used once."""
    free = {folded(name): name for name in known}
    return {name: free.pop(folded(name)) for name in given if folded(name) in free}


def _rename(draft: WorkflowDraft, node: PlannedNode, kind: AnyNodeType) -> None:
    fields = _fields(kind)
    unknown = [name for name in node.settings if name not in fields]
    missing = [name for name in fields if name not in node.settings]
    renamed = match(unknown, missing) | _by_other_names(unknown, missing)
    for old, new in renamed.items():
        node.settings[new] = node.settings.pop(old)
        draft.doubt(node.id, f"The setting {old[:80]!r} is read as {new!r}.")


def _fields(kind: AnyNodeType) -> Mapping[str, bool]:
    """Names of the settings, and whether each is required."""
    return {field.alias or name: field.is_required() for name, field in kind.settings.model_fields.items()}


def _by_other_names(unknown: Iterable[str], missing: Iterable[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for name in missing:
        given = [key for key in unknown if folded(key) in _OTHER_NAMES.get(name, ())]
        if len(given) == 1 and given[0] not in found:
            found[given[0]] = name
    return found


def _drop_null(node: PlannedNode, kind: AnyNodeType) -> None:
    """A setting that is null is the same as one that is left out."""
    optional = {name for name, required in _fields(kind).items() if not required}
    node.settings = {
        key: value for key, value in node.settings.items() if value is not None or key not in optional
    }
