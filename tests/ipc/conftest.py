"""The host with a socket, shared with the tests of operations."""

from tests.operations.conftest import client, home, host

__all__ = ["client", "home", "host"]
