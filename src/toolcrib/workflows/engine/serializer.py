"""JSON instead of pickle for everything that DBOS stores."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from dbos import Serializer

_ERROR = "$error"


CALLED = "called"
"""In the outcome of a sub-workflow: the tools whose results it has."""


class RunFailed(Exception):
    """A run that ended with an error; DBOS records it as the run's outcome."""

    def __init__(self, error: Mapping[str, Any]) -> None:
        super().__init__(str(error.get("message", "The run failed.")))
        self.error = dict(error)


class JsonSerializer(Serializer):
    """Values as JSON; an exception is kept as its kind and message."""

    def serialize(self, data: Any) -> str:
        return json.dumps(data, ensure_ascii=False, separators=(",", ":"), default=_encode)

    def deserialize(cls, serialized_data: str) -> Any:  # noqa: N805 - named so in DBOS
        value = json.loads(serialized_data)
        if isinstance(value, dict) and _ERROR in value:
            return RunFailed(value[_ERROR])
        return value

    def name(self) -> str:
        return "toolcrib_json"


def _encode(value: Any) -> Any:
    if isinstance(value, RunFailed):
        return {_ERROR: value.error}
    if isinstance(value, BaseException):
        return {_ERROR: {"kind": "internal", "message": f"{type(value).__name__}: {value}", "hint": ""}}
    raise TypeError(f"{type(value).__name__} is not JSON.")
