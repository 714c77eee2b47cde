"""Heavy packages of bundled servers, installed when a tool needs them for the first time."""

from toolcrib.serverkit.extras.installation import ensure, is_installed

__all__ = ["ensure", "is_installed"]
