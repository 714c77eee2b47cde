"""The triggers of a workflow file: their types, keys (such as `schedule-2`), checked settings, problems and
sentences; the ids and inputs of the runs that they start; all pure.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from pydantic import ValidationError

from toolcrib import plugins
from toolcrib.errors import NotFound
from toolcrib.features.workflows.graph.declarations import trigger_input_problems
from toolcrib.features.workflows.trigger_type import TriggerSettings, TriggerType
from toolcrib.graph.references import references_in, resolve
from toolcrib.schema.workflows import Trigger, Workflow, WorkflowProblem

TRIGGERS = "toolcrib.features.workflows.triggers"
"""The folder, and the entry-point group of trigger types of other packages."""
EVENT = "event"
"""The root of references in the inputs of a trigger."""


@dataclass(frozen=True, kw_only=True)
class DefinedTrigger:
    """A trigger of a workflow; without settings if these are not valid."""

    workflow: str
    index: int
    key: str
    trigger: Trigger
    type: TriggerType[Any] | None
    settings: TriggerSettings | None
    problems: tuple[str, ...] = ()

    @property
    def fingerprint(self) -> str:
        """Changes with anything that decides when it starts runs, and with what."""
        text = json.dumps(self.trigger.model_dump(mode="json"), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @property
    def untrusted_source(self) -> str:
        """Where the data of its events is from, if it may contain instructions; else empty."""
        if self.type is None or self.settings is None or not self.type.untrusted(self.settings):
            return ""
        return f"{self.type.name} trigger"

    @property
    def sentence(self) -> str:
        if self.type is None or self.settings is None or self.problems:
            return f"A {self.trigger.type} with problems"
        return self.type.describe(self.settings)


def find_trigger_type(name: str) -> TriggerType[Any]:
    """Raises `NotFound`."""
    return cast("TriggerType[Any]", plugins.find(TRIGGERS, name).TRIGGER)


def defined_triggers(workflow: Workflow) -> list[DefinedTrigger]:
    """All triggers of a workflow, with what is wrong with each."""
    counts: dict[str, int] = {}
    found = []
    for index, trigger in enumerate(workflow.triggers):
        counts[trigger.type] = number = counts.get(trigger.type, 0) + 1
        key = trigger.type if number == 1 else f"{trigger.type}-{number}"
        found.append(_define(workflow, index, key, trigger))
    return found


def setting_problems(workflow: Workflow) -> list[WorkflowProblem]:
    """Why triggers cannot be turned on; the workflow can be run by hand all the same."""
    return [
        WorkflowProblem(node=None, message=f"The trigger {index} ({trigger.type}): {problem}", warning=True)
        for index, trigger in enumerate(workflow.triggers)
        for problem in _read(trigger)[2]
    ]


def find_defined(workflow: Workflow, key: str) -> DefinedTrigger | None:
    return next((defined for defined in defined_triggers(workflow) if defined.key == key), None)


def trigger_inputs(trigger: Trigger, event: Mapping[str, Any]) -> dict[str, Any]:
    """The inputs of the run that this event starts."""
    return cast("dict[str, Any]", resolve(trigger.input, {EVENT: event}))


def untrusted_inputs(defined: DefinedTrigger) -> str:
    """Where untrusted data in the inputs of the run is from; empty if there is none."""
    return defined.untrusted_source if any(references_in(defined.trigger.input)) else ""


def run_id(workflow: str, key: str, occurrence: str) -> str:
    """The same on every host, so that an occurrence starts one run."""
    return f"{workflow}-{key}-{occurrence}"


def _define(workflow: Workflow, index: int, key: str, trigger: Trigger) -> DefinedTrigger:
    kind, settings, problems = _read(trigger)
    inputs = trigger_input_problems(workflow, trigger)
    problems = (*problems, *(f"{problem.message} {problem.hint}".strip() for problem in inputs))
    return DefinedTrigger(
        workflow=workflow.name,
        index=index,
        key=key,
        trigger=trigger,
        type=kind,
        settings=settings,
        problems=problems,
    )


def _read(trigger: Trigger) -> tuple[TriggerType[Any] | None, TriggerSettings | None, tuple[str, ...]]:
    try:
        kind = find_trigger_type(trigger.type)
    except NotFound as error:
        return None, None, (f"{error.message} {error.hint}",)
    try:
        settings = kind.settings.model_validate(trigger.settings)
    except ValidationError as error:
        return kind, None, tuple(_sentences(error))
    return kind, settings, kind.problems(settings)


def _sentences(error: ValidationError) -> Iterator[str]:
    for problem in error.errors(include_url=False, include_input=False):
        place = ".".join(map(str, problem["loc"])) or "settings"
        yield f"{place}: {problem['msg']}."
