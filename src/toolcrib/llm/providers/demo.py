"""A scripted model to try everything without an account: `demo`. Has the requests that it understands (sums,
products, quotients, the time, reading, writing and listing files, listing its tools), and its answers.

It calls real tools for what it finds in the question, several at once, and answers with their results. It
sends nothing anywhere.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from toolcrib.llm.context import ModelContext, ModelVendor
from toolcrib.llm.json_values import table
from toolcrib.llm.model import CompletionRequest, ModelEvent, ModelTraits, TextDelta
from toolcrib.llm.stream_reader import AnswerBuilder
from toolcrib.schema.messages import FromModel, FromTools, FromUser, Message, ToolAnswer, Usage

VENDOR = ModelVendor(name="demo", title="Demo")
_NUMBER = r"-?\d+(?:\.\d+)?"
_SIGNS = {
    **dict.fromkeys(("+", "plus"), "add"),
    **dict.fromkeys(("-", "−", "minus"), "subtract"),
    **dict.fromkeys(("*", "×", "x", "times", "multiplied by"), "multiply"),
    **dict.fromkeys(("/", "÷", "divided by", "over"), "divide"),
}
_VERBS = {"add": "add", "sum of": "add", "multiply": "multiply", "product of": "multiply", "divide": "divide"}
_SAID = {"add": "plus", "subtract": "minus", "multiply": "times", "divide": "divided by"}
_WORDS = "|".join(re.escape(sign) for sign in _SIGNS if sign != "-")
_SUM = re.compile(
    rf"(?:\b({'|'.join(_VERBS)})\s+)?(?<![\w.])({_NUMBER})"
    rf"\s*((?<=\s)-(?=\s)|{_WORDS}|and|by|to)\s*({_NUMBER})",
    re.IGNORECASE,
)
_FILE = r"(?P<file>[\w-][\w./-]*\.\w+)"
_QUOTED = r"[\"“'‘](?P<text>[^\"”]+?)[\"”'’]"
_RESULTS = r"(?:it|this|that|them|the (?:results?|answers?))"
_PATTERNS = {
    "time": r"what(?:'s|’s| is) the (?:time|date)|what time|(?:what|which) day|\bcurrent time",
    "write": rf"\b(?:write|save|store|put)\s+{_QUOTED}\s+(?:in|to|into|as)\s+{_FILE}",
    "keep": rf"\b(?:write|save|store|put)\s+{_RESULTS}\s+(?:in|to|into|as)\s+{_FILE}",
    "read": rf"(?:\b(?:read|open|show)\s+(?:me\s+)?|what(?:'s|’s| is) in ){_FILE}",
    "list": r"\bin (?:this|the|my|your) folder|\blist (?:the |my |your )?files|\b(?:which|what) files",
    "tools": r"\b(?:which|what|list) (?:\w+ )?tools|\bwhat can you do",
}
_MARKS = re.compile(r"</?tool_result[^>]*>")
SEARCH = "search_tools"
HELP = (
    "I am the demo model: a script, not an AI, but the tools that I call are real. Try one of these:\n\n"
    "* What is 6 × 7, and what is 1 divided by 7?\n"
    "* Save “hello” to note.txt (you are asked first)\n"
    "* What time is it?\n"
    "* Which tools do you have?"
)


@dataclass(frozen=True)
class Task:
    """One call that a question needs."""

    tool: str
    """Its own name, without the server's."""
    arguments: Mapping[str, Any]
    doing: str
    """What the call does: "compute 1 plus 2"."""
    found: str = "{result}"
    """The sentence with its result."""
    needs_results: bool = False
    """Writes the results of the others."""
    read: Callable[[str], str] = str
    """From the text of the result to what the sentence says."""


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
        calls = list(_next_calls(tasks, answers, names))
        if request.answer_schema is not None:
            builder.say(_plan(tasks, request))
        elif calls:
            for name, arguments in calls:
                yield builder.call("", name, arguments)
        else:
            for word in re.findall(r"\s*\S+\s*", _answer(question, tasks, answers, names)):
                builder.say(word)
                yield TextDelta(word)
        finished = builder.finish()
        yield replace(finished, usage=_usage(request, finished.message))


