"""The Berkeley Function-Calling Leaderboard's multi-turn entries as tools and questions, installed once.

Its classes (a file system, a travel agency, …) keep state; each entry has questions and the calls that answer
them. The package wants much that its classes do not need, so it is put into a folder of its own, alone.
"""

from __future__ import annotations

import ast
import copy
import importlib
import inspect
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toolcrib.serverkit.functions import FunctionTool
from toolcrib.tools.sources.inline import InlineServer

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / ".cache" / "bfcl"
PINS = Path(__file__).with_name("requirements.txt")
CATEGORIES = ("base", "miss_func", "miss_param", "long_context")
_SOURCES = "bfcl_eval.eval_checker.multi_turn_eval.func_source_code"
_MODULES = {
    "GorillaFileSystem": "gorilla_file_system",
    "MathAPI": "math_api",
    "MessageAPI": "message_api",
    "TwitterAPI": "posting_api",
    "TicketAPI": "ticket_api",
    "TradingBot": "trading_bot",
    "TravelAPI": "travel_booking",
    "VehicleControlAPI": "vehicle_control",
}
_STATELESS = {"MathAPI"}
_TYPES = {"dict": "object", "float": "number", "tuple": "array", "any": None}
Instances = dict[str, Any]


@dataclass(frozen=True)
class Call:
    """One call of an entry's solution."""

    tool: str
    arguments: dict[str, Any]


@dataclass(frozen=True)
class Entry:
    """Questions, and the calls that answer each."""

    id: str
    questions: tuple[str, ...]
    solution: tuple[tuple[str, ...], ...]
    classes: tuple[str, ...]
    config: Mapping[str, Any]

    def begin(self) -> Instances:
        """The classes in their first state."""
        made = {}
        for name in self.classes:
            made[name] = _class(name)()
            if name not in _STATELESS:
                config = copy.deepcopy(self.config.get(name, {}))
                made[name]._load_scenario(config, long_context="long_context" in self.id)
        return made

    def calls(self, turn: int) -> list[Call]:
        """The solution of one question, as tools are called."""
        return [_read_call(text, self.classes) for text in self.solution[turn]]


def install() -> None:
    """Put the package in place where it is not yet."""
    stamp = FOLDER / ".pins"
    if not stamp.exists() or stamp.read_text() != PINS.read_text():
        target = ("--target", str(FOLDER), "--no-deps", "--require-hashes", "-r", str(PINS))
        uv = Path(sys.executable).with_name("uv")
        subprocess.run([uv, "pip", "install", "--quiet", "--python", sys.executable, *target], check=True)
        stamp.write_text(PINS.read_text())
    if str(FOLDER) not in sys.path:
        sys.path.append(str(FOLDER))


def entries(category: str) -> Iterator[Entry]:
    """All entries of a category."""
    data = FOLDER / "bfcl_eval" / "data"
    name = f"BFCL_v4_multi_turn_{category}.json"
    asked, solved = _lines(data / name), _lines(data / "possible_answer" / name)
    for question, answer in zip(asked, solved, strict=True):
        assert question["id"] == answer["id"]
        yield Entry(
            id=question["id"],
            questions=tuple(_text(turn) for turn in question["question"]),
            solution=tuple(tuple(turn) for turn in answer["ground_truth"]),
            classes=tuple(question["involved_classes"]),
            config=question["initial_config"],
        )


def servers(world: Instances) -> list[InlineServer]:
    """One server a class; its tools work on whatever `world` holds at the time, as documented."""
    made = []
    for name, module in _MODULES.items():
        server = InlineServer(module)
        for document in _lines(FOLDER / "bfcl_eval" / "data" / "multi_turn_func_doc" / f"{module}.json"):
            server.add(_tool(world, name, document))
        made.append(server)
    return made


def told(value: Any) -> str:
    """A result as the package tells it to models."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        try:
            return json.dumps(value)
        except TypeError:
            return str(value)
    return str(value)


def public_state(instance: Any) -> dict[str, Any]:
    """What the package compares."""
    return {key: value for key, value in vars(instance).items() if not key.startswith("_")}


class _Given:
    """Arguments that the door has checked against the schema already."""

    context_name = None

    def __init__(self, schema: dict[str, Any]) -> None:
        self.schema = schema

    def check(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        return dict(arguments)


def _tool(world: Instances, name: str, document: dict[str, Any]) -> FunctionTool:
    def run(**arguments: Any) -> str:
        return told(getattr(world[name], document["name"])(**arguments))

    schema = _schema(document["parameters"])
    definition = {"name": document["name"], "description": document["description"], "inputSchema": schema}
    return FunctionTool(document["name"], definition, run, _Given(schema), quick=True)  # type: ignore[arg-type]


def _schema(node: Any) -> Any:
    """The package writes Python's names of types."""
    if isinstance(node, list):
        return [_schema(one) for one in node]
    if not isinstance(node, dict):
        return node
    made = {key: _schema(value) for key, value in node.items() if key != "default"}
    if isinstance(made.get("type"), str):
        kind = _TYPES.get(made["type"], made["type"])
        made = {**made, "type": kind} if kind else {key: made[key] for key in made if key != "type"}
    return made


def _read_call(text: str, classes: tuple[str, ...]) -> Call:
    node = ast.parse(text, mode="eval").body
    assert isinstance(node, ast.Call), text
    assert isinstance(node.func, ast.Name), text
    owner = next(name for name in classes if hasattr(_class(name), node.func.id))
    names = list(inspect.signature(getattr(_class(owner), node.func.id)).parameters)[1:]
    arguments = {name: ast.literal_eval(value) for name, value in zip(names, node.args, strict=False)}
    arguments |= {str(one.arg): ast.literal_eval(one.value) for one in node.keywords}
    # What JSON makes of it: a tuple is a list there.
    return Call(f"{_MODULES[owner]}__{node.func.id}", json.loads(json.dumps(arguments)))


def _class(name: str) -> Any:
    return getattr(importlib.import_module(f"{_SOURCES}.{_MODULES[name]}"), name)


def _lines(file: Path) -> list[Any]:
    return [json.loads(line) for line in file.read_text().splitlines() if line.strip()]


def _text(turn: list[dict[str, str]]) -> str:
    return "\n".join(message["content"] for message in turn) or "(go on)"
