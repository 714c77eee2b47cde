"""What a node type declares (`features/workflows/nodes/<name>.py` has one `NODE` of this class): title,
group, settings, outputs, default timeout of a step, default buttons of a question.

A node reaches tools, models and users only through its `NodeContext`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any, Generic, Literal, Protocol, TypeVar

from pydantic import BaseModel

from toolcrib.errors import NotFound, UsageError
from toolcrib.graph.node_settings import NodeSettings
from toolcrib.schema.tools import Tool, ToolResult
from toolcrib.schema.workflows import NEXT, Workflow

S = TypeVar("S", bound=NodeSettings)
O = TypeVar("O", bound=BaseModel)  # noqa: E741

Group = Literal["desktop", "tools", "ai", "control", "user", "data"]
Flow = Literal["step", "branch", "loop", "map", "end"]
"""`step` runs; `branch` chooses an output; `loop` repeats its body; `map` runs it for each item of a list;
`end` closes the body of a loop or map."""
JsonSchema = Mapping[str, Any]


class UnknownNodeType(NotFound):
    kind = "unknown_node_type"


class NotAToolNode(UsageError):
    """The node does not stand for one tool call."""

    kind = "not_a_tool_node"


@dataclass(frozen=True, kw_only=True)
class NodeCall:
    """A tool call that a node stands for."""

    tool: str
    """A public name, or the bare name of a desktop tool."""
    arguments: Mapping[str, Any]
    desktop: bool = False
    """The tool of whichever server the workflow uses for the desktop."""


@dataclass(frozen=True, kw_only=True)
class NodeQuestion:
    """What a run asks its user; it waits for the answer, also over a restart."""

    text: str
    choices: tuple[str, ...] = ("Approve", "Reject")
    fields: Mapping[str, Any] = field(default_factory=dict)
    """JSON Schema properties of values to fill in."""
    shown: Mapping[str, Any] = field(default_factory=dict)
    """Values to look at."""
    picture: str | None = None
    """The id of an artifact."""
    deadline: float | None = None
    """Seconds; then the node fails."""


@dataclass(frozen=True, kw_only=True)
class UserAnswer:
    choice: str
    values: Mapping[str, Any] = field(default_factory=dict)
    comment: str = ""


@dataclass(frozen=True, kw_only=True)
class ModelTask:
    """What an AI step gives to a model."""

    prompt: str
    tools: Sequence[str] | None = None
    """Public names; None lets retrieval choose, empty offers none."""
    most_calls: int = 10
    pictures: Sequence[str] = ()
    """Ids of artifacts."""
    answer_schema: Mapping[str, Any] | None = None
    """JSON Schema of the answer; None for text."""


@dataclass(frozen=True, kw_only=True)
class ModelAnswer:
    text: str
    data: Any = None
    """The answer as the schema says."""
    calls: int = 0


class NodeContext(Protocol):
    """The world of one visit of a node."""

    @property
    def run(self) -> str:
        """The id of the run."""

    @property
    def step(self) -> str:
        """The id of this visit: the node's id, and `#2` and so on for later visits."""

    async def call(self, use: NodeCall) -> ToolResult:
        """Call a tool through the one function for all calls, with its approvals."""

    async def ask_model(self, task: ModelTask) -> ModelAnswer:
        """Let a model work with tools until it has an answer."""

    async def ask_user(self, question: NodeQuestion) -> UserAnswer:
        """Ask the user and wait, also over a restart."""

    async def wait_until(self, moment: datetime) -> None:
        """Wait, also over a restart: then the moment of the first call counts."""

    async def wait_for(self, seconds: float) -> None:
        """Wait, also over a restart; changes of the clock do not matter."""

    async def wait_for_event(self, name: str, deadline: float | None) -> Any:
        """Wait for an event sent to this run by name; its data."""

    async def run_workflow(self, name: str, inputs: Mapping[str, Any]) -> Mapping[str, Any]:
        """Run another workflow as part of this one; its outputs."""

    async def run_code(self, code: str, inputs: Mapping[str, Any], timeout: float | None) -> Any:
        """Run Python in a sandboxed process; what it returns."""

    def keep(self, data: bytes, media_type: str) -> str:
        """Store an artifact, such as a screenshot, with the trace; its id."""

    def note(self, kind: str, **facts: Any) -> None:
        """Add an event to the trace."""

    def now(self) -> datetime:
        """The current time."""


@dataclass(frozen=True, kw_only=True)
class Route:
    """What a branch or loop decided."""

    output: str
    reason: str
    """Why, for the trace."""
    value: Mapping[str, Any] = field(default_factory=dict)
    """The node's result from now on."""


class Surroundings(Protocol):
    """What validation knows beyond the file; everything is None if it is not known."""

    def tool(self, name: str) -> Tool | None: ...

    def workflow(self, name: str) -> Workflow | None: ...

    def schema_of(self, value: Any) -> JsonSchema:
        """The JSON Schema of a setting's value, with the types that its references lead to."""


@dataclass(frozen=True, kw_only=True)
class Refinement:
    """What a node's settings say about itself, more exactly than its type does."""

    result: JsonSchema | None = None
    """The JSON Schema of its result."""
    settings: Mapping[str, JsonSchema] = field(default_factory=dict)
    """More exact JSON Schemas of single settings."""


@dataclass(frozen=True, kw_only=True)
class NodeType(Generic[S, O]):
    """A kind of node."""

    name: str
    """As in the file, such as `TakeScreenshot`."""
    title: str
    """As the page shows it, such as "Take screenshot"."""
    group: Group
    about: str
    """One sentence for users and for the planner."""
    settings: type[S]
    example: Mapping[str, Any]
    """Settings as in a file, for the documentation and the planner."""
    result: type[O]
    """The fields that other nodes may refer to."""
    outputs: Callable[[S], tuple[str, ...]] = lambda settings: (NEXT,)
    """The names of its outputs besides `error`."""
    passed: Callable[[S], str] = lambda settings: NEXT
    """The output that is taken when the node is disabled."""
    run: Callable[[S, NodeContext], Awaitable[O]] | None = None
    """None for control nodes, which the walk decides without a step."""
    flow: Flow = "step"
    decide: Callable[[S, int], Route] | None = None
    """The output of a branch or loop; the number counts the bodies that the loop has completed."""
    closes: Callable[[S], str] | None = None
    """The id of the loop or map whose body an `end` closes."""
    refine: Callable[[S, Surroundings], Refinement] | None = None
    """More exact types, from the settings in the file."""
    use: Callable[[S], NodeCall] | None = None
    """The tool call that it stands for; raises `NotAToolNode` if these settings need several."""
    read: Callable[[NodeCall], S | None] | None = None
    """The settings that stand for this call; None if they cannot."""
    timeout: float | None = 120.0
    """Seconds for one attempt by default; None for no limit."""

    @cached_property
    def settings_schema(self) -> JsonSchema:
        """The JSON Schema of its settings; every setting without `x-fixed` may also be a reference."""
        return self.settings.model_json_schema()

    @cached_property
    def result_schema(self) -> JsonSchema:
        return self.result.model_json_schema(mode="serialization")


AnyNodeType = NodeType[Any, Any]
FindType = Callable[[str], AnyNodeType]
"""The node type of a name; raises `UnknownNodeType`."""
