"""Which nodes have run before another may run, so that it can refer to them."""

from __future__ import annotations

from collections.abc import Mapping

from toolcrib.graph.bodies import Bodies
from toolcrib.graph.drafts import DraftNode
from toolcrib.graph.topology import Topology


class Visibility:
    """Sets of nodes are the bits of an integer: a graph of thousands of nodes takes milliseconds."""

    def __init__(self, topology: Topology, bodies: Bodies, drafts: Mapping[str, DraftNode]) -> None:
        self._bodies = bodies
        self._maps = {id_ for id_, draft in drafts.items() if draft.type.flow == "map"}
        self._bit = {node: 1 << place for place, node in enumerate(topology.order)}
        self._of_body = {
            opener: self._union(nodes) for opener, nodes in bodies.nodes.items() if opener not in self._maps
        }
        self._before: dict[str, int] = {}
        for node in topology.order:
            self._before[node] = self._compute(node, topology)

    def is_before(self, earlier: str, node: str) -> bool:
        """Whether a node may have a result when another runs; True for nodes whose place is not known."""
        if earlier not in self._bit or node not in self._before:
            return True
        return bool(self._before[node] & self._bit[earlier])

    def hiding_map(self, inner: str, node: str | None) -> str | None:
        """The map whose body hides a node from another, or from the workflow's outputs."""
        around = set(self._bodies.around(node)) if node is not None else set()
        hidden = [map_ for map_ in self._bodies.around(inner) if map_ in self._maps and map_ not in around]
        return hidden[-1] if hidden else None

    def maps_around(self, node: str) -> tuple[str, ...]:
        """The maps whose bodies a node is in, innermost first."""
        return tuple(map_ for map_ in self._bodies.around(node) if map_ in self._maps)

    def _compute(self, node: str, topology: Topology) -> int:
        """Everything before those that lead here; in a loop also its whole body, from the second time.

        A loop also sees itself: its condition is checked after the body has run, with the number of that run.
        """
        found = self._of_body[node] | self._bit[node] if node in self._of_body else 0
        for earlier in topology.preceding.get(node, ()):
            found |= self._before.get(earlier, 0) | self._bit.get(earlier, 0)
        for opener in self._bodies.around(node):
            found |= self._of_body.get(opener, 0)
        return found

    def _union(self, nodes: frozenset[str]) -> int:
        found = 0
        for node in nodes:
            found |= self._bit.get(node, 0)
        return found
