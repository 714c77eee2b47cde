"""AiStep: lets a model work with tools until it has an answer: the form, default and most tool calls,
pictures, schema of the answer.
"""

from __future__ import annotations

import base64
import binascii
from typing import Any

from pydantic import Field

from toolcrib.errors import UsageError
from toolcrib.features.workflows.nodes.mcp_tool_call import with_data
from toolcrib.graph.node_settings import NodeResult, NodeSettings, rare
from toolcrib.graph.node_type import ModelTask, NodeContext, NodeType, Refinement, Surroundings


class AiStepSettings(NodeSettings):
    prompt: str = Field(
        min_length=1, max_length=100_000, title="Task", description="What the model has to do."
    )
    allowed_tools: list[str] | None = Field(
        default=None,
        max_length=200,
        title="Tools it may use",
        description="One name per line. Leave empty to let Toolcrib choose.",
    )
    max_tool_calls: int = Field(
        default=10, ge=0, le=200, title="At most", description="Tool calls; 0 for an answer without tools."
    )
    answer_schema: dict[str, Any] | None = Field(
        default=None,
        title="Form of the answer",
        description="A JSON Schema. Leave empty for an answer as text.",
    )
    pictures: list[str | None] = rare(
        default_factory=list,
        max_length=20,
        title="Pictures to look at",
        description="Pictures of earlier steps, one per line, such as {{shot.picture}}.",
    )
    button_text: str | None = rare(
        default=None,
        max_length=1000,
        title="Button or link",
        description="The text of the element that the task is about.",
    )
    template_image: str | None = rare(
        default=None,
        max_length=4_000_000,
        title="Picture of the element",
        description="What to look for on the screen, in base64.",
    )


class AiStepResult(NodeResult):
    text: str = Field(description="The answer.")
    data: Any = Field(default=None, description="The answer in the form of the answer schema.")
    calls: int = Field(default=0, description="The number of tool calls.")


async def run(settings: AiStepSettings, context: NodeContext) -> AiStepResult:
    pictures = [picture for picture in settings.pictures if picture]
    if settings.template_image is not None:
        pictures.append(context.keep(_decoded(settings.template_image), "image/png"))
    task = ModelTask(
        prompt=_prompt(settings),
        tools=settings.allowed_tools,
        most_calls=settings.max_tool_calls,
        pictures=pictures,
        answer_schema=settings.answer_schema,
    )
    answer = await context.ask_model(task)
    return AiStepResult(text=answer.text, data=answer.data, calls=answer.calls)


def refine(settings: AiStepSettings, surroundings: Surroundings) -> Refinement:
    for name in settings.allowed_tools if isinstance(settings.allowed_tools, list) else ():
        surroundings.tool(name)
    schema = settings.answer_schema
    return Refinement(result=with_data(AiStepResult, schema) if isinstance(schema, dict) else None)


def _prompt(settings: AiStepSettings) -> str:
    if settings.button_text is None:
        return settings.prompt
    return f"{settings.prompt}\n\nIt is about the element with the text: {settings.button_text}"


def _decoded(picture: str) -> bytes:
    try:
        return base64.b64decode(picture, validate=True)
    except (binascii.Error, ValueError):
        raise UsageError(
            "The template image is not valid base64.", hint="Choose the picture again."
        ) from None


NODE = NodeType(
    name="AiStep",
    title="AI step",
    group="ai",
    about="Lets a model work on a task with tools until it has an answer.",
    settings=AiStepSettings,
    example={"prompt": "Summarise in one sentence: {{page.text}}", "max_tool_calls": 0},
    result=AiStepResult,
    run=run,
    refine=refine,
    timeout=600.0,
)
