"""One gateway: a host seen through a profile, and the clients that want to know of changes. How clients are
asked for approval (text, number of open questions, expiry), and how long the first list waits for servers.

Approval questions about a call are asked in the client if it can show a form, else on the page. A client is
never left waiting: if nobody answers soon, its call fails as pending, the question stays for an hour, and the
next identical call of the same client takes the answer. Whether the user or the program behind the client
answers a form cannot be seen, so such an answer is for one call only.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from toolcrib.approvals.gate import GATEWAY
from toolcrib.approvals.question import ApprovalAnswer, ApprovalRequest
from toolcrib.errors import ApprovalPending, PeerError, ServerNotReady, ToolcribError, UnknownTool
from toolcrib.events import Bus
from toolcrib.gateway.bridge import WAIT_SECONDS, RelayedCall, WaitingCalls, use_key
from toolcrib.gateway.catalog import Catalog, ListFiles, ToolListCache
from toolcrib.gateway.definitions import Definition, Kind, PlainNames
from toolcrib.gateway.profile import Profile, approvals_of
from toolcrib.gateway.subscriptions import UPDATED, ResourceSubscriptions
from toolcrib.gateway.wire import Channel
from toolcrib.host import Host
from toolcrib.schema.events import Event, ServerChanged, ServerNoticed, ServerRemoved, ToolsChanged
from toolcrib.schema.servers import ServerStatus
from toolcrib.schema.tools import Principal, Tool
from toolcrib.serverkit.context import LOG_LEVELS
from toolcrib.serverkit.protocol import INVALID_PARAMS, Refusal, Request, notification
from toolcrib.servers.sessions.handlers import relayed_client
from toolcrib.servers.sessions.session import Session
from toolcrib.servers.supervisor import HOPELESS
from toolcrib.tasks import TaskSet, cancel_and_wait, in_background
from toolcrib.tools.names import BORDER, PREFIX
from toolcrib.tools.registry import Snapshot, explain_held

if TYPE_CHECKING:
    from toolcrib.gateway.search import SearchMode

EXPIRES_AFTER = timedelta(hours=1)
MAX_PENDING = 32
"""Unanswered questions of one client; further calls that need approval are refused."""
REPORT_EVERY = 5.0
"""Seconds between two notifications of progress."""
_NAMELESS = (
    "no one answered in time, and a client that does not name itself (clientInfo) gets no later answer"
)
_FORM = {
    "type": "object",
    "properties": {"decision": {"type": "string", "title": "This call", "enum": ["allow once", "deny"]}},
    "required": ["decision"],
}

logger = logging.getLogger(__name__)

LIST_PATIENCE = 3.0
"""Seconds that the first list of prompts or resources waits for starting servers."""
TOOLS_PATIENCE = 10.0
"""Seconds that the first list of tools waits for servers that were never listed before."""
CHANGE_PAUSE = 0.1
"""Seconds in which changes of a list are combined into one notification."""

PATIENCE = 2.0
_SEVERITY: dict[str, int] = {level: number for number, level in enumerate(LOG_LEVELS)}
_INFO = _SEVERITY["info"]


class ClientAsker:
    """Asks about the call of the client that the current task works for."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._pending: dict[Principal, set[str]] = {}
        """Questions of clients with a session, by id."""

    @classmethod
    def of(cls, host: Host) -> ClientAsker:
        """The one of this host, for all its views."""
        known = host.approvals.policy.askers.get(GATEWAY)
        if not isinstance(known, cls):
            host.approvals.policy.askers[GATEWAY] = known = cls(host)
        return known

    async def ask(self, question: ApprovalRequest) -> ApprovalAnswer:
        """Raises `ApprovalPending` if nobody answers soon."""
        call = relayed_client.get()
        if not isinstance(call, RelayedCall) or _whose(call.principal) != (
            question.principal,
            question.session,
        ):
            return ApprovalAnswer(allow=False, message="its client is not known")
        how = approvals_of(self._host.settings, question.principal.partition(":")[2])
        if how == "client" and call.can_elicit:
            answer = await _ask_client(call, question)
            if answer is not None:
                return answer
        return await self._ask_page(call, question)

    async def end_session(self, principal: Principal) -> None:
        """Withdraw the questions of a client whose session ended, because no call can take the answers."""
        for question in self._pending.pop(principal, ()):
            await self._host.approvals.questions.withdraw(question)

    async def _ask_page(self, call: RelayedCall, question: ApprovalRequest) -> ApprovalAnswer:
        core, questions = self._host.core, self._host.approvals.questions
        if await self._has_many(question):
            return ApprovalAnswer(
                allow=False, message=f"{MAX_PENDING} calls of this client wait for approval"
            )
        question = replace(question, expires=core.clock.now() + EXPIRES_AFTER)
        left = self._host.settings.gateway.approval_wait
        for turn in itertools.count():
            call.report(turn / 1000, f"Waiting for approval of {question.tool}.")
            answer = await questions.answer_within(question, min(left, REPORT_EVERY))
            if answer is not None:
                return answer
            left -= REPORT_EVERY
            if left <= 0:
                break
        if call.principal.identity == "anonymous":
            await questions.withdraw(question.id)
            return ApprovalAnswer(allow=False, message=_NAMELESS)
        stored = await questions.requests.put(question)  # another call may have taken the answer to it
        if call.principal.owns_session:
            self._pending.setdefault(call.principal, set()).add(stored)
        page = self._host.pages.address
        place = f"at {page} (Activity, Waiting) or " if page else ""
        raise ApprovalPending(
            f"Waiting for approval: {question.tool} was not run.",
            question=stored,
            hint=f"Approve it {place}with `toolcrib approvals allow {stored}`,"
            " then call again with the same arguments.",
        )

    async def _has_many(self, question: ApprovalRequest) -> bool:
        waiting = [request.question for request in await self._host.approvals.questions.requests.waiting()]
        whose = (question.principal, question.session)
        return sum((asked["principal"], asked["session"]) == whose for asked in waiting) >= MAX_PENDING


