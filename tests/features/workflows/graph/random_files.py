"""Random workflow files: anything that JSON allows, near enough to real ones to be read in part."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import Any

from toolcrib.features.workflows.graph.node_types import node_types
from toolcrib.graph.files import workflow_from
from toolcrib.schema.workflows import Workflow

IDS = ["a", "b", "c", "d", "e", "loop", "map", "end", "input", "item", "run"]
PARTS = [
    "{{",
    "}}",
    "{{a.b}}",
    "{{input.x}}",
    "{{item",
    "[0]",
    "[-1]",
    '["k"]',
    ".",
    "error",
    "\\{{",
    " ",
    "\ud800",
    "😀",
]
OUTPUTS = ["next", "next", "error", "true", "false", "body", "done", "x"]
SCALARS = [None, True, False, 0, -1, 2**80, 10**400, 1e308, 0.5, float("nan"), float("inf"), "", "a", "text"]
KEYS = sorted({name for each in node_types().values() for name in each.settings.model_fields})


def any_text(rng: random.Random) -> str:
    if rng.random() < 0.5:
        return "".join(rng.choices(PARTS, k=rng.randrange(6)))
    id_ = rng.choice(IDS)
    return rng.choice(
        [
            f"{{{{{id_}}}}}",
            f"{{{{{id_}.value}}}}",
            f"{{{{{id_}.error.message}}}} x",
            f"{{{{{id_}.data[0].x}}}}",
        ]
    )


def any_json(rng: random.Random, depth: int = 0) -> Any:
    kind = rng.random()
    if depth > 3 or kind < 0.4:
        return rng.choice(SCALARS)
    if kind < 0.7:
        return any_text(rng)
    if kind < 0.85:
        return [any_json(rng, depth + 1) for _ in range(rng.randrange(4))]
    keys = rng.choices(
        [*KEYS, "all", "any", "not", "left", "operator", "right", any_text(rng)], k=rng.randrange(4)
    )
    return {key: any_json(rng, depth + 1) for key in keys}


def any_node(rng: random.Random) -> Any:
    """A node of a real type, with its example in part replaced by anything."""
    if rng.random() < 0.02:
        return any_json(rng)
    node_type = rng.choice(list(node_types().values()))
    settings = {
        key: any_json(rng) if rng.random() < 0.15 else value for key, value in node_type.example.items()
    }
    if rng.random() < 0.15:
        settings[rng.choice(KEYS)] = any_json(rng)
    node = {"type": node_type.name, "settings": settings}
    if rng.random() < 0.1:
        node[rng.choice(["timeout", "retry", "checks", "enabled", "position", "settings"])] = any_json(rng)
    return node


def any_file(rng: random.Random) -> dict[str, Any]:
    ids = rng.sample(IDS, k=rng.randrange(8))
    chain = [{"from": one, "to": other, "output": rng.choice(OUTPUTS)} for one, other in pairwise(ids)]
    more = [
        {"from": rng.choice(IDS), "to": rng.choice(IDS), "output": rng.choice(OUTPUTS)}
        for _ in range(rng.randrange(3))
    ]
    data: dict[str, Any] = {
        "name": "fuzz",
        "nodes": {id_: any_node(rng) for id_ in ids},
        "edges": chain + more,
    }
    if rng.random() < 0.3:
        data["outputs"] = {rng.choice(IDS): any_json(rng)}
    if rng.random() < 0.2:
        data["inputs"] = {
            rng.choice(IDS): {"type": rng.choice(["string", "integer"]), "default": any_json(rng)}
        }
    if rng.random() < 0.2:
        data["checks"] = [{"type": rng.choice(["condition", "text_present"]), "value": any_json(rng)}]
    if rng.random() < 0.05:
        data[rng.choice(["edges", "nodes", "options", "triggers", "x"])] = any_json(rng)
    return data


class GraphBuilder:
    """Builds valid graphs: sets in a chain, branches that join again, and nested loops."""

    def __init__(self, seed: int) -> None:
        self._rng = random.Random(seed)
        self._nodes: dict[str, Any] = {}
        self._edges: list[dict[str, str]] = []
        self._loops: list[str] = []
        self._last = ("", "next")

    def build(self, size: int) -> Workflow:
        self._set("n0", 0)
        while len(self._nodes) < size:
            self._add_any(f"n{len(self._nodes)}")
        while self._loops:
            self._end_loop()
        return workflow_from({"name": "random", "nodes": self._nodes, "edges": self._edges})

    def _add_any(self, id_: str) -> None:
        kind = self._rng.choice(["set", "set", "loop", "end", "if"])
        if kind == "loop" and len(self._loops) < 20:
            self._add(id_, "Loop", {"exit_condition": {"left": "{{n0.n}}"}}, "body")
            self._loops.append(id_)
            self._set(f"{id_}_first", "{{n0.n}}")
        elif kind == "end" and self._loops:
            self._end_loop()
        elif kind == "if":
            self._add(id_, "If", {"condition": {"left": "{{n0.n}}"}}, "true")
            self._set(f"{id_}_yes", 1)
            self._edges.append({"from": id_, "to": f"{id_}_join", "output": "false"})
            self._set(f"{id_}_join", f"{{{{{id_}_yes.n}}}}")
        else:
            self._set(id_, "{{n0.n}}")

    def _set(self, id_: str, value: Any) -> None:
        self._add(id_, "Set", {"values": {"n": value}}, "next")

    def _end_loop(self) -> None:
        loop = self._loops.pop()
        self._add(f"{loop}_end", "EndLoop", {"loop": loop}, "")
        self._last = (loop, "done")

    def _add(self, id_: str, kind: str, settings: dict[str, Any], output: str) -> None:
        self._nodes[id_] = {"type": kind, "settings": settings}
        if self._last[0]:
            self._edges.append({"from": self._last[0], "to": id_, "output": self._last[1]})
        self._last = (id_, output)
