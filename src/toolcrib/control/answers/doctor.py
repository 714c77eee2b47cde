"""What the doctor found."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict


class Checkup(TypedDict):
    """One sentence about one thing, and what to do where something is to be done."""

    name: str
    verdict: Literal["ok", "warning", "broken"]
    detail: str
    hint: str


class Diagnosis(TypedDict):
    """All of them; `ok` is false when anything is broken."""

    ok: bool
    checks: list[Checkup]
