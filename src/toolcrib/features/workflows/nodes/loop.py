"""Loop: repeats its body until a condition holds; its settings and limit are in `graph/control.py`."""

from toolcrib.graph.control import LOOP as NODE

__all__ = ["NODE"]