def _whose(principal: Principal) -> tuple[str, str | None]:
    return principal.name, principal.session


async def _ask_client(call: RelayedCall, question: ApprovalRequest) -> ApprovalAnswer | None:
    """The answer of the client's user; None if the client refuses to ask."""
    reasons = " ".join(question.reasons)
    params: dict[str, Any] = {
        "message": f"Allow this call of {question.tool}? {reasons}\n\n{question.call_text}",
        "requestedSchema": _FORM,
    }
    try:
        async with asyncio.timeout(WAIT_SECONDS):
            reply = await call.ask("elicitation/create", params)
    except PeerError:
        return None
    except TimeoutError:
        return ApprovalAnswer(allow=False, message="no one answered in time")
    content = reply.get("content")
    said = content.get("decision") if isinstance(content, dict) else None
    if reply.get("action") == "accept" and said == "allow once":
        return ApprovalAnswer(allow=True, message="answered in the client")
    return ApprovalAnswer(allow=False, message="the client's user did not allow it")


class Gateway:
    """A host seen through one profile."""

    def __init__(self, host: Host, profile: Profile | None = None) -> None:
        self.host = host
        self.profile = profile or Profile()
        self.loop = asyncio.get_running_loop()
        self.search = self._search_mode()
        self.waiting_calls = WaitingCalls()
        kept = ListFiles(host.paths.state / "lists")
        self.catalog = Catalog(host.servers, self, self._announce, kept)
        self.tool_lists = ToolListCache()
        self.logs = Logs(host.events)
        self.subscriptions = ResourceSubscriptions(host.servers)
        self._pending: dict[str, asyncio.TimerHandle] = {}
        self._channels: set[Channel] = set()
        self._waits: dict[str, float] = {}
        """Until when the first lists wait for starting servers."""
        self._plain_names: tuple[Snapshot, PlainNames] | None = None
        self._relisting: set[str] = set()
        """Servers whose tools changed and are being listed again."""
        self._shown_servers: tuple[Snapshot, frozenset[str | None]] | None = None
        self._ending = TaskSet()
        self._asker = ClientAsker.of(host)
        if (signer := host.core.database.decisions.signer) is not None:
            use_key(signer.derived("gateway request state"))

    def change(self, profile: Profile) -> None:
        """Use another profile from now on; clients are notified that the lists changed."""
        if profile == self.profile:
            return
        self.profile = profile
        self.search = self._search_mode()
        self._plain_names = self._shown_servers = None
        for kind in ("tools", "prompts", "resources"):
            self._announce(kind)

    def _search_mode(self) -> SearchMode | None:
        profile = self.profile
        if not profile.search:
            return None
        from toolcrib.gateway.search import SearchMode

        return SearchMode(
            self.tools,
            limit=profile.k,
            always_on=profile.always_on,
            meaning=self.host.toolset.meaning,
            held=self._held,
            unchecked=lambda: self.host.toolset.registry.snapshot.unchecked,
        )

    def tools(self) -> list[Tool]:
        """The tools that clients are offered now: not those of servers that miss their health checks."""
        return [tool for tool in self._visible() if not tool.silent]

    def _visible(self) -> list[Tool]:
        tools = self.profile.view(self.host.toolset.registry.snapshot.tools.values())
        return [tool for tool in tools if tool.origin == "mcp" or self._shares(tool)]

    def find(self, name: str) -> Tool | None:
        """The visible tool of this name, as clients know it or public."""
        names = self._names() if self.profile.plain_names else None
        if names is not None:
            name = names.public(name)
        snapshot = self.host.toolset.registry.snapshot
        tool = snapshot.tools.get(name) or snapshot.get(name)
        if tool is None or not self.profile.shows(tool):
            return None
        return tool if tool.origin == "mcp" or self._shares(tool) else None

    def shows_server(self, server: str) -> bool:
        """True if a client may see what a server offers besides tools: if the tools are limited, only of a
        server with a tool that is shown."""
        if not self.profile.may_show_server(server):
            return False
        return not self.profile.limits_tools or server in self._servers_with_tools()

    def _servers_with_tools(self) -> frozenset[str | None]:
        snapshot = self.host.toolset.registry.snapshot
        if self._shown_servers is None or self._shown_servers[0] is not snapshot:
            self._shown_servers = (snapshot, frozenset(tool.server for tool in self._visible()))
        return self._shown_servers[1]

    def _shares(self, tool: Tool) -> bool:
        """False for the terminal of the host's own user, unless the settings enable it for clients."""
        return self.host.settings.terminal.enabled or not self.host.toolset.workspace.owns(tool)

    def missing(self, name: str) -> ToolcribError:
        """Why there is no tool of this name: it is held, its server has none yet, or it is unknown."""
        held = self._held(name)
        if held is not None:
            return held
        for status in self.host.servers.statuses():
            expected = name.removeprefix(PREFIX).startswith(status.name + BORDER)
            if expected and not status.tools and self.profile.may_show(status.name, name):
                why = f": {status.reason.rstrip('.')}" if status.reason else ""
                return ServerNotReady(f"{status.name} is {status.state}{why}.", hint=_hint(status))
        return UnknownTool(f"Unknown tool: {name[:200]}")

    def _held(self, name: str) -> ToolcribError | None:
        """Why a tool that the client would see otherwise is held; None if it is not."""
        snapshot = self.host.toolset.registry.snapshot
        tool = snapshot.get(name)
        if tool is None and self.profile.plain_names:
            tool = next((tool for tool in snapshot.tools.values() if tool.definition.name == name), None)
        if tool is None or not tool.held or not self.profile.shows(replace(tool, enabled=True)):
            return None
        return explain_held(tool)

    def definitions(self) -> list[dict[str, Any]]:
        """The tools for clients: in search mode the search tools, else every definition, unchanged but for
        the name."""
        if self.search is not None:
            return self.search.definitions()
        names = self._names()
        if names is None:
            return [{**tool.definition.raw, "name": tool.name} for tool in self.tools()]
        return [{**tool.definition.raw, "name": names.shown(tool.name)} for tool in self.tools()]

    def _names(self) -> PlainNames | None:
        """The plain names of the tools; None without them, and in search mode, which uses public names."""
        if not self.profile.plain_names or self.search is not None:
            return None
        snapshot = self.host.toolset.registry.snapshot
        if self._plain_names is None or self._plain_names[0] is not snapshot:
            owned = {tool.name: tool.definition.name for tool in self._visible()}
            self._plain_names = (snapshot, PlainNames(owned))
        return self._plain_names[1]

    async def page(self, kind: Kind, request: Request) -> dict[str, Any]:
        """All definitions of a kind, as the result of a request."""
        if request.params.get("cursor") is not None:
            raise Refusal(INVALID_PARAMS, "Invalid cursor: the list has one page.")
        await self.settled()
        result: dict[str, Any] = {kind.key: await self.catalog.page(kind)}
        return {**result, **self.hints(kind)} if request.modern else result

    def hints(self, kind: Kind) -> dict[str, Any]:
        """How long a client may cache a list. It is always private: it reveals which servers a user has."""
        return {"ttlMs": int(1000 * self.catalog.fresh_for(kind)), "cacheScope": "private"}

    async def find_listed(self, kind: Kind, identity: str) -> tuple[str, Definition] | None:
        """The server and definition of a prompt or resource; waits for starting servers if it is unknown."""
        found = await self.catalog.find(kind, identity)
        if found is None:
            await self.settled()
            found = await self.catalog.find(kind, identity)
        return found

    async def subscribable(self, uri: str) -> str | None:
        """The server of a resource, if it supports subscriptions."""
        await self.settled()
        owner = await self.catalog.owner(uri)
        if owner is None:
            return None
        try:
            offered = (await self.catalog.session(owner)).agreement.capabilities.get("resources")
        except ToolcribError:
            return None
        return owner if isinstance(offered, dict) and offered.get("subscribe") is True else None

    async def find_soon(self, name: str) -> Tool | None:
        """The tool of this name, once its server has started."""
        if self.profile.plain_names:
            await self.tools_known()
        elif any(self.profile.may_show_server(server) for server in self.host.servers.starting()):
            with contextlib.suppress(ToolcribError):
                await self.host.toolset.caller.arrive(name)
        return self.find(name)

    async def tools_known(self) -> None:
        """Wait at the first list for starting servers whose tools are not known from before.

        Many clients list once and never again.
        """
        await self._first_wait("tools", self.host.servers.until_listed, TOOLS_PATIENCE)

    async def settled(self) -> None:
        """Wait at the first list for starting servers, but not long for one that hangs."""
        await self._first_wait("all", self.host.servers.settle, LIST_PATIENCE)

    async def _first_wait(
        self, what: str, settle: Callable[[], Coroutine[Any, Any, None]], patience: float
    ) -> None:
        """Wait until the servers are settled; the time counts from the first list on."""
        now = asyncio.get_running_loop().time()
        left = self._waits.setdefault(what, now + patience) - now
        if left <= 0:
            return
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(left):
                await settle()
        self._waits[what] = now

    def join(self, channel: Channel) -> None:
        """Notify a client of changes from now on."""
        self._channels.add(channel)

    def leave(self, channel: Channel) -> None:
        """Stop notifying a client."""
        self._channels.discard(channel)
        self.subscriptions.leave(channel)

    def end_session(self, principal: Principal) -> None:
        """A client's session has ended, with its approvals and its instances of servers."""
        self.host.approvals.policy.end(principal)
        self._ending.start(self.host.rest_session(principal))
        self._ending.start(self._asker.end_session(principal))

    def end_instances(self, principal: Principal) -> None:
        """Stop a client's instances of servers; they start again when they are needed."""
        self._ending.start(self.host.servers.end_session(principal.session or ""))

    def notify_all(self, method: str) -> None:
        """Notify every client that listens."""
        for channel in tuple(self._channels):
            channel.push(notification(method, {}))

    @asynccontextmanager
    async def following(self) -> AsyncIterator[None]:
        """Notify clients of changes while the block runs."""
        try:
            async with in_background(self._follow(), "gateway changes"):
                yield
        finally:
            await self.close()

    async def _follow(self) -> None:
        with self.host.events.subscribe() as events:
            async for event in events:
                self.handle(event)

    async def close(self) -> None:
        """Release what was started for clients."""
        for timer in self._pending.values():
            timer.cancel()
        self._pending.clear()
        await self.waiting_calls.close()
        await asyncio.gather(*self._ending, return_exceptions=True)
        await asyncio.gather(self.catalog.close(), self.logs.close(), self.subscriptions.close())

    def handle(self, event: Event) -> None:
        """Notify the clients of an event of the host, if it concerns them."""
        if isinstance(event, ToolsChanged):
            for kind in ("tools", "prompts", "resources") if self.profile.limits_tools else ("tools",):
                self._announce(kind)
        elif isinstance(event, ServerChanged):
            self._update_server(event.status.name)
            if event.status.name in self._relisting:
                self._relisting.discard(event.status.name)
                self._announce("tools")
        elif isinstance(event, ServerRemoved):
            self._update_server(event.name)
        elif isinstance(event, ServerNoticed) and self.shows_server(event.server):
            self._forward(event.server, event.method, dict(event.params))

    def _update_server(self, server: str) -> None:
        session = self.catalog.update_server(server)
        if session is not None:
            self.logs.opened(session)

    def _forward(self, server: str, method: str, params: dict[str, Any]) -> None:
        if method == "notifications/message":
            self.logs.forward(server, params)
        elif method == UPDATED:
            self.subscriptions.forward(server, params)
        elif method == "notifications/subscriptions/acknowledged":
            self.subscriptions.confirm(server, params)
        elif method == "notifications/tools/list_changed":
            self._relisting.add(server)  # announced when the new list is there, even if it is the same
        elif method in ("notifications/prompts/list_changed", "notifications/resources/list_changed"):
            capability = method.split("/")[1]
            self.catalog.invalidate(server, capability)
            self._announce(capability)

    def _announce(self, kind: str) -> None:
        """Notify the clients soon that a list changed, once for several changes."""
        if self._channels and kind not in self._pending:
            loop = asyncio.get_running_loop()
            self._pending[kind] = loop.call_later(CHANGE_PAUSE, self._notify_changed, kind)

    def _notify_changed(self, kind: str) -> None:
        del self._pending[kind]
        self.notify_all(f"notifications/{kind}/list_changed")


