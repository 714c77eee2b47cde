"""People who answer questions, and calls to ask them about."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from toolcrib.approvals.gate import ApprovalGate
from toolcrib.approvals.question import ApprovalAnswer, ApprovalRequest
from toolcrib.schema.tools import Principal, Tool, ToolCall
from toolcrib.tools.ports import Decision
from toolcrib.tools.registry import Registry

AGENT = Principal(name="agent", session="chat-1")
TERMINAL = ("run_command", "send_input", "kill_process", "request_session_mode", "end_session_mode")
OURS = ("terminal", "files", None)


class Person:
    """Answers each question as told, and remembers them all."""

    def __init__(self, *answers: ApprovalAnswer | Callable[[ApprovalRequest], ApprovalAnswer]) -> None:
        self.questions: list[ApprovalRequest] = []
        self._answers = list(answers)

    async def ask(self, question: ApprovalRequest) -> ApprovalAnswer:
        self.questions.append(question)
        await asyncio.sleep(0)
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        return answer(question) if callable(answer) else answer


YES, NO = ApprovalAnswer(allow=True), ApprovalAnswer(allow=False)
ALWAYS = ApprovalAnswer(allow=True, scope="always")


class Tools:
    """A few tools of ours and of others."""

    def __init__(self) -> None:
        self.registry = Registry()
        self.registry.put(
            "terminal",
            "inline",
            [named(name) for name in TERMINAL],
        )
        self.registry.put(
            "files", "mcp", [named("read", readOnlyHint=True, openWorldHint=False), named("write")]
        )
        self.registry.put(None, "native", [named("terminal"), named("python")])
        self.registry.put("web", "mcp", [named("fetch", readOnlyHint=True), named("post")])

    def __getitem__(self, name: str) -> Tool:
        return self.registry.resolve(name)

    def call(self, name: str, principal: Principal = AGENT, **arguments: Any) -> ToolCall:
        return ToolCall(id="1", tool=self[name], arguments=arguments, principal=principal)

    def run(self, command: str, **more: Any) -> ToolCall:
        return self.call("terminal__run_command", command=command, **more)


def named(name: str, **hints: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": {"url": {"type": "string"}}}
    return {"name": name, "description": "d", "inputSchema": schema, "annotations": hints}


def is_ours(tool: Tool) -> bool:
    return tool.server in OURS


def gate_with(person: Person | None = None, **options: Any) -> ApprovalGate:
    return ApprovalGate(ours=is_ours, asker=person, **options)


async def allowed(gate: ApprovalGate, call: ToolCall) -> bool:
    decision: Decision = await gate.check(call)
    return decision.allowed
