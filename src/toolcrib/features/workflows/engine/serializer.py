"""JSON instead of pickle for everything that DBOS stores, signed; refuses stored values without a valid
signature.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Mapping
from typing import Any

from dbos import Serializer

from toolcrib.config.database_key import Signer
from toolcrib.errors import ToolcribError

logger = logging.getLogger(__name__)
_ERROR = "$error"
_RUN = "$run"
_PURPOSE = "value"
_SIGNATURE = re.compile(r"\A[0-9a-f]{64} ")


CALLED = "called"
"""In the outcome of a sub-workflow: the tools whose results it has."""


class RunFailed(Exception):
    """A run that ended with an error; DBOS records it as the run's outcome."""

    def __init__(self, error: Mapping[str, Any]) -> None:
        super().__init__(str(error.get("message", "The run failed.")))
        self.error = dict(error)


class RefusedValue(ToolcribError):
    """A stored value that must not be used: it may not be ours, or could run code."""

    kind = "refused_value"


class JsonSerializer(Serializer):
    """Values as JSON; an exception is kept as its kind and message.

    With a key, each value follows its signature and a space, and others are refused. `named` binds a value to
    its run, `seal` a text to its row, so that neither is valid in another place.
    """

    def __init__(self, signer: Signer | None = None) -> None:
        self._signer = signer

    def serialize(self, data: Any) -> str:
        text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), default=_encode)
        return self.seal(text, _PURPOSE)

    def deserialize(self, serialized_data: str) -> Any:
        return shown(self.opened(serialized_data, _PURPOSE))

    def seal(self, text: str, *row: object) -> str:
        """The text with its signature, if there is a key."""
        return text if self._signer is None else f"{self._signer.sign('run', *row, text)} {text}"

    def opened(self, sealed: str, *row: object) -> str:
        """The text without its signature; raises `RefusedValue` if it was not sealed for this row."""
        if self._signer is None:
            return sealed
        signature, _, text = sealed.partition(" ")
        if not self._signer.fits(signature, "run", *row, text):
            raise not_signed()
        return text

    def named(self, value: Mapping[str, Any], run: str) -> dict[str, Any]:
        """The value with the run that it is of, if it is going to be signed."""
        return dict(value) if self._signer is None else {**value, _RUN: run}

    def check_run(self, value: Mapping[str, Any], run: str) -> None:
        """Raises `RefusedValue` if a signed value is that of another run."""
        if self._signer is not None and value.get(_RUN) != run:
            raise not_signed()

    def check_step(self, value: Mapping[str, Any], run: str, step: str | None) -> None:
        """Raises `RefusedValue` if a signed value is that of another step."""
        self.check_run(value, run)
        if self._signer is not None and value.get("step") != step:
            raise not_signed()

    def name(self) -> str:
        return "toolcrib_json"


def shown(serialized: str) -> Any:
    """A value to show, whether or not its signature is valid; raises `ValueError` if it is not JSON."""
    value = json.loads(unsealed(serialized))
    if isinstance(value, dict) and _ERROR in value:
        return RunFailed(value[_ERROR])
    return value


def unsealed(text: str) -> str:
    """The text without its signature, which is not checked."""
    return _SIGNATURE.sub("", text, count=1)


def not_signed() -> RefusedValue:
    """The refusal of something that no host of the database wrote there."""
    logger.warning("a stored value of a run was refused: its signature is not valid")
    return RefusedValue(
        "A stored value of this run has no valid signature: no host of the database wrote it.",
        hint="Start the run again. Check who can write to the database.",
    )


def _encode(value: Any) -> Any:
    if isinstance(value, RunFailed):
        return {_ERROR: value.error}
    if isinstance(value, ToolcribError):
        return {_ERROR: value.as_json()}
    if isinstance(value, BaseException):
        return {_ERROR: {"kind": "internal", "message": f"{type(value).__name__}: {value}", "hint": ""}}
    raise TypeError(f"{type(value).__name__} is not JSON.")
