"""Findings of `toolcrib doctor`."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict


class Checkup(TypedDict):
    """The result of one check; `hint` says how to fix a problem."""

    name: str
    verdict: Literal["ok", "warning", "broken"]
    detail: str
    hint: str


class Diagnosis(TypedDict):
    """All checks; `ok` is false if anything is broken."""

    ok: bool
    checks: list[Checkup]
