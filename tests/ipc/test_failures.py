"""An error is the same one at the other end of the socket."""

from __future__ import annotations

import pytest

from toolcrib.errors import (
    CallTimeout,
    ConfigError,
    Denied,
    MissingSecret,
    NoHost,
    PeerError,
    ServerUnavailable,
    ToolcribError,
    UnknownTool,
)
from toolcrib.schema.failures import from_json, to_json

ERRORS = [
    ToolcribError("a", hint="b"),
    ConfigError("a", hint="b", line=3, column=4),
    MissingSecret("a"),
    NoHost("a", hint="b"),
    UnknownTool("a"),
    Denied("a"),
    ServerUnavailable("a"),
    CallTimeout("a"),
    PeerError("a", code=-32000, data={"why": 1}),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: error.kind)
def test_an_error_survives_the_wire(error: ToolcribError) -> None:
    again = from_json(to_json(error))

    assert type(again) is type(error)
    assert to_json(again) == to_json(error)
    assert again.exit_code == error.exit_code


def test_an_unknown_kind_is_still_an_error() -> None:
    error = from_json({"kind": "from_the_future", "message": "a"})

    assert (type(error), error.message, error.exit_code) == (ToolcribError, "a", 1)
