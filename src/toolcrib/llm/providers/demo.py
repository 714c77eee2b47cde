"""A scripted model to try everything without an account: `demo`. Has the sums and quotients that it
understands and the texts of its answers.

It finds sums and quotients in the question, calls the tools for them, and answers with their results. It
sends nothing anywhere.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from toolcrib.llm.context import ModelContext, ModelVendor
from toolcrib.llm.json_values import table
from toolcrib.llm.model import CallMade, CompletionRequest, ModelEvent, ModelTraits, TextDelta
from toolcrib.llm.stream_reader import AnswerBuilder
from toolcrib.schema.messages import FromModel, FromTools, FromUser, Message, ToolAnswer, Usage

VENDOR = ModelVendor(name="demo", title="the demo model")
_NUMBER = r"-?\d+(?:\.\d+)?"
_TASKS = (
    ("add", re.compile(rf"({_NUMBER})\s*(?:\+|plus|and)\s*({_NUMBER})", re.IGNORECASE), "plus"),
    (
        "divide",
        re.compile(rf"({_NUMBER})\s*(?:/|÷|divided by|over)\s*({_NUMBER})", re.IGNORECASE),
        "divided by",
    ),
)
_MARKS = re.compile(r"</?tool_result[^>]*>")
SEARCH = "search_tools"
HELP = (
    "I am the demo model: a script, not an AI, but the tools that I call are real. "
    "Ask me for a sum or a quotient, such as: What is 17 plus 25, and what is 1 divided by 7?"
)


@dataclass(frozen=True)
class Task:
    tool: str
    a: str
    b: str
    said: str


def open_model(model: str, context: ModelContext) -> Demo:
    return Demo()


class Demo:
    name = "demo"
    form = "openai"

    async def traits(self) -> ModelTraits:
        return ModelTraits(images=False, structured=True)

    async def close(self) -> None:
        pass

    async def stream(self, request: CompletionRequest) -> AsyncGenerator[ModelEvent, None]:
        """Call the tools that the question needs, then answer with their results."""
        builder = AnswerBuilder()
        question, answers = _since_question(request.messages)
        tasks = read_tasks(question)
        names = _offered(request.tools)
        if request.answer_schema is not None:
            builder.say(_plan(tasks, request))
        elif tasks and names and not answers:
            for task in tasks:
                yield _call(builder, task, names)
        else:
            for word in re.findall(r"\S+\s*", _answer(tasks, answers)):
                builder.say(word)
                yield TextDelta(word)
        finished = builder.finish()
        yield replace(finished, usage=_usage(request, finished.message))


def read_tasks(question: str) -> list[Task]:
    found = [(match, tool, word) for tool, pattern, word in _TASKS for match in pattern.finditer(question)]
    return [
        Task(tool, match[1], match[2], f"{match[1]} {word} {match[2]}")
        for match, tool, word in sorted(found, key=lambda hit: hit[0].start())
    ]


def _since_question(messages: Sequence[Message]) -> tuple[str, list[ToolAnswer]]:
    answers: list[ToolAnswer] = []
    for message in reversed(messages):
        if isinstance(message, FromUser):
            return message.text, answers
        if isinstance(message, FromTools):
            answers = [*message.answers, *answers]
    return "", answers


def _offered(tools: Sequence[Mapping[str, Any]]) -> list[str]:
    return [str(tool.get("function", {}).get("name", "")) for tool in tools]


def _call(builder: AnswerBuilder, task: Task, names: Sequence[str]) -> CallMade:
    """The tool for a task by the end of its name; a search for it if it is not offered."""
    name = next((name for name in names if re.fullmatch(rf"(.*__)?{task.tool}", name)), None)
    if name is None and SEARCH in names:
        return builder.call("", SEARCH, {"query": f"{task.tool} two numbers"})
    return builder.call("", name or task.tool, {"a": _number(task.a), "b": _number(task.b)})


def _plan(tasks: Sequence[Task], request: CompletionRequest) -> str:
    """The JSON of a workflow that calls the tools one after another, or of a refusal."""
    names = re.findall(r'<tool name="([^"]+)">', request.system)
    found = {task.tool: name for task in tasks for name in names if name.rpartition("__")[2] == task.tool}
    if not tasks or "workflow" not in table(table(request.answer_schema).get("properties")):
        return json.dumps({"refusal": f"{HELP} I can only plan new workflows."})
    if any(task.tool not in found for task in tasks):
        return json.dumps({"refusal": "No tool can add or divide numbers. Add the demo server."})
    nodes = [_planned(number, task, found[task.tool]) for number, task in enumerate(tasks, 1)]
    ids = [node["id"] for node in nodes]
    edges = [{"from": one, "to": other, "output": "next"} for one, other in pairwise(ids)]
    outputs = {name: f"{{{{{name}.text}}}}" for name in ids}
    plan = {"name": "demo", "nodes": nodes, "edges": edges, "outputs": outputs}
    return json.dumps({"workflow": plan})


def _planned(number: int, task: Task, tool: str) -> dict[str, Any]:
    settings = {"tool": tool, "arguments": {"a": _number(task.a), "b": _number(task.b)}}
    return {"id": f"{task.tool}_{number}", "type": "McpToolCall", "name": task.said, "settings": settings}


def _number(text: str) -> float:
    return float(text) if "." in text else int(text)


def _answer(tasks: Sequence[Task], answers: Sequence[ToolAnswer]) -> str:
    if not tasks:
        return HELP
    if not answers:
        return "There are no tools here that I could use for that."
    return " ".join(_sentence(task, answer) for task, answer in zip(tasks, answers, strict=False))


def _sentence(task: Task, answer: ToolAnswer) -> str:
    text = _MARKS.sub("", answer.text).strip()
    if answer.failed:
        return f"I could not compute {task.said}: {text}"
    return f"{task.said} is {text}."


def _usage(request: CompletionRequest, message: FromModel) -> Usage:
    sent = sum(len(str(earlier)) for earlier in request.messages) + len(request.system)
    return Usage(input=sent // 4, output=len(str(message)) // 4, requests=1)
