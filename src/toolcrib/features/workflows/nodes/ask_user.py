"""AskUser: asks the user and waits for the answer: text, buttons, fields to fill in, deadline."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from toolcrib.graph.node_settings import NodeResult, NodeSettings, rare
from toolcrib.graph.node_type import (
    NodeContext,
    NodeQuestion,
    NodeType,
    Refinement,
    Surroundings,
)


class AskUserSettings(NodeSettings):
    message: str = Field(min_length=1, max_length=10_000, title="Question", description="What you are asked.")
    choices: list[str] = Field(
        default_factory=lambda: ["Approve", "Reject"],
        min_length=1,
        max_length=20,
        title="Buttons",
        description="One per line. Later steps find the chosen one as `choice`.",
    )
    fields: dict[str, dict[str, Any]] = Field(
        default_factory=dict, title="Values to fill in", description="Names, each with its JSON Schema."
    )
    shown: dict[str, Any] = Field(
        default_factory=dict, title="Values to show", description="They stand below the question."
    )
    picture: str | None = rare(
        default=None,
        title="Picture to show",
        description="A picture of an earlier step, such as {{shot.picture}}.",
    )
    deadline: float | None = Field(
        default=None,
        gt=0,
        le=31_536_000,
        title="Wait at most",
        description="Seconds. Then the step fails. Leave empty to wait without a limit.",
    )


class AskUserResult(NodeResult):
    choice: str = Field(description="The chosen button.")
    values: dict[str, Any] = Field(default_factory=dict, description="The values that were filled in.")
    comment: str = Field(default="", description="A note by the user.")


async def run(settings: AskUserSettings, context: NodeContext) -> AskUserResult:
    question = NodeQuestion(
        text=settings.message,
        choices=tuple(settings.choices),
        fields=settings.fields,
        shown=settings.shown,
        picture=settings.picture,
        deadline=settings.deadline,
    )
    answer = await context.ask_user(question)
    return AskUserResult(choice=answer.choice, values=dict(answer.values), comment=answer.comment)


def refine(settings: AskUserSettings, surroundings: Surroundings) -> Refinement:
    """The values have the types of their fields."""
    if not isinstance(settings.fields, dict) or not settings.fields:
        return Refinement()
    values = {"type": "object", "properties": settings.fields, "additionalProperties": False}
    whole = AskUserResult.model_json_schema()
    return Refinement(result={**whole, "properties": {**whole["properties"], "values": values}})


NODE = NodeType(
    name="AskUser",
    title="Ask the user",
    group="user",
    about="Asks you to choose or to fill in values, and waits for your answer, also across a restart.",
    settings=AskUserSettings,
    example={"message": "Send {{draft.text}}?", "choices": ["Send", "Discard"], "deadline": 86400},
    result=AskUserResult,
    run=run,
    refine=refine,
    timeout=None,
)