def read_tasks(question: str) -> list[Task]:
    """What the question asks for, in its order; saving results comes last."""
    found = [*_sums(question), *_others(question)]
    tasks = [task for _, task in sorted(found, key=lambda hit: hit[0])]
    return sorted(tasks, key=lambda task: task.needs_results)


def _sums(question: str) -> Iterator[tuple[int, Task]]:
    for match in _SUM.finditer(question):
        verb, a, sign, b = match.groups()
        kind = _SIGNS.get(sign.lower()) or _VERBS.get((verb or "").lower())
        if kind:
            said = f"{a} {_SAID[kind]} {b}"
            tool, second = ("add", -_number(b)) if kind == "subtract" else (kind, _number(b))
            arguments = {"a": _number(a), "b": second}
            yield match.start(), Task(tool, arguments, f"compute {said}", f"{said} is {{result}}.")


def _others(question: str) -> Iterator[tuple[int, Task]]:
    for kind, pattern in _PATTERNS.items():
        for match in re.finditer(pattern, question, re.IGNORECASE):
            if task := _task(kind, match.groupdict()):
                yield match.start(), task


def _task(kind: str, given: Mapping[str, str | None]) -> Task | None:
    file = given.get("file")
    match kind:
        case "time":
            return Task("current_time", {}, "look at the clock", "It is {result}.")
        case "write":
            return Task("write_file", {"path": file, "content": f"{given['text']}\n"}, f"write {file}")
        case "keep":
            return Task("write_file", {"path": file}, f"write {file}", needs_results=True)
        case "read":
            return Task("read_file", {"path": file}, f"read {file}", f"{file} says:\n\n{{result}}")
        case "list":
            return Task("list_directory", {"path": "."}, "list the folder", read=_entries)
    return None


def _since_question(messages: Sequence[Message]) -> tuple[str, list[ToolAnswer]]:
    answers: list[ToolAnswer] = []
    for message in reversed(messages):
        if isinstance(message, FromUser):
            return message.text, answers
        if isinstance(message, FromTools):
            answers = [*message.answers, *answers]
    return "", answers


def _offered(tools: Sequence[Mapping[str, Any]]) -> list[str]:
    """Names of the tools, those of servers first: they are in every chat."""
    names = [str(tool.get("function", {}).get("name", "")) for tool in tools]
    return sorted(names, key=lambda name: "__" not in name)


