"""What a run may use of its host: tools with their approvals, models, code (memory, length, folders it can
read), artifacts, other workflows, the desktop server; how a run waits for a server that needs trust.

Runs the Python code of a workflow in a sandboxed process: no network, no files but its own and Python's. The
code is the body of a function whose parameters are its inputs; what it returns must be JSON.

The servers of a run's tools: a run waits for one that needs trust, and says why others are not ready. The
wait is durable, as that for an approval: it is one of the run's questions, with their deadline.
"""

from __future__ import annotations

import asyncio
import errno
import hashlib
import json
import shlex
import shutil
import sys
import tempfile
import time
from asyncio import to_thread
from collections.abc import Awaitable, Callable, Collection, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolcrib import plugins
from toolcrib.approvals.facts import WORKFLOW_CODE
from toolcrib.approvals.known_addresses import values_in
from toolcrib.errors import (
    CallFailed,
    CallTimeout,
    DatabaseError,
    Denied,
    ServerNotReady,
    ToolcribError,
    UnknownServer,
    UnknownTool,
    UsageError,
)
from toolcrib.features.workflows.approvals import (
    PendingCall,
    add_results,
    begin_approvals,
    check_code,
    pending,
    run_principal,
)
from toolcrib.features.workflows.artifacts import RunArtifacts
from toolcrib.features.workflows.imports import IMPORTED
from toolcrib.features.workflows.secret_inputs import NOTHING, SecretInputs
from toolcrib.graph.node_type import ModelAnswer, ModelTask, NodeCall
from toolcrib.host import Host
from toolcrib.schema.events import CallFinished
from toolcrib.schema.servers import ServerState, ServerStatus
from toolcrib.schema.tools import CallRecord, Principal, Tool, ToolResult
from toolcrib.schema.workflows import Workflow
from toolcrib.serverkit.bounded_read import read_bounded
from toolcrib.servers.restarts import not_ready
from toolcrib.store.audit_search import tools_in_session
from toolcrib.suggestions import did_you_mean
from toolcrib.tools.names import BORDER, PREFIX

if TYPE_CHECKING:
    from toolcrib.features.workflows.host_engine import RunSource
    from toolcrib.features.workflows.ports import RunInfo, VisitScope

BUNDLED = "desktop"
_BUNDLED_ENTRY = {"type": "inprocess", "module": "toolcrib.bundled.desktop"}

LOOK = 2.0
"""Seconds after which trust is noticed that another process of this home was given."""
_UP = (ServerState.READY, ServerState.DEGRADED)

TERMINAL = "toolcrib.bundled.terminal"
LARGEST_RESULT = 8 * 1024 * 1024
MOST_CODE = 100_000
MOST_MEMORY = 1024 * 1024 * 1024
MOST_DISK = 1024 * 1024 * 1024
DEFAULT_TIMEOUT = 60.0
READABLE = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/nix/store", "/gnu/store"),
    *("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives", "/etc/localtime"),
)
"""Programs and libraries; the home folder and the settings of the system are not readable."""
_PROGRAM = """
import ast, json, sys
with open("inputs.json", encoding="utf-8") as file:
    inputs = json.load(file)
with open("code.py", encoding="utf-8") as file:
    tree = ast.parse(file.read(), "code.py")
names = ast.arguments(posonlyargs=[], args=[ast.arg(name) for name in inputs], kwonlyargs=[],
                      kw_defaults=[], defaults=[])
body = tree.body or [ast.Pass()]
function = ast.FunctionDef("code", names, body, [])
if sys.version_info >= (3, 12):
    function.type_params = []
scope = {}
exec(compile(ast.fix_missing_locations(ast.Module([function], [])), "code.py", "exec"), scope)
result = scope["code"](**inputs)
with open("result.json", "w", encoding="utf-8") as file:
    json.dump(result, file)
"""


