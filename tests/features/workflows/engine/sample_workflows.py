"""Workflows for tests, written as in their files."""

from __future__ import annotations

from typing import Any

from toolcrib.schema.workflows import Workflow

INNER = 4
"""The length of the sub-workflow of `mixed`."""


def workflow(nodes: dict[str, dict[str, Any]], edges: list[str], **rest: Any) -> Workflow:
    """Edges as text: `a b` or `a.output b`."""
    return Workflow.model_validate(
        {"name": "sample", "nodes": nodes, "edges": [_edge(edge) for edge in edges], **rest}
    )


def _edge(text: str) -> dict[str, str]:
    source, target = text.split()
    node, _, output = source.partition(".")
    return {"from": node, "to": target, **({"output": output} if output else {})}


def call(tool: str = "note", /, *, node: dict[str, Any] | None = None, **arguments: Any) -> dict[str, Any]:
    """A node that calls a tool."""
    return {"type": "McpToolCall", "settings": {"tool": tool, "arguments": arguments}, **(node or {})}


def chain(length: int, tool: str = "add", **arguments: Any) -> Workflow:
    """Nodes in a row, each of which adds one; the output is their sum."""
    nodes = {}
    for number in range(length):
        before = f"{{{{n{number - 1}.data.total}}}}" if number else 0
        nodes[f"n{number}"] = call(tool, a=before, b=1, **arguments)
    edges = [f"n{number} n{number + 1}" for number in range(length - 1)]
    return workflow(nodes, edges, outputs={"total": f"{{{{n{length - 1}.data.total}}}}"})


def mixed(length: int) -> Workflow:
    """A row of calls, some not repeatable, then a loop, a map, a branch, waits and a sub-workflow."""
    nodes: dict[str, Any] = {}
    edges: list[str] = []
    before: Any = 0
    for number in range(length):
        tool = "append" if number % 3 == 2 else "add"
        nodes[f"n{number}"] = call(tool, a=before, b=1, seconds=0.01)
        before = f"{{{{n{number}.data.total}}}}"
        edges += [f"n{number - 1} n{number}"] if number else []
    nodes |= {
        "loop": {
            "type": "Loop",
            "settings": {
                "exit_condition": {"left": "{{turn.data.total}}", "operator": "greater_or_equal", "right": 3}
            },
        },
        "turn": call("add", a="{{loop.iteration}}", b=0, seconds=0.01),
        "end_loop": {"type": "EndLoop", "settings": {"loop": "loop"}},
        "each": {"type": "Map", "settings": {"items": [1, 2, 3, 4, 5], "at_once": 2}},
        "twice": call("append", a="{{item}}", b="{{item}}", seconds=0.01),
        "more": call("add", a="{{twice.data.total}}", b=before, seconds=0.01),
        "end_each": {"type": "EndMap", "settings": {"map": "each", "value": "{{more.data.total}}"}},
        "branch": {
            "type": "If",
            "settings": {"condition": {"left": "{{turn.data.total}}", "operator": "equals", "right": 3}},
        },
        "ask": {"type": "AskUser", "settings": {"message": "Go on?", "choices": ["Yes", "No"]}},
        "pause": {"type": "Wait", "settings": {"seconds": 0.2}},
        "signal": {"type": "Wait", "settings": {"event": "go"}},
        "sub": {"type": "SubWorkflow", "settings": {"workflow": "inner", "inputs": {}}},
        "right": call("add", a=before, b="{{sub.outputs.total}}"),
        "wrong": call("add", a=0, b=0),
    }
    edges += [
        f"n{length - 1} loop",
        "loop.body turn",
        "turn end_loop",
        "loop.done each",
        "each.body twice",
        "twice more",
        "more end_each",
        "each.done branch",
        "branch.true ask",
        "ask pause",
        "pause signal",
        "signal sub",
        "sub right",
        "branch.false wrong",
    ]
    outputs = {"total": "{{right.data.total}}", "each": "{{each.results}}", "turns": "{{turn.data.total}}"}
    return workflow(nodes, edges, name="mixed", outputs=outputs)


def expected(length: int) -> dict[str, Any]:
    """The outputs of `mixed`."""
    return {"total": length + INNER, "each": [2 * item + length for item in range(1, 6)], "turns": 3}
