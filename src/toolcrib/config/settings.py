"""What holds for the whole host: the object `toolcrib` of the config file and the master switch beside it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from toolcrib.config.document import Document
from toolcrib.errors import ConfigError

MIB = 1024 * 1024


def _start_concurrency() -> int:
    """One core is left for the host and for whoever is first; an idle machine starts more by itself."""
    return max(1, (os.cpu_count() or 2) - 1)


class ProfileSettings(BaseModel):
    """A named view of the crib, for clients of the gateway."""

    model_config = ConfigDict(
        frozen=True, extra="ignore", strict=True, alias_generator=to_camel, populate_by_name=True
    )

    servers: list[str] = []
    """Names of servers; empty for all."""
    tools: list[str] = []
    """Patterns of public tool names; empty for all."""
    read_only: bool = False
    search: bool = False
    """Show three tools to search with instead of all."""


class Settings(BaseModel):
    """The host's settings; in the file their names are camelCase."""

    model_config = ConfigDict(
        frozen=True, extra="ignore", strict=True, alias_generator=to_camel, populate_by_name=True
    )

    global_enabled: bool = True
    """The master switch: when off, no server runs."""
    tool_prefix: Literal["", "mcp__"] = ""
    """Put before every tool's public name."""
    start_concurrency: int = Field(default_factory=_start_concurrency, ge=1, le=1000)
    """How many servers may be starting at once."""
    max_result_bytes: int = Field(default=64 * MIB, ge=1024)
    """The largest result handed on: screenshots and file dumps in base64 were seen up to 48 MB, and what is
    larger is a server out of control."""
    max_message_bytes: int = Field(default=256 * MIB, ge=64 * 1024)
    """The largest single message of a server; one that sends more is ended, because nothing after it can be
    told apart."""
    audit_days: int = Field(default=90, ge=1)
    """How long the record of calls is kept."""
    call_wait: float = Field(default=5.0, ge=0, le=600)
    """Seconds a call waits for a server that is restarting."""
    liveness_interval: float = Field(default=30.0, gt=0, le=86_400)
    """Seconds between two looks at an idle server."""
    profiles: dict[str, ProfileSettings] = {}
    """Views of the crib for clients of the gateway, by name."""


def read_settings(document: Document) -> Settings:
    """The settings of a parsed file; raises `ConfigError` that names the key and says where it stands."""
    own = document.data.get("toolcrib") or {}
    if not isinstance(own, Mapping):
        raise document.error(("toolcrib",), "toolcrib must be an object: { … }")
    values: dict[str, Any] = {key: value for key, value in own.items() if key not in _MASTER_SWITCH}
    if document.data.get("globalEnabled") is not None:
        values["globalEnabled"] = document.data["globalEnabled"]
    try:
        return Settings.model_validate(values)
    except ValidationError as error:
        raise _translate(document, error) from None


_MASTER_SWITCH = ("globalEnabled", "global_enabled")
"""Stands at the top of the file, as other programs write it, and nowhere else."""


def _translate(document: Document, error: ValidationError) -> ConfigError:
    first = error.errors(include_input=False, include_url=False)[0]
    key = str(first["loc"][0])
    path = (key,) if key in _MASTER_SWITCH else ("toolcrib", key)
    reason = first["msg"][0].lower() + first["msg"][1:]
    return document.error(path, f"{'.'.join(path)}: {reason}")
