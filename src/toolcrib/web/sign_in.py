"""Requests and responses of sign-in and sign-out, which are not operations of the host."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict


class SignInParams(BaseModel):
    """The token of a one-time sign-in address."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    token: str = Field(min_length=1, max_length=200)


class SignedIn(TypedDict):
    """The key for further requests."""

    key: str


class SignOutParams(BaseModel):
    """No parameters."""


class SignedOut(TypedDict):
    signed_out: bool
