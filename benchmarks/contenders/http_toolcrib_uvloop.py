"""Ours over streamable HTTP, on uvloop."""

from __future__ import annotations

from typing import Literal

from benchmarks.contenders.toolcrib import connect as connect
from benchmarks.contract import Suite

TITLE = "toolcrib, uvloop"
SUITE: Suite = "http"
ROLE = ""
LOOP: Literal["uvloop"] = "uvloop"
