"""How the data of a tool flows (text written by others, private data, to whom a call can send): declared in a
tool's `_meta`, and believed only of our own tools."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, cast

DATA_FLOW = "toolcrib/dataFlow"
SCOPED = "toolcrib/scoped"
Reach = Literal["here", "account", "service", "anybody"]
_REACHES = ("here", "account", "service", "anybody")


class DataFlow(NamedTuple):
    outside: bool
    """The result may contain text written by others: mail, web pages, invitations."""
    private: bool
    """The result may contain private data."""
    reach: Reach | None
    """Whom a call can send data to: no one, only the user's own account, a service that the user has chosen
    (a search engine), or anybody."""


def is_scoped(definition: Mapping[str, Any]) -> bool:
    """Whether a tool says what each call acts on; such calls need approval once for each scope."""
    meta = definition.get("_meta")
    return bool(meta) and isinstance(meta, Mapping) and meta.get(SCOPED) is True


def data_flow(definition: Mapping[str, Any]) -> DataFlow | None:
    """What a tool declares; None if nothing."""
    meta = definition.get("_meta")
    if not meta or not isinstance(meta, Mapping):
        return None
    declared = meta.get(DATA_FLOW)
    if not isinstance(declared, Mapping):
        return None
    reach = declared.get("reach")
    return DataFlow(
        outside=declared.get("outside") is True,
        private=declared.get("private") is True,
        reach=cast("Reach", reach) if reach in _REACHES else None,
    )
