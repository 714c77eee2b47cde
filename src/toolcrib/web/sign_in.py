"""What pages say and hear when they sign in and out: the only requests that are no operations of the host."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict


class SignInParams(BaseModel):
    """The token of a one-time address."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    token: str = Field(min_length=1, max_length=200)


class SignedIn(TypedDict):
    """The key that a page sends from now on."""

    key: str


class SignOutParams(BaseModel):
    """Nothing."""


class SignedOut(TypedDict):
    """The page's key is no good any more."""

    signed_out: bool
