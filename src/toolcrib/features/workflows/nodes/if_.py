"""If: chooses between two paths."""

from toolcrib.graph.control import IF as NODE

__all__ = ["NODE"]
