"""If: chooses between two paths; its settings are in `graph/control.py`."""

from toolcrib.graph.control import IF as NODE

__all__ = ["NODE"]
