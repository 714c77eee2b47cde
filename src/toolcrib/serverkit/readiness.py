"""How a server reports to the host what its tools still need, such as an account, a display or a folder."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

READY = "toolcrib/ready"
"""A method that is not part of MCP, and the experimental capability that announces it."""
LONGEST_TEXT = 1000


@dataclass(frozen=True)
class Lack:
    """Something without which none of the server's tools works."""

    needs: str
    """It as one noun: `account`, `display`, `folder`."""
    message: str
    hint: str = ""


Readiness = Callable[[], Awaitable[Lack | None]]
"""Finds what is missing now; None if the tools work. Asked often, so it should be cheap."""


def readiness_result(lack: Lack | None) -> dict[str, Any]:
    return {"lack": None if lack is None else asdict(lack)}


def read_lack(result: Mapping[str, Any]) -> Lack | None:
    """What a server answered; an unknown answer means that nothing is missing."""
    lack = result.get("lack")
    if not isinstance(lack, Mapping):
        return None
    return Lack(*(str(lack.get(key) or "")[:LONGEST_TEXT] for key in ("needs", "message", "hint")))


def missing_folder(folders: Sequence[Path]) -> Lack | None:
    """For a server that works in folders: whether all of them are gone."""
    if any(folder.is_dir() for folder in folders):
        return None
    names = ", ".join(map(str, folders))
    return Lack("folder", f"{names} does not exist.", "Create the folder, or name another one in the entry.")
