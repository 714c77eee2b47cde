"""Two hosts that start at the same moment never share a port."""

from __future__ import annotations

import contextlib

import pytest

from toolcrib.errors import UsageError
from toolcrib.gateway.http.address import bind, listen


def test_a_port_that_another_process_bound_too_is_refused_when_it_listens_first() -> None:
    first, _ = bind("127.0.0.1", 0)
    with contextlib.closing(first):
        second, _ = bind("127.0.0.1", first.getsockname()[1])  # allowed as long as neither listens
        with contextlib.closing(second):
            listen(first, 10)
            with pytest.raises(UsageError, match="cannot be used"):
                listen(second, 10)