MOST_PRINTED = 4000
"""Characters in the trace of what code printed."""
LOOKING = frozenset({"take_screenshot", "find_text", "find_image", "list_windows"})
"""Desktop tools that only look, and can be repeated."""


class DesktopServers:
    """Servers of running workflows that are not in the config file; runs with the same choice share one."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._users: dict[str, set[str]] = {}
        self._changing = asyncio.Lock()

    async def open(self, choice: str, run: str, trusted: Callable[[str], Awaitable[None]]) -> str:
        """The name of the server for this run, once it is ready; `trusted` waits for the user's trust."""
        name, entry = desktop_entry(choice, self._host.config.servers)
        if entry is not None:
            await self._add(name, entry, run)
        await trusted(name)
        await self._ready(name)
        return name

    async def close(self, run: str) -> None:
        """The run has ended: stop the servers that no other run uses."""
        async with self._changing:
            unused = [name for name, users in self._users.items() if run in users and users == {run}]
            for users in self._users.values():
                users.discard(run)
            for name in unused:
                del self._users[name]
                self._host.core.added.pop(name, None)
            if unused:
                await self._host.apply(self._host.config)

    def tool(self, server: str, name: str) -> Tool:
        """A tool of the desktop server by its own name; raises `UnknownTool`."""
        tools = self._host.toolset.registry.snapshot.by_server.get(server, ())
        for tool in tools:
            if tool.definition.name == name:
                return tool
        known = [tool.definition.name for tool in tools]
        hint = did_you_mean(name, known, otherwise="Choose another desktop server in the workflow's options.")
        raise UnknownTool(f"The desktop server {server} has no tool {name!r}.", hint=hint)

    async def _add(self, name: str, entry: Mapping[str, Any], run: str) -> None:
        async with self._changing:
            self._users.setdefault(name, set()).add(run)
            if name not in self._host.core.added:
                self._host.core.added[name] = entry
                await self._host.apply(self._host.config)

    async def _ready(self, name: str) -> None:
        await self._host.servers[name].settled()
        status = self._host.servers.status(name)
        if status.state not in _UP:
            raise ServerNotReady(
                f"The desktop server {name} is not ready: {status.reason or status.state}",
                hint=status.hint or f"See its log with: toolcrib logs {name}",
            )


def desktop_entry(choice: str, servers: Mapping[str, Any]) -> tuple[str, Mapping[str, Any] | None]:
    """The server's name, and its entry if it has to be added: the bundled one, or a command line."""
    if choice in servers:
        return choice, None
    if choice == BUNDLED:
        return BUNDLED, _BUNDLED_ENTRY
    try:
        command, *arguments = shlex.split(choice)
    except ValueError as error:
        raise _unusable(choice) from error
    digest = hashlib.sha256("\0".join([command, *arguments]).encode()).hexdigest()[:8]
    return f"desktop-{digest}", {"command": command, "args": arguments}


def _unusable(choice: str) -> ToolcribError:
    return UsageError(
        f"{choice[:200]!r} is neither a server nor a command.",
        hint="Set options.desktop to a registered server, a command line, or the path of a program.",
    )