def _hint(status: ServerStatus) -> str:
    if status.state in HOPELESS:
        return status.hint or f"`toolcrib start {status.name}` starts it again."
    return "Try again shortly."


class Logs:
    """The running calls by server, and the log level that servers were asked for."""

    def __init__(self, events: Bus[Event]) -> None:
        self.events = events
        self._calls: dict[str, set[RelayedCall]] = {}
        self._asked: int | None = None
        """The level that servers of the legacy era were set to; each client gets what it wants of that."""
        self._tasks = TaskSet()

    def join(self, server: str | None, call: RelayedCall) -> set[RelayedCall]:
        """Send the server's messages to the client of the call, until the call is removed from the returned
        set."""
        if server is None:
            return set()
        calls = self._calls.get(server)
        if calls is None:
            calls = self._calls[server] = set()
        calls.add(call)
        return calls

    async def catch_up(self, call: RelayedCall) -> None:
        """Wait for messages sent right before the result: they come as events, one loop iteration later."""
        if self.events.behind and call.log_level is not None:
            await asyncio.sleep(0)

    def forward(self, server: str, params: dict[str, Any]) -> None:
        level = params.get("level")
        severity = _SEVERITY.get(level) if isinstance(level, str) else None
        if severity is None:
            return  # invalid
        for call in tuple(self._calls.get(server, ())):
            wanted = call.log_level
            if wanted is not None and severity >= _SEVERITY[wanted]:
                call.wire.notify(notification("notifications/message", params))

    async def set_level(self, level: str, sessions: Iterable[Session]) -> None:
        """A client wants messages from this level on; servers are set to it if they are set to a higher
        one."""
        wanted = min(_SEVERITY[level], _INFO)
        if self._asked is not None and self._asked <= wanted:
            return
        self._asked = wanted
        await asyncio.gather(*(self._ask(session) for session in sessions))

    def opened(self, session: Session) -> None:
        """A server has started."""
        if self._asked is not None and session.offers("logging"):
            self._tasks.start(self._ask(session))

    async def close(self) -> None:
        """Cancel requests to servers."""
        await cancel_and_wait(*self._tasks)

    async def _ask(self, session: Session) -> None:
        if session.agreement.era == "modern" or self._asked is None:
            return  # in the modern era, each request sets it
        with contextlib.suppress(ToolcribError):
            level = LOG_LEVELS[self._asked]
            await session.request("logging/setLevel", {"level": level}, timeout=PATIENCE)
