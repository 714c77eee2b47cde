"""What went wrong."""

from __future__ import annotations

from typing import Any, NotRequired

from typing_extensions import TypedDict


class Failure(TypedDict):
    """An error as every surface shows it; `kind` names it, `hint` says what to do."""

    kind: str
    message: str
    hint: str
    retryable: bool
    line: NotRequired[int]
    column: NotRequired[int]
    code: NotRequired[int]
    data: NotRequired[Any]
