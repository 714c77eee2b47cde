"""Ours over streamable HTTP, through the full door."""

from __future__ import annotations

from typing import Literal

from benchmarks.contenders.toolcrib import connect as connect
from benchmarks.contract import Suite

TITLE = "toolcrib"
SUITE: Suite = "http"
ROLE = ""
LOOP: Literal["asyncio"] = "asyncio"