class RunServers:
    """Asked before each call of a run."""

    def __init__(self, host: Host) -> None:
        self._host = host

    def of_tool(self, tool: str) -> str | None:
        """The server of a tool, by its name if it is not known at the moment."""
        known = self._host.toolset.registry.snapshot.get(tool)
        if known is not None:
            return known.server
        bare = tool.removeprefix(PREFIX)
        names = [name for name in self._host.servers.names() if bare.startswith(f"{name}{BORDER}")]
        return max(names, key=len, default=None)

    async def until_trusted(self, server: str | None, visit: VisitScope, begun: str | None = None) -> None:
        """Wait while the server lacks trust; raises `ServerNotReady` if it does not get it.

        `begun` is a tool whose call is recorded as begun; it begins after that.
        """
        if server is None or not (visit.held(server) or self._lacks_trust(server)):
            return
        if begun is not None:
            await visit.take_back()
        reason, hint = self._reason(server)
        text = f"{reason} {hint} The run continues then."
        if not await visit.wait_for_server(server, text, lambda: self._trusted(server)):
            raise ServerNotReady(reason, hint=f"{hint} Then run it again from this step.")
        with suppress(ToolcribError):  # The call says why it has not started.
            await self._host.servers[server].settled()
        if begun is not None:
            await visit.begin(begun)

    def explained(self, tool: str, error: ToolcribError) -> ToolcribError:
        """Why the server of a tool is not ready, instead of that it has no tools."""
        server = self.of_tool(tool)
        status = None if server is None else self._status(server)
        if (
            status is None
            or status.state in _UP
            or self._host.toolset.registry.snapshot.get(tool) is not None
        ):
            return error
        if not self._host.settings.global_enabled:
            return ServerNotReady("Everything is switched off.", hint="Switch it on with: toolcrib on")
        return not_ready(status)

    async def find(self, tool: str, visit: VisitScope) -> None:
        """Return once a tool is known; raises `UnknownTool` or `ServerNotReady`."""
        await self.until_trusted(self.of_tool(tool), visit)
        registry = self._host.toolset.registry
        try:
            registry.resolve(tool)
        except (UnknownTool, ServerNotReady) as error:
            await self._host.toolset.caller.arrive(tool)
            if registry.snapshot.get(tool) is None:
                raise self.explained(tool, error) from None

    async def _trusted(self, server: str) -> None:
        """Return when the server has the user's trust, or is gone."""
        with self._host.events.subscribe(without=CallFinished) as events:
            while self._lacks_trust(server):
                try:
                    async with asyncio.timeout(LOOK):
                        await events.next()
                except TimeoutError:
                    with suppress(DatabaseError):
                        await self._refresh()

    async def _refresh(self) -> None:
        if await self._host.core.trust.refresh():
            await self._host.apply(self._host.config)

    def _lacks_trust(self, server: str) -> bool:
        status = self._status(server)
        return status is not None and status.state is ServerState.NEEDS_TRUST

    def _reason(self, server: str) -> tuple[str, str]:
        hint = f"Trust it: toolcrib trust {server}"
        status = self._status(server)
        return f"The server {server} needs your trust. {status.reason if status else ''}".strip(), f"{hint}."

    def _status(self, server: str) -> ServerStatus | None:
        try:
            return self._host.servers.status(server)
        except UnknownServer:
            return None


class CodeRunner:
    """`hidden` are folders that the code cannot read, even if they are beside programs."""

    def __init__(self, hidden: tuple[Path, ...] = ()) -> None:
        self._hidden = hidden

    async def run(self, code: str, inputs: Mapping[str, Any], timeout: float | None) -> tuple[Any, str]:
        """What the code returns, and what it printed; raises `CallFailed` with its error."""
        if len(code) > MOST_CODE:
            raise UsageError(f"The code has more than {MOST_CODE} characters.", hint="Split it into steps.")
        folder = Path(await to_thread(tempfile.mkdtemp, prefix="toolcrib-code-"))
        try:
            (folder / "code.py").write_text(code, encoding="utf-8")
            (folder / "inputs.json").write_text(json.dumps(dict(inputs)), encoding="utf-8")
            printed = await self._execute(folder, timeout or DEFAULT_TIMEOUT)
            return _result(folder / "result.json", printed), printed
        finally:
            await to_thread(shutil.rmtree, folder, ignore_errors=True)

    async def _execute(self, folder: Path, timeout: float) -> str:
        terminal: Any = plugins.find("toolcrib.bundled", "terminal")
        finished: Any = plugins.find(TERMINAL, "workplace").finished
        hidden = (*terminal.HIDDEN, *map(str, self._hidden))
        sandbox = terminal.Sandbox(hidden=hidden, readable=READABLE, network=False, caches=False)
        if sandbox.kind == "none":
            raise Denied(
                "Code cannot run: this system has no sandbox.",
                hint="Install bubblewrap, or use a kernel with Landlock.",
            )
        workplace = terminal.Workplace(
            folder=lambda: folder,
            sandbox=sandbox,
            max_memory=MOST_MEMORY,
            max_disk=MOST_DISK,
            max_file=MOST_DISK,
        )
        running = workplace.start([sys.executable, "-I", "-c", _PROGRAM], str(folder))
        try:
            if not await finished(running, timeout):
                raise CallTimeout(f"The code did not end within {timeout:g} seconds.")
        finally:
            sandbox.scratch.close()
        text: str = running.text()
        if running.code != 0:
            raise CallFailed(f"The code failed: {_last_line(text) or running.why or running.code}")
        return text


