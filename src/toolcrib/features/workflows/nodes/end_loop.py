"""EndLoop: ends the body of a loop; its settings are in `graph/control.py`."""

from toolcrib.graph.control import END_LOOP as NODE

__all__ = ["NODE"]
