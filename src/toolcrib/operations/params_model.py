"""The model of an operation with many parameters: the others are read without pydantic, this one needs it."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class OperationParams(BaseModel):
    """Parameters of an operation; unknown ones are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")
