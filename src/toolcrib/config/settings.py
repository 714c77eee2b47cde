"""What holds for the whole host: the object `toolcrib` of the config file and the master switch beside it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic.alias_generators import to_camel

from toolcrib.config.document import Document
from toolcrib.errors import ConfigError
from toolcrib.schema.approvals import Mode

MIB = 1024 * 1024


def _start_concurrency() -> int:
    """One core is left for the host and for whoever is first; an idle machine starts more by itself."""
    return max(1, (os.cpu_count() or 2) - 1)


class Section(BaseModel):
    """A part of the settings; in the file its names are camelCase."""

    model_config = ConfigDict(
        frozen=True, extra="ignore", strict=True, alias_generator=to_camel, populate_by_name=True
    )


class Guarded(Section):
    """A part that may be kept for those who have a token, of which only a hash is stored."""

    token_hash: str = ""
    """Made by `toolcrib profiles token`; whoever has no token that fits is turned away."""
    token_tail: str = ""
    """The last few characters of the token, by which a person tells it from others."""

    @model_validator(mode="before")
    @classmethod
    def _refuse_plain_token(cls, values: Any) -> Any:
        # Read over, it would leave open what somebody believes to be closed.
        if isinstance(values, Mapping) and "token" in values:
            raise ValueError("a token does not stand in the file; make one with: toolcrib profiles token")
        return values


class EmbedderSettings(Section):
    """What turns texts into vectors, so that tools are found by what they mean."""

    kind: str = "builtin"
    """A file of `retrieval/embedders/`: builtin, ollama, openai (any address that speaks its way), none."""
    model: str = ""
    """Which model, where there are several; empty for the usual one."""
    url: str = Field(default="", pattern=r"^(https?://\S+)?$")
    api_key: str = ""
    """`${secret:NAME}` or `${VARIABLE}`."""


class RetrievalSettings(Section):
    """How tools are found for a question."""

    k: int = Field(default=5, ge=1, le=50)
    """How many a search returns unless it says otherwise."""
    always_on: list[str] = []
    """Patterns of public tool names that are shown beside what was searched for."""
    embedder: EmbedderSettings = EmbedderSettings()


class ProfileSettings(Guarded):
    """A named view of the crib, for clients of the gateway."""

    servers: list[str] = []
    """Names of servers; empty for all."""
    tools: list[str] = []
    """Patterns of public tool names; empty for all."""
    read_only: bool = False
    search: bool = False
    """Show three tools to search with instead of all."""
    plain_names: bool = False
    """Show tools and prompts under their servers' own names where these are clear."""
    k: int | None = Field(default=None, ge=1, le=50)
    always_on: list[str] | None = None
    """Where these two are left out, those of `retrieval` hold."""


class GatewaySettings(Guarded):
    """What the gateway's address takes; its token is that of the view without a name."""

    allowed_hosts: list[str] = []
    """Names under which clients may call, beside this machine's own."""
    max_sessions: int = Field(default=1000, ge=1)
    """Clients that are remembered or listen, of all views together."""
    max_calls: int = Field(default=1024, ge=1)
    """Requests under way at once, of all clients together."""
    max_calls_per_session: int = Field(default=256, ge=1, le=256)
    max_body_bytes: int = Field(default=16 * MIB, ge=1024)
    max_connections: int = Field(default=4096, ge=1)
    request_timeout: float = Field(default=30.0, gt=0, le=3600)
    """Seconds in which a request must have arrived whole."""
    session_idle: float = Field(default=1800.0, gt=0, le=86_400 * 30)
    """Seconds after which a client that asks for nothing and does not listen is forgotten."""


class EndpointSettings(Section):
    """An address where models are asked that is no vendor's own: `NAME:model` asks there."""

    url: str = Field(pattern=r"^https?://\S+$")
    protocol: str = "openai"
    """Whose protocol is spoken there: a vendor's name."""
    key: str = ""
    """The name of the secret or of the environment variable with the key; none where none is needed."""
    context_tokens: int | None = Field(default=None, ge=1024)


class PriceSettings(Section):
    """What a model costs: dollars for a million tokens."""

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    cached: float | None = Field(default=None, ge=0)


class AgentSettings(Section):
    """How questions are answered."""

    model: str = ""
    """`vendor:model`; asked where nobody says otherwise."""
    max_rounds: int = Field(default=30, ge=1, le=1000)
    """Requests to the model for one question; the last goes without tools."""
    max_result_chars: int = Field(default=20_000, ge=500)
    """Of a tool's answer, what the model is shown at once; it can read on."""
    max_parallel_calls: int = Field(default=8, ge=1, le=100)
    offer_all: int = Field(default=40, ge=0, le=1000)
    """Up to so many tools, all of them are offered; above, those that the question needs."""
    max_tokens: int | None = Field(default=None, ge=16)
    """The most that one answer of the model may have."""
    context_tokens: int | None = Field(default=None, ge=1024)
    """What the model can hold, where it is not what is assumed."""
    instructions: str = ""
    """What the model is told before everything else, besides how tools work."""
    sampling: Literal["ask", "allow", "deny"] = "ask"
    """Whether servers may ask the model of the chat that called them."""
    endpoints: dict[str, EndpointSettings] = {}
    """Addresses that speak a vendor's protocol, by the name they have here."""
    prices: dict[str, PriceSettings] = {}
    """By the beginning of a model's name."""


class ApprovalSettings(Section):
    """When a person is asked before a tool runs."""

    mode: Mode = "on_miss"
    """For agents and workflows, and all who are not named in `modes`."""
    modes: dict[str, Mode] = {}
    """By the first word of who calls (cli, python, gateway, agent, workflow), over what holds otherwise."""
    headless: Literal["deny", "wait"] = "deny"
    """What becomes of a question when nobody is there: no, or it is kept until somebody answers it."""
    wait_seconds: float | None = Field(default=None, gt=0)
    """How long such a question waits; for ever unless told."""


class TerminalSettings(Section):
    """The terminal and the tools for a project's folder."""

    enabled: bool = False
    """Among the tools of every host; agents open them by themselves."""
    folder: str = ""
    """Where commands run when the caller works in no project; the current folder unless told."""
    sandbox: Literal["auto", "bubblewrap", "landlock", "none"] = "auto"
    folders: list[str] = []
    """May be written to, besides the project's folder, the one for temporary files, and caches."""
    hidden: list[str] = []
    """Cannot be read, besides the usual places of keys and passwords."""
    network: bool = True
    variables: list[str] = []
    """Names of environment variables that commands may see, besides a few harmless ones."""


class Settings(Section):
    """The host's settings."""

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
    registry_url: str = Field(default="", pattern=r"^(https?://\S+)?$")
    """The address of an MCP registry that `toolcrib search-servers` asks too."""
    profiles: dict[str, ProfileSettings] = {}
    """Views of the crib for clients of the gateway, by name."""
    retrieval: RetrievalSettings = RetrievalSettings()
    gateway: GatewaySettings = GatewaySettings()
    agent: AgentSettings = AgentSettings()
    approvals: ApprovalSettings = ApprovalSettings()
    terminal: TerminalSettings = TerminalSettings()


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
    keys = tuple(str(key) for key in first["loc"])
    path = keys if keys[0] in _MASTER_SWITCH else ("toolcrib", *keys)
    said = first["msg"].removeprefix("Value error, ")
    return document.error(path, f"{'.'.join(path)}: {said[0].lower()}{said[1:]}")
