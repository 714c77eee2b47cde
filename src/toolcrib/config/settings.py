"""The settings of the host with their defaults and bounds: the object `toolcrib` of the config file (search,
gateway, agent, prices, approval modes, terminal, days of audit, sizes of results), and the master switch next
to it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, Self, get_args

from toolcrib.config.document import Document
from toolcrib.config.json_parser import KeyPath
from toolcrib.config.sections import (
    InvalidValue,
    Section,
    address,
    checked_text,
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
from toolcrib.feature import features
from toolcrib.schema.approvals import Mode

MIB = 1024 * 1024
ClientApprovals = Literal["client", "page", "off"]
Effort = Literal["", "none", "minimal", "low", "medium", "high", "xhigh", "max"]
"""How clients of the gateway are asked about calls that need approval."""
_SET_IT = "set one with: toolcrib settings set database URL"


def _start_concurrency() -> int:
    """One core is left for the host and the first server; an idle machine starts more anyway."""
    return max(1, (os.cpu_count() or 2) - 1)


class Guarded(Section):
    """Settings of an endpoint that may need a token, of which only a hash is stored."""

    token_hash: str = text("")
    """Made by `toolcrib profiles token`; clients without the token are refused."""
    token_tail: str = text("")
    """The last characters of the token, by which the user recognises it."""

    @classmethod
    def read(cls, raw: Any, path: KeyPath = ()) -> Self:
        """Refuse a plain token: if it were ignored, the endpoint would be open."""
        if isinstance(raw, Mapping) and "token" in raw:
            raise InvalidValue(path, "must not contain a token; create one with: toolcrib profiles token")
        return super().read(raw, path)


class EmbedderSettings(Section):
    """The model that turns text into vectors, to find tools by meaning."""

    kind: str = text("builtin")
    """A file of `retrieval/embedders/`: builtin, ollama, openai (any compatible address), none."""
    model: str = text("")
    """Empty for the default model."""
    url: str = address("")
    api_key: str = text("")
    """`${secret:NAME}` or `${VARIABLE}`."""


class RetrievalSettings(Section):
    """How tools are found for a prompt."""

    k: int = whole(5, least=1, most=50)
    """How many tools a search returns by default."""
    always_on: tuple[str, ...] = texts()
    """Patterns of public tool names that are always offered."""
    embedder: EmbedderSettings = part(EmbedderSettings)


class ClientView(Guarded):
    """What clients of the gateway connect to."""

    approvals: ClientApprovals = choice(*get_args(ClientApprovals))
    """Ask in the client if it can, else on the page; only on the page; or do not ask before Toolcrib's own
    tools send, invite or delete."""


class ProfileSettings(ClientView):
    """A named selection of servers and tools for clients of the gateway."""

    servers: tuple[str, ...] = texts()
    """Names of servers; empty for all."""
    tools: tuple[str, ...] = texts()
    """Patterns of public tool names; empty for all."""
    read_only: bool = flag(False)
    search: bool = flag(False)
    """Offer three search tools instead of the full list."""
    plain_names: bool = flag(False)
    """Use the servers' own tool and prompt names if they are unambiguous."""
    k: int | None = whole(None, least=1, most=50)
    always_on: tuple[str, ...] | None = texts(None)
    """By default, the values of `retrieval`."""


class GatewaySettings(ClientView):
    """Limits of the gateway's address; its token is for clients without a profile."""

    allowed_hosts: tuple[str, ...] = texts()
    """Host names that clients may use, besides this machine's own."""
    max_sessions: int = whole(1000, least=1)
    """Sessions of all profiles together."""
    max_calls: int = whole(1024, least=1)
    """Concurrent requests of all clients together."""
    max_calls_per_session: int = whole(256, least=1, most=256)
    max_body_bytes: int = whole(16 * MIB, least=1024)
    max_connections: int = whole(4096, least=1)
    request_timeout: float = number(30.0, above=0, most=3600)
    """Seconds for a request to arrive completely."""
    session_idle: float = number(1800.0, above=0, most=86_400 * 30)
    """Seconds after which an idle session ends."""
    approval_wait: float = number(5.0, least=0, most=3600)
    """Seconds that a call waits for an answer on the page; then it ends as pending."""


class EndpointSettings(Section):
    """An address that serves models, besides the known vendors: use it as `NAME:model`."""

    url: str = address()
    protocol: str = text("openai")
    """The vendor whose protocol it speaks."""
    key: str = text("")
    """The name of the secret or environment variable with the key; empty if none is needed."""
    context_tokens: int | None = whole(None, least=1024)


class PriceSettings(Section):
    """The price of a model in dollars per million tokens."""

    input: float = number(least=0)
    output: float = number(least=0)
    cached: float | None = number(None, least=0)
    """For cached input; by default the price of other input."""
    cache_write: float | None = number(None, least=0)
    """For input that is written to the cache; by default the price of other input."""