def _next_calls(
    tasks: Sequence[Task], answers: Sequence[ToolAnswer], names: Sequence[str]
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The calls of tasks without an answer; a search for tools that are not offered, once."""
    answered = _answered(tasks, answers)
    waiting = [task for task, answer in answered if answer is None]
    first = [task for task in waiting if not task.needs_results]
    searched = any(answer.name == SEARCH for answer in answers)
    for task in first or waiting:
        name = next((name for name in names if _fits(name, task.tool)), None)
        if name is not None:
            yield name, _arguments(task, answered)
        elif SEARCH in names and not searched:
            yield SEARCH, {"query": task.tool.replace("_", " ")}


def _arguments(task: Task, answered: Sequence[tuple[Task, ToolAnswer | None]]) -> Mapping[str, Any]:
    if not task.needs_results:
        return task.arguments
    results = [_sentence(other, answer) for other, answer in answered if answer and not other.needs_results]
    return {**task.arguments, "content": "\n".join(results) + "\n"}


def _answered(tasks: Sequence[Task], answers: Sequence[ToolAnswer]) -> list[tuple[Task, ToolAnswer | None]]:
    """Each task with its answer: those of one tool come in the order of its calls."""
    left = list(answers)
    pairs: list[tuple[Task, ToolAnswer | None]] = []
    for task in tasks:
        answer = next((answer for answer in left if _fits(answer.name, task.tool)), None)
        if answer is not None:
            left.remove(answer)
        pairs.append((task, answer))
    return pairs


def _fits(name: str, tool: str) -> bool:
    return name == tool or name.endswith(f"__{tool}")


def _plan(tasks: Sequence[Task], request: CompletionRequest) -> str:
    """The JSON of a workflow that calls the tools one after another, or of a refusal."""
    names = re.findall(r'<tool name="([^"]+)">', request.system)
    found = {task.tool: name for task in tasks for name in names if _fits(name, task.tool)}
    if not tasks or "workflow" not in table(table(request.answer_schema).get("properties")):
        return json.dumps({"refusal": f"{HELP}\n\nI can only plan new workflows."})
    if any(task.tool not in found for task in tasks):
        return json.dumps({"refusal": "No tool here can do that. Add the demo and filesystem servers."})
    ids = [f"{task.tool}_{number}" for number, task in enumerate(tasks, 1)]
    nodes = [_planned(task, found[task.tool], ids[: number + 1]) for number, task in enumerate(tasks)]
    edges = [{"from": one, "to": other, "output": "next"} for one, other in pairwise(ids)]
    outputs = {name: f"{{{{{name}.text}}}}" for name in ids}
    plan = {"name": "demo", "nodes": nodes, "edges": edges, "outputs": outputs}
    return json.dumps({"workflow": plan})


def _planned(task: Task, tool: str, ids: Sequence[str]) -> dict[str, Any]:
    """The node of a task; its id is the last of `ids`, the others are those of the nodes before it."""
    results = "\n".join(f"{{{{{name}.text}}}}" for name in ids[:-1])
    arguments = {**task.arguments, **({"content": results} if task.needs_results else {})}
    name = task.doing[:1].upper() + task.doing[1:]
    settings = {"tool": tool, "arguments": arguments}
    return {"id": ids[-1], "type": "McpToolCall", "name": name, "settings": settings}


def _number(text: str) -> float:
    return float(text) if "." in text else int(text)


def _answer(question: str, tasks: Sequence[Task], answers: Sequence[ToolAnswer], names: Sequence[str]) -> str:
    parts = [_sentence(task, answer) for task, answer in _answered(tasks, answers)]
    if re.search(_PATTERNS["tools"], question, re.IGNORECASE):
        parts.append(_tools(names))
    if not parts:
        return HELP
    return ("\n\n" if any("\n" in part for part in parts) else " ").join(parts)


def _sentence(task: Task, answer: ToolAnswer | None) -> str:
    if answer is None:
        return f"There is no tool here to {task.doing}."
    text = _MARKS.sub("", answer.text).strip()
    if answer.outcome == "denied":
        return f"I was not allowed to {task.doing}, so I left it. Ask again if you want it after all."
    if answer.failed:
        return f"I could not {task.doing}: {text}"
    return task.found.format(result=task.read(text))


def _entries(listing: str) -> str:
    """The entries of `filesystem__list_directory`, as a list; others as they are."""
    try:
        entries = [f"* {entry['name']}" for entry in json.loads(listing)["entries"]]
    except (ValueError, LookupError, TypeError):
        return listing
    return "\n".join(["The folder has:", "", *entries]) if entries else "The folder is empty."


def _tools(names: Sequence[str]) -> str:
    """The offered tools by server, as a list; those of the chat itself last."""
    servers: dict[str, list[str]] = {}
    for name in names:
        server, _, tool = name.rpartition("__")
        servers.setdefault(server or "this chat", []).append(f"`{tool}`")
    lines = [f"* **{server}**: {', '.join(tools)}" for server, tools in servers.items()]
    return "\n".join(["I was offered these tools for your question:", "", *lines])


def _usage(request: CompletionRequest, message: FromModel) -> Usage:
    sent = sum(len(str(earlier)) for earlier in request.messages) + len(request.system)
    return Usage(input=sent // 4, output=len(str(message)) // 4, requests=1)
