"""EndLoop: ends the body of a loop."""

from toolcrib.graph.control import END_LOOP as NODE

__all__ = ["NODE"]
