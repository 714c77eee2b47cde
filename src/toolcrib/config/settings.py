"""What holds for the whole host: the object `toolcrib` of the config file and the master switch beside it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Self, get_args

from toolcrib.config.document import Document
from toolcrib.config.kinds import (
    address,
    choice,
    flag,
    named_choices,
    named_parts,
    number,
    part,
    text,
    texts,
    whole,
)
from toolcrib.config.parsing import KeyPath
from toolcrib.config.reading import Section, Unfit
from toolcrib.schema.approvals import Mode

MIB = 1024 * 1024


def _start_concurrency() -> int:
    """One core is left for the host and for whoever is first; an idle machine starts more by itself."""
    return max(1, (os.cpu_count() or 2) - 1)


@dataclass(frozen=True, kw_only=True)
class Guarded(Section):
    """A part that may be kept for those who have a token, of which only a hash is stored."""

    token_hash: str = text("")
    """Made by `toolcrib profiles token`; whoever has no token that fits is turned away."""
    token_tail: str = text("")
    """The last few characters of the token, by which a person tells it from others."""

    @classmethod
    def read(cls, raw: Any, path: KeyPath = ()) -> Self:
        """As every section; a token, read over, would leave open what somebody believes to be closed."""
        if isinstance(raw, Mapping) and "token" in raw:
            raise Unfit(path, "must hold no token; make one with: toolcrib profiles token")
        return super().read(raw, path)


@dataclass(frozen=True, kw_only=True)
class EmbedderSettings(Section):
    """What turns texts into vectors, so that tools are found by what they mean."""

    kind: str = text("builtin")
    """A file of `retrieval/embedders/`: builtin, ollama, openai (any address that speaks its way), none."""
    model: str = text("")
    """Which model, where there are several; empty for the usual one."""
    url: str = address("")
    api_key: str = text("")
    """`${secret:NAME}` or `${VARIABLE}`."""


@dataclass(frozen=True, kw_only=True)
class RetrievalSettings(Section):
    """How tools are found for a question."""

    k: int = whole(5, least=1, most=50)
    """How many a search returns unless it says otherwise."""
    always_on: tuple[str, ...] = texts()
    """Patterns of public tool names that are shown beside what was searched for."""
    embedder: EmbedderSettings = part(EmbedderSettings)


@dataclass(frozen=True, kw_only=True)
class ProfileSettings(Guarded):
    """A named view of the crib, for clients of the gateway."""

    servers: tuple[str, ...] = texts()
    """Names of servers; empty for all."""
    tools: tuple[str, ...] = texts()
    """Patterns of public tool names; empty for all."""
    read_only: bool = flag(False)
    search: bool = flag(False)
    """Show three tools to search with instead of all."""
    plain_names: bool = flag(False)
    """Show tools and prompts under their servers' own names where these are clear."""
    k: int | None = whole(None, least=1, most=50)
    always_on: tuple[str, ...] | None = texts(None)
    """Where these two are left out, those of `retrieval` hold."""


@dataclass(frozen=True, kw_only=True)
class GatewaySettings(Guarded):
    """What the gateway's address takes; its token is that of the view without a name."""

    allowed_hosts: tuple[str, ...] = texts()
    """Names under which clients may call, beside this machine's own."""
    max_sessions: int = whole(1000, least=1)
    """Clients that are remembered or listen, of all views together."""
    max_calls: int = whole(1024, least=1)
    """Requests under way at once, of all clients together."""
    max_calls_per_session: int = whole(256, least=1, most=256)
    max_body_bytes: int = whole(16 * MIB, least=1024)
    max_connections: int = whole(4096, least=1)
    request_timeout: float = number(30.0, above=0, most=3600)
    """Seconds in which a request must have arrived whole."""
    session_idle: float = number(1800.0, above=0, most=86_400 * 30)
    """Seconds after which a client that asks for nothing and does not listen is forgotten."""


@dataclass(frozen=True, kw_only=True)
class EndpointSettings(Section):
    """An address where models are asked that is no vendor's own: `NAME:model` asks there."""

    url: str = address()
    protocol: str = text("openai")
    """Whose protocol is spoken there: a vendor's name."""
    key: str = text("")
    """The name of the secret or of the environment variable with the key; none where none is needed."""
    context_tokens: int | None = whole(None, least=1024)


@dataclass(frozen=True, kw_only=True)
class PriceSettings(Section):
    """What a model costs: dollars for a million tokens."""

    input: float = number(least=0)
    output: float = number(least=0)
    cached: float | None = number(None, least=0)
    """For input that the vendor had in its cache; as other input unless told."""
    cache_write: float | None = number(None, least=0)
    """For input that the vendor writes to its cache; as other input unless told."""