class AgentSettings(Section):
    """How the agent runs."""

    model: str = text("")
    """`vendor:model`; used unless a chat chooses another."""
    max_rounds: int = whole(30, least=1, most=1000)
    """Model requests per turn; the last one offers no tools."""
    max_result_chars: int = whole(20_000, least=500)
    """Result length shown to the model; it can ask for the rest."""
    max_parallel_calls: int = whole(8, least=1, most=100)
    offer_all: int = whole(40, least=0, most=1000)
    """Up to this number, all tools are offered; above it, only relevant ones."""
    max_tokens: int | None = whole(None, least=16)
    """The longest response of the model."""
    context_tokens: int | None = whole(None, least=1024)
    """The model's context size, if it differs from the assumed one."""
    effort: Effort = choice(*get_args(Effort))
    """How much the model thinks, where it has such levels; empty for its default."""
    instructions: str = text("")
    """Added to the system prompt."""
    sampling: Literal["ask", "allow", "deny"] = choice("ask", "allow", "deny")
    """Whether servers may send requests to the chat's model."""
    endpoints: dict[str, EndpointSettings] = named_parts(EndpointSettings)
    """Further addresses with models, by name."""
    prices: dict[str, PriceSettings] = named_parts(PriceSettings)
    """By the beginning of a model's name, which may be all of it."""


class ApprovalSettings(Section):
    """When the user is asked before a tool runs."""

    mode: Mode = choice(*get_args(Mode), default="on_miss")
    """For agents, workflows and all callers that are not in `modes`."""
    modes: dict[str, Mode] = named_choices(*get_args(Mode))
    """By kind of caller (cli, python, gateway, agent, workflow), instead of `mode`."""
    headless: Literal["deny", "wait"] = choice("deny", "wait")
    """If no one is available: deny the call, or wait for a decision."""
    wait_seconds: float | None = number(None, above=0)
    """How long such a call waits; without a limit by default."""


class TerminalSettings(Section):
    """The terminal and the tools for a project's folder."""

    enabled: bool = flag(False)
    """Offer them in every host; agents enable them on their own."""
    folder: str = text("")
    """Where commands run without a project; by default the current folder."""
    sandbox: Literal["auto", "bubblewrap", "landlock", "none"] = choice(
        "auto", "bubblewrap", "landlock", "none"
    )
    folders: tuple[str, ...] = texts()
    """Folders that commands may write to, besides the project's folder and caches."""
    hidden: tuple[str, ...] = texts()
    """Paths that commands cannot read, besides the usual places of keys and passwords."""
    network: bool = flag(True)
    unix_sockets: bool = flag(False)
    """Commands may use Unix sockets, as databases and some test runners do."""
    variables: tuple[str, ...] = texts()
    """Further environment variables that commands may see."""


def _is_database(value: str) -> bool:
    from toolcrib.config.database_url import is_database  # most homes have their own file

    return is_database(value)


class Settings(Section):
    """The host's settings."""

    global_enabled: bool = flag(True)
    """The master switch: when off, no server runs."""
    database: str = checked_text("", f"a postgresql:// URL without a password ({_SET_IT})", _is_database)
    """A `postgresql://` URL that several hosts share; empty for the SQLite file of this home."""
    tool_prefix: Literal["", "mcp__"] = choice("", "mcp__")
    """Put before every tool's public name."""
    start_concurrency: int = whole(_start_concurrency, least=1, most=1000)
    """How many servers may be starting at once."""
    max_result_bytes: int = whole(64 * MIB, least=1024)
    """The largest result that is passed on; screenshots and file dumps of up to 48 MB were seen."""
    max_message_bytes: int = whole(256 * MIB, least=64 * 1024)
    """The largest message of a server; one that sends more is stopped."""
    audit_days: int = whole(90, least=1)
    """How long the audit log is kept."""
    call_wait: float = number(5.0, least=0, most=600)
    """Seconds a call waits for a server that is restarting."""
    liveness_interval: float = number(30.0, above=0, most=86_400)
    """Seconds between health checks of an idle server."""
    registry_url: str = address("")
    """An MCP registry that `toolcrib search-servers` searches too."""
    profiles: dict[str, ProfileSettings] = named_parts(ProfileSettings)
    """Profiles for clients of the gateway, by name."""
    retrieval: RetrievalSettings = part(RetrievalSettings)
    gateway: GatewaySettings = part(GatewaySettings)
    agent: AgentSettings = part(AgentSettings)
    approvals: ApprovalSettings = part(ApprovalSettings)
    terminal: TerminalSettings = part(TerminalSettings)

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """The section of a feature."""


Settings.add_fields(
    {feature.name: part(feature.function(feature.settings)) for feature in features() if feature.settings}
)


def read_settings(document: Document) -> Settings:
    """The settings of a parsed file; raises `ConfigError` that names the key and its position."""
    own = document.data.get("toolcrib") or {}
    if not isinstance(own, Mapping):
        raise document.error(("toolcrib",), "toolcrib must be an object: { … }")
    values: dict[str, Any] = {key: value for key, value in own.items() if key not in _MASTER_SWITCH}
    if document.data.get("globalEnabled") is not None:
        values["globalEnabled"] = document.data["globalEnabled"]
    try:
        return Settings.read(values)
    except InvalidValue as error:
        path = error.path if error.path[0] in _MASTER_SWITCH else ("toolcrib", *error.path)
        raise document.error(path, f"{'.'.join(map(str, path))} {error.problem}") from None


_MASTER_SWITCH = ("globalEnabled", "global_enabled")
"""Only at the top level of the file, where other programs write it."""
