"""The floor's protocol on uvloop."""

from __future__ import annotations

from typing import Literal

from benchmarks.contenders.asyncio_pipe import connect as connect
from benchmarks.contract import Suite

TITLE = "asyncio pipe, uvloop"
SUITE: Suite = "stdio"
ROLE = ""
LOOP: Literal["uvloop"] = "uvloop"
