"""Loop: repeats its body until a condition holds."""

from toolcrib.graph.control import LOOP as NODE

__all__ = ["NODE"]