def _result(path: Path, printed: str) -> Any:
    try:
        # The code wrote it: a link could name a file that only the host may read.
        return json.loads(read_bounded(path, LARGEST_RESULT, links=False))
    except OSError as error:
        if error.errno == errno.EFBIG:
            raise CallFailed(f"The code returned more than {LARGEST_RESULT >> 20} MiB.") from error
        raise CallFailed(f"The code returned nothing that is JSON: {_last_line(printed)}") from error
    except (ValueError, RecursionError) as error:
        raise CallFailed(f"The code returned nothing that is JSON: {_last_line(printed)}") from error


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:500] if lines else ""


class HostRunServices:
    """The `RunServices` of a host."""

    def __init__(self, host: Host, source: RunSource, artifacts: RunArtifacts) -> None:
        self._host = host
        self._source = source
        self._artifacts = artifacts
        self._servers = RunServers(host)
        self._desktops = DesktopServers(host)
        self._code = CodeRunner((host.paths.data, host.paths.state, host.paths.secrets_file))
        self._called: dict[str, set[str]] = {}
        """By run: the tools whose results it has."""
        self._secrets: dict[str, SecretInputs] = {}

    async def begin_run(self, run: RunInfo) -> None:
        secrets = self._secrets[run.id] = await self._source.secrets(run.id)
        self._host.core.masker.learn(secrets.texts())
        deadline = run.workflow.options.question_deadline
        called = {*run.results_of, *await self.tools_once_called(run.id)}
        if await self._source.is_imported(run.workflow):
            called.add(IMPORTED)
        self._called[run.id] = called
        await begin_approvals(self._host, _principal(run), deadline, called, secrets)
        self._host.approvals.policy.given(_principal(run), await self._given(run))

    async def _given(self, run: RunInfo) -> list[str]:
        """What its user wrote: the workflow, and its inputs unless they came from elsewhere."""
        written = list(values_in(run.workflow.model_dump(mode="json")))
        if run.parent is None and not {*run.results_of} - {IMPORTED}:
            written += values_in((await self._source.started_with(run.id)).inputs)
        return written

    async def end_run(self, run: RunInfo) -> None:
        self._called.pop(run.id, None)
        self._secrets.pop(run.id, None)
        await self._host.end_session(_principal(run))
        await self._desktops.close(run.id)

    def tools_called(self, run: RunInfo) -> Collection[str]:
        return self._called.get(run.id, set())

    async def tools_once_called(self, run: str) -> Collection[str]:
        return await self._host.audit.look(partial(tools_in_session, session=run))

    async def add_results(self, run: RunInfo, tools: Collection[str]) -> None:
        self._called.setdefault(run.id, set()).update(tools)
        await add_results(self._host, _principal(run), tools)

    def repeatable(self, use: NodeCall, run: RunInfo) -> bool:
        if use.desktop:
            return use.tool in LOOKING
        tool = self._host.toolset.registry.snapshot.get(use.tool)
        return tool is not None and tool.definition.repeatable

    async def call(self, use: NodeCall, visit: VisitScope) -> ToolResult:
        name = use.tool
        begun = not self.repeatable(use, visit.info)
        if use.desktop:
            trusted = partial(self._servers.until_trusted, visit=visit, begun=name if begun else None)
            server = await self._desktops.open(visit.info.workflow.options.desktop, visit.info.id, trusted)
            name = self._desktops.tool(server, use.tool).name
        return await self._call(name, use.arguments, visit, begun=begun)

    async def ask_model(self, task: ModelTask, visit: VisitScope) -> ModelAnswer:
        from toolcrib.features.workflows.models import DECISION, ask_model, replay

        async def call_tool(name: str, arguments: Mapping[str, Any]) -> ToolResult:
            begun = not self.repeatable(NodeCall(tool=name, arguments=arguments), visit.info)
            if begun:
                await visit.begin(name)
            return await self._call(name, arguments, visit, begun=begun)

        recorded = await to_thread(self._artifacts.recorded, visit.info.id, visit.step)
        if recorded is not None:
            visit.note("replayed", model=recorded.get("model"))
            source = await to_thread(self._artifacts.replayed, visit.info.id)
            return await replay((await self._source.secrets(source)).reveal(recorded), call_tool)
        pictures = [
            (await to_thread(self._artifacts.read, visit.info.id, picture))[1] for picture in task.pictures
        ]
        for name in task.tools or ():
            await self._servers.find(name, visit)
        model = visit.info.workflow.options.model
        answer, decision = await ask_model(self._host, task, model, pictures, call_tool)
        hidden = self._secrets.get(visit.info.id, NOTHING).hide(decision)
        stored = json.dumps(hidden, ensure_ascii=False, default=str).encode()
        kept = await to_thread(self._artifacts.keep, visit.info.id, stored, "application/json")
        calls = [call["tool"] for call in decision["calls"]]
        visit.note(DECISION, model=decision["model"], calls=calls, artifact=kept)
        return answer

    async def run_code(
        self, code: str, inputs: Mapping[str, Any], timeout: float | None, visit: VisitScope
    ) -> Any:
        principal = _principal(visit.info)
        if IMPORTED in self.tools_called(visit.info):
            await check_code(self._host, principal, code, visit)
        began = time.perf_counter()
        result, printed = await self._code.run(code, inputs, timeout)
        self._host.audit.record(
            CallRecord(
                self._host.core.clock.now(),
                WORKFLOW_CODE.name,
                WORKFLOW_CODE.server,
                principal.name,
                "ok",
                (time.perf_counter() - began) * 1000,
                0,
                session=principal.session,
                call_id=f"{visit.info.id}/{visit.step}",
            )
        )
        await self.add_results(visit.info, [WORKFLOW_CODE.name])
        if printed.strip():
            visit.note("printed", text=printed[:MOST_PRINTED])
        return result

    async def find_workflow(self, name: str, run: RunInfo) -> Workflow:
        return await self._source.find(name)

    def keep(self, data: bytes, media_type: str, visit: VisitScope) -> str:
        if media_type.startswith("text/") or media_type == "application/json":
            hide = self._secrets.get(visit.info.id, NOTHING).hide
            data = str(hide(data.decode("utf-8", "surrogateescape"))).encode("utf-8", "surrogateescape")
        return self._artifacts.keep(visit.info.id, data, media_type)

    async def _call(
        self, name: str, arguments: Mapping[str, Any], visit: VisitScope, *, begun: bool
    ) -> ToolResult:
        self._called.setdefault(visit.info.id, set()).add(name)
        await self._servers.until_trusted(self._servers.of_tool(name), visit, name if begun else None)
        token = pending.set(PendingCall(visit=visit, tool=name, begun=begun))
        try:
            return await self._host.toolset.caller.call(name, arguments, principal=_principal(visit.info))
        except (ServerNotReady, UnknownTool) as error:
            raise self._servers.explained(name, error) from None
        finally:
            pending.reset(token)


def _principal(run: RunInfo) -> Principal:
    return run_principal(run.workflow.name, run.id)
