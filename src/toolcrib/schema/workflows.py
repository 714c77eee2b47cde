"""A workflow as data: the JSON file that is edited, stored, planned and run. Has the defaults and bounds of
inputs, retries, timeouts, checks and run options, and the states of runs and steps.

Values in settings may refer to other nodes: `"{{find.count}}"` is the value itself, with its type, and
`"{{find.count}} found"` is text. The roots are node ids, `input`, and `item` and `index` inside a map.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

FORMAT: Literal[1] = 1
"""The version of the file format."""
NEXT = "next"
"""The output of a node that was successful, if it has only one."""
ERROR = "error"
"""The output of every node that failed. Without an edge from it, the run fails."""
RESERVED = frozenset({"input", "item", "index", "run", "event"})
"""Names that references use; no node may have one as its id."""

NodeId = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,63}$")]
WorkflowName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_-]{0,63}$")]
ParameterType = Literal["string", "number", "integer", "boolean", "array", "object"]
CheckType = Literal["text_present", "text_absent", "image_found", "window_title", "condition"]
TraceLevel = Literal["full", "minimal", "off"]


class WorkflowPart(BaseModel):
    """A part of the file; unknown keys are errors, so that a misspelt one is noticed."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", populate_by_name=True, use_attribute_docstrings=True
    )


class Parameter(WorkflowPart):
    """An input of the workflow."""

    type: ParameterType = "string"
    description: str = ""
    required: bool = True
    """An input that is not required and has no default is null."""
    default: Any = None
    choices: tuple[Any, ...] = ()
    secret: bool = False
    """Stored encrypted; masked in traces, logs and the page."""


class Retry(WorkflowPart):
    """How a failed node is tried again, with growing pauses."""

    attempts: int = Field(default=3, ge=1, le=20)
    """In total, with the first."""
    delay: float = Field(default=1.0, ge=0, le=3600)
    """Seconds before the second attempt."""
    factor: float = Field(default=2.0, ge=1, le=10)
    """Each pause is this many times the one before."""
    longest: float = Field(default=300.0, ge=0, le=86_400)


class Check(WorkflowPart):
    """What must hold after a node or after the run."""

    type: CheckType
    value: Any = None
    """The text, the image (base64), the title (glob), or the condition."""
    app_name: str | None = None
    on_fail: Literal["fail", "warn"] = "fail"


class Edge(WorkflowPart):
    """Leads from an output of one node to another node."""

    source: NodeId = Field(alias="from")
    target: NodeId = Field(alias="to")
    output: str = NEXT


class Node(WorkflowPart):
    """One step. `settings` belong to its type: see `toolcrib.features.workflows.nodes`."""

    type: str
    name: str = ""
    """Shown to users; the id if empty."""
    settings: dict[str, Any] = Field(default_factory=dict)
    enabled: bool = True
    """A disabled node is passed by its default output."""
    timeout: float | None = Field(default=None, gt=0, le=604_800)
    """Seconds for one attempt; None for the default of its type."""
    retry: Retry | None = None
    settle: float = Field(default=0, ge=0, le=600)
    """Seconds to wait after it, for programs that need time to react."""
    checks: tuple[Check, ...] = ()
    trace: TraceLevel = "full"
    position: tuple[float, float] | None = None
    """Where the canvas draws it."""


class Trigger(WorkflowPart):
    """What starts the workflow by itself; a trigger is inactive until the user turns it on."""

    type: Literal["schedule", "webhook", "folder"]
    settings: dict[str, Any] = Field(default_factory=dict)
    """schedule: cron, timezone; webhook: path, signature; folder: path, pattern."""
    input: dict[str, Any] = Field(default_factory=dict)
    """Values of the workflow's inputs; may refer to `{{event.…}}`."""


class RunOptions(WorkflowPart):
    """How runs of this workflow behave."""

    desktop: str = "desktop"
    """The server of the desktop nodes: a registered server, a command line, or a program's path."""
    model: str | None = None
    """The model of AI steps; None for the default."""
    timeout: float | None = Field(default=None, gt=0, le=2_592_000)
    """Seconds for the whole run."""
    concurrency: int | None = Field(default=None, ge=1, le=1000)
    """How many runs of this workflow may be active at once, over all workers."""
    most_steps: int = Field(default=10_000, ge=1, le=1_000_000)
    """A run that takes more steps fails: its loops do not end."""
    question_deadline: float | None = Field(default=None, gt=0, le=31_536_000)
    """Seconds to wait for an approval; None for no limit."""
    tool: bool = False
    """Offered as a tool to agents and to clients of the gateway."""


class Workflow(WorkflowPart):
    """A whole workflow."""

    format: Literal[1] = FORMAT
    name: WorkflowName
    description: str = ""
    inputs: dict[NodeId, Parameter] = Field(default_factory=dict)
    nodes: dict[NodeId, Node] = Field(default_factory=dict)
    edges: tuple[Edge, ...] = ()
    outputs: dict[NodeId, Any] = Field(default_factory=dict)
    """The result of a run: names and values, which may be references."""
    checks: tuple[Check, ...] = ()
    options: RunOptions = RunOptions()
    triggers: tuple[Trigger, ...] = ()


@dataclass(frozen=True, kw_only=True)
class WorkflowProblem:
    """Why a workflow cannot run."""

    node: str | None
    """The id of the node; None for the workflow as a whole."""
    message: str
    hint: str = ""
    warning: bool = False
    """The workflow can run all the same."""


RunState = Literal["queued", "running", "paused", "waiting", "finished", "failed", "cancelled"]
"""`waiting`: for an answer of the user. `finished`, `failed` and `cancelled` are final."""
StepState = Literal["running", "waiting", "retrying", "done", "failed", "skipped", "cancelled", "uncertain"]
"""`uncertain`: it was under way when its worker stopped, and may have happened."""
