"""What a run may use of its host: tools with their approvals, models, code, artifacts and other workflows.

Runs the Python code of a workflow in a sandboxed process: no network, no files but its own and Python's. The
code is the body of a function whose parameters are its inputs; what it returns must be JSON.
"""

from __future__ import annotations

import errno
import json
import shutil
import sys
import tempfile
import time
from asyncio import to_thread
from collections.abc import Collection, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolcrib import plugins
from toolcrib.approvals.facts import WORKFLOW_CODE
from toolcrib.approvals.known_addresses import values_in
from toolcrib.errors import CallFailed, CallTimeout, Denied, ServerNotReady, UnknownTool, UsageError
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
from toolcrib.features.workflows.servers import DesktopServers, RunServers
from toolcrib.graph.node_type import ModelAnswer, ModelTask, NodeCall
from toolcrib.host import Host
from toolcrib.schema.tools import CallRecord, Principal, ToolResult
from toolcrib.schema.workflows import Workflow
from toolcrib.serverkit.bounded_read import read_bounded
from toolcrib.store.audit_search import tools_in_session

if TYPE_CHECKING:
    from toolcrib.features.workflows.host_engine import RunSource
    from toolcrib.features.workflows.ports import RunInfo, VisitScope

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


class CodeRunner:
    """`hidden` are folders that the code cannot read, even if they are beside programs."""

    def __init__(self, hidden: tuple[Path, ...] = ()) -> None:
        self._hidden = hidden

    async def run(self, code: str, inputs: Mapping[str, Any], timeout: float | None) -> tuple[Any, str]:
        """What the code returns, and what it printed; raises `CallFailed` with its error."""
        if len(code) > MOST_CODE:
            raise UsageError(f"The code has more than {MOST_CODE} characters.", hint="Split it into nodes.")
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
