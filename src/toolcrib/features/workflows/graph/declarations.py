"""Checks what a workflow declares besides its graph: inputs, checks and the values that triggers give; with
the messages about them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from pydantic import ValidationError

from toolcrib.features.workflows.checks import read_check
from toolcrib.graph.problems import settings_problems
from toolcrib.graph.references import BadReference, parse, references_in
from toolcrib.schema.value_types import type_of
from toolcrib.schema.workflows import Check, Trigger, Workflow, WorkflowProblem
from toolcrib.suggestions import did_you_mean


def declaration_problems(workflow: Workflow) -> Iterator[WorkflowProblem]:
    yield from _of_inputs(workflow)
    for trigger in workflow.triggers:
        yield from trigger_input_problems(workflow, trigger)
    for id_, node in workflow.nodes.items():
        yield from _of_checks(node.checks, id_)
    yield from _of_checks(workflow.checks, None)


def _of_inputs(workflow: Workflow) -> Iterator[WorkflowProblem]:
    for name, parameter in workflow.inputs.items():
        for value in (parameter.default, *parameter.choices):
            if value is not None and not _has_type(value, parameter.type):
                message = f"The input {name} is declared as {parameter.type}, but {value!r} is not."
                yield WorkflowProblem(node=None, message=message[:300], hint="Change its type or its values.")
        if parameter.choices and parameter.default is not None and parameter.default not in parameter.choices:
            message = f"The default of the input {name} is not one of its choices."
            yield WorkflowProblem(node=None, message=message, hint="Add it to the choices.")
        if parameter.secret and parameter.default is not None:
            message = f"The input {name} is secret and has a default, which the file would show."
            yield WorkflowProblem(node=None, message=message, hint="Remove the default.")


def _has_type(value: Any, declared: str) -> bool:
    if declared != "integer":
        return type_of(value) == declared
    return type_of(value) == "number" and (isinstance(value, int) or value.is_integer())


def trigger_input_problems(workflow: Workflow, trigger: Trigger) -> Iterator[WorkflowProblem]:
    """What is wrong with the values that a trigger gives to the workflow's inputs."""
    for name in trigger.input:
        if name not in workflow.inputs:
            message = f"The {trigger.type} trigger sets {name!r}, which is no input."
            yield WorkflowProblem(node=None, message=message, hint=did_you_mean(name[:100], workflow.inputs))
    # A webhook that sends events starts no run.
    for name in workflow.inputs if not trigger.settings.get("send") else ():
        if name not in trigger.input and _is_needed(workflow, name):
            message = f"The {trigger.type} trigger does not set the input {name}."
            yield WorkflowProblem(
                node=None, message=message, hint="Set it in the trigger, or give it a default."
            )
    for _, text in references_in(trigger.input):
        yield from _of_event(text, trigger.type)


def _of_event(text: str, trigger: str) -> Iterator[WorkflowProblem]:
    try:
        roots = {reference.root for reference in parse(text).references}
    except BadReference as error:
        yield WorkflowProblem(node=None, message=f"The {trigger} trigger: {error.message}", hint=error.hint)
        return
    if roots - {"event"}:
        message = f"The {trigger} trigger refers to {text[:100]}, but there is only the event yet."
        yield WorkflowProblem(node=None, message=message, hint="Write {{event.…}}.")


def _is_needed(workflow: Workflow, name: str) -> bool:
    return workflow.inputs[name].required and workflow.inputs[name].default is None


def _of_checks(checks: tuple[Check, ...], node: str | None) -> Iterator[WorkflowProblem]:
    for check in checks:
        try:
            read_check(check)
        except ValidationError as error:
            for problem in settings_problems(node or "", error):
                yield replace(problem, node=node, message=f"A check: {problem.message}")
