"""A home, the program on it, and a running host."""

from tests.cli.conftest import home, toolcrib, up

__all__ = ["home", "toolcrib", "up"]