@dataclass(frozen=True, kw_only=True)
class AgentSettings(Section):
    """How questions are answered."""

    model: str = text("")
    """`vendor:model`; asked where nobody says otherwise."""
    max_rounds: int = whole(30, least=1, most=1000)
    """Requests to the model for one question; the last goes without tools."""
    max_result_chars: int = whole(20_000, least=500)
    """Of a tool's answer, what the model is shown at once; it can read on."""
    max_parallel_calls: int = whole(8, least=1, most=100)
    offer_all: int = whole(40, least=0, most=1000)
    """Up to so many tools, all of them are offered; above, those that the question needs."""
    max_tokens: int | None = whole(None, least=16)
    """The most that one answer of the model may have."""
    context_tokens: int | None = whole(None, least=1024)
    """What the model can hold, where it is not what is assumed."""
    instructions: str = text("")
    """What the model is told before everything else, besides how tools work."""
    sampling: Literal["ask", "allow", "deny"] = choice("ask", "allow", "deny")
    """Whether servers may ask the model of the chat that called them."""
    endpoints: dict[str, EndpointSettings] = named_parts(EndpointSettings)
    """Addresses that speak a vendor's protocol, by the name they have here."""
    prices: dict[str, PriceSettings] = named_parts(PriceSettings)
    """By the beginning of a model's name."""


@dataclass(frozen=True, kw_only=True)
class ApprovalSettings(Section):
    """When a person is asked before a tool runs."""

    mode: Mode = choice(*get_args(Mode), default="on_miss")
    """For agents and workflows, and all who are not named in `modes`."""
    modes: dict[str, Mode] = named_choices(*get_args(Mode))
    """By the first word of who calls (cli, python, gateway, agent, workflow), over what holds otherwise."""
    headless: Literal["deny", "wait"] = choice("deny", "wait")
    """What becomes of a question when nobody is there: no, or it is kept until somebody answers it."""
    wait_seconds: float | None = number(None, above=0)
    """How long such a question waits; for ever unless told."""


@dataclass(frozen=True, kw_only=True)
class TerminalSettings(Section):
    """The terminal and the tools for a project's folder."""

    enabled: bool = flag(False)
    """Among the tools of every host; agents open them by themselves."""
    folder: str = text("")
    """Where commands run when the caller works in no project; the current folder unless told."""
    sandbox: Literal["auto", "bubblewrap", "landlock", "none"] = choice(
        "auto", "bubblewrap", "landlock", "none"
    )
    folders: tuple[str, ...] = texts()
    """May be written to, besides the project's folder and caches."""
    hidden: tuple[str, ...] = texts()
    """Cannot be read, besides the usual places of keys and passwords."""
    network: bool = flag(True)
    unix_sockets: bool = flag(False)
    """Commands may use Unix sockets, as databases and some test runners do; otherwise they can make none."""
    variables: tuple[str, ...] = texts()
    """Names of environment variables that commands may see, besides a few harmless ones."""


@dataclass(frozen=True, kw_only=True)
class Settings(Section):
    """The host's settings."""

    global_enabled: bool = flag(True)
    """The master switch: when off, no server runs."""
    tool_prefix: Literal["", "mcp__"] = choice("", "mcp__")
    """Put before every tool's public name."""
    start_concurrency: int = whole(_start_concurrency, least=1, most=1000)
    """How many servers may be starting at once."""
    max_result_bytes: int = whole(64 * MIB, least=1024)
    """The largest result handed on: screenshots and file dumps in base64 were seen up to 48 MB, and what is
    larger is a server out of control."""
    max_message_bytes: int = whole(256 * MIB, least=64 * 1024)
    """The largest single message of a server; one that sends more is ended, because nothing after it can be
    told apart."""
    audit_days: int = whole(90, least=1)
    """How long the record of calls is kept."""
    call_wait: float = number(5.0, least=0, most=600)
    """Seconds a call waits for a server that is restarting."""
    liveness_interval: float = number(30.0, above=0, most=86_400)
    """Seconds between two looks at an idle server."""
    registry_url: str = address("")
    """The address of an MCP registry that `toolcrib search-servers` asks too."""
    profiles: dict[str, ProfileSettings] = named_parts(ProfileSettings)
    """Views of the crib for clients of the gateway, by name."""
    retrieval: RetrievalSettings = part(RetrievalSettings)
    gateway: GatewaySettings = part(GatewaySettings)
    agent: AgentSettings = part(AgentSettings)
    approvals: ApprovalSettings = part(ApprovalSettings)
    terminal: TerminalSettings = part(TerminalSettings)


def read_settings(document: Document) -> Settings:
    """The settings of a parsed file; raises `ConfigError` that names the key and says where it stands."""
    own = document.data.get("toolcrib") or {}
    if not isinstance(own, Mapping):
        raise document.error(("toolcrib",), "toolcrib must be an object: { … }")
    values: dict[str, Any] = {key: value for key, value in own.items() if key not in _MASTER_SWITCH}
    if document.data.get("globalEnabled") is not None:
        values["globalEnabled"] = document.data["globalEnabled"]
    try:
        return Settings.read(values)
    except Unfit as error:
        path = error.path if error.path[0] in _MASTER_SWITCH else ("toolcrib", *error.path)
        raise document.error(path, f"{'.'.join(map(str, path))} {error.said}") from None


_MASTER_SWITCH = ("globalEnabled", "global_enabled")
"""Stands at the top of the file, as other programs write it, and nowhere else."""
