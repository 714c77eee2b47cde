"""The bench, for every test of the wire."""

from tests.llm.wire.bench import bench

__all__ = ["bench"]
