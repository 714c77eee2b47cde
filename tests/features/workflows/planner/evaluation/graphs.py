"""Short notation for the answers that a model should give."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

Json = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Case:
    """A request, and the answer of a model that makes no mistakes."""

    name: str
    family: str
    text: str
    answer: Json
    """`{"workflow": …}`, or `{"patch": …}` for a change of `current`."""
    current: Json | None = None
    expected: Json = field(default_factory=dict)
    """The workflow that the answer stands for."""


def node(id: str, type: str, **settings: Any) -> Json:  # noqa: A002
    return {"id": id, "type": type, "name": id.replace("_", " ").capitalize(), "settings": settings}


def call(id: str, tool: str, **arguments: Any) -> Json:  # noqa: A002
    return node(id, "McpToolCall", tool=tool, arguments=arguments)


def edge(source: str, target: str, output: str = "next") -> Json:
    return {"from": source, "to": target, "output": output}


def chain(*nodes: Json) -> list[Json]:
    """Edges from each node to the next."""
    ids = [one["id"] for one in nodes]
    return [edge(one, other) for one, other in pairwise(ids)]


def workflow(name: str, nodes: list[Json], edges: list[Json], **rest: Any) -> Json:
    return {"name": name, "description": f"{name}.", "nodes": nodes, "edges": edges, **rest}


def straight(name: str, *nodes: Json, **rest: Any) -> Json:
    return workflow(name, list(nodes), chain(*nodes), **rest)


def when(left: Any, operator: str, right: Any = None) -> Json:
    return {"left": left, "operator": operator, **({} if right is None else {"right": right})}


def repeated(name: str, loop: Json, body: list[Json], after: list[Json]) -> Json:
    """A loop or a map over a chain, and a chain after it."""
    end_type = f"End{loop['type']}"
    last = f"{{{{{body[-1]['id']}.text}}}}"
    settings = {"loop": loop["id"]} if loop["type"] == "Loop" else {"map": loop["id"], "value": last}
    end = node(f"end_{loop['id']}", end_type, **settings)
    inner = [*body, end]
    edges = [edge(loop["id"], body[0]["id"], "body"), *chain(*inner)]
    if after:
        edges += [edge(loop["id"], after[0]["id"], "done"), *chain(*after)]
    return workflow(name, [loop, *inner, *after], edges)


def before(first: list[Json], rest: Json) -> Json:
    """A chain, and then another workflow."""
    joint = edge(first[-1]["id"], rest["nodes"][0]["id"])
    return {**rest, "nodes": [*first, *rest["nodes"]], "edges": [*chain(*first), joint, *rest["edges"]]}
