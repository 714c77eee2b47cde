"""Why a workflow is not valid: all reasons, each with its node, up to a limit; words for wrong settings and
ids.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from toolcrib.errors import UsageError
from toolcrib.schema.json_values import to_json
from toolcrib.schema.mistakes import hint_for, sentence, spell
from toolcrib.schema.value_types import Schema
from toolcrib.schema.workflows import Workflow, WorkflowProblem

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

MOST_PROBLEMS = 200
"""More are not reported; no one reads them."""


class InvalidWorkflow(UsageError):
    """The workflow cannot run; `problems` has all reasons."""

    kind = "invalid_workflow"

    def __init__(self, problems: Sequence[WorkflowProblem], *, name: str = "") -> None:
        first = problems[0]
        what = f"The workflow {name} is not valid" if name else "The workflow is not valid"
        more = f" ({len(problems) - 1} more)" if len(problems) > 1 else ""
        where = f"{first.node}: " if first.node else ""
        super().__init__(f"{what}: {where}{first.message}{more}", hint=first.hint)
        self.problems = tuple(problems)

    def as_json(self) -> dict[str, Any]:
        return {**super().as_json(), "problems": to_json(self.problems)}


class InvalidSettings(UsageError):
    """The values of a node or check do not fit its settings."""

    kind = "invalid_settings"

    def __init__(self, what: str, error: ValidationError) -> None:
        message = " ".join(problem.message for problem in settings_problems(what, error))
        super().__init__(f"{what}: {message}", hint="Correct its settings, or what their references lead to.")


def file_problems(error: ValidationError) -> Iterator[WorkflowProblem]:
    """The problems of a file that does not have the form of a workflow."""
    for detail in _details(error):
        place = detail["loc"]
        in_node = len(place) > 1 and place[0] == "nodes"
        yield WorkflowProblem(
            node=str(place[1])[:100] if in_node else None,
            message=_sentence(place[2:] if in_node else place, detail),
            hint=hint_for(detail, _file_schema()),
        )


def settings_problems(
    node: str, error: ValidationError, schema: Schema | None = None
) -> Iterator[WorkflowProblem]:
    """The problems of a node's settings; with their schema, misspelt names and values get a hint."""
    for detail in _details(error):
        hint = hint_for(detail, schema) if schema is not None else ""
        yield WorkflowProblem(node=node, message=_sentence(detail["loc"], detail), hint=hint)


def _details(error: ValidationError) -> list[ErrorDetails]:
    return error.errors(include_url=False)[:MOST_PROBLEMS]


@cache
def _file_schema() -> Schema:
    return Workflow.model_json_schema()


def _sentence(place: Sequence[str | int], detail: ErrorDetails) -> str:
    if "[key]" in place:
        name = f"The name {str(place[-2])[:100]!r} in {spell(place[:-2])}" if len(place) > 1 else "The id"
        return f"{name} must start with a letter and have only a-z, 0-9 and _, at most 64."
    return sentence(place, detail)
