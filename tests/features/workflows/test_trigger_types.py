"""Every trigger type of `workflows/triggers` declares what users, the page and the scheduler need."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from toolcrib import plugins
from toolcrib.features.workflows.automation.definitions import TRIGGERS, defined_triggers, find_trigger_type
from toolcrib.schema.workflows import Trigger, Workflow

EXAMPLES = {"schedule": {"cron": "weekdays at 07:30"}, "webhook": {}, "folder": {"path": "/tmp"}}
NAMES = plugins.names(TRIGGERS)


@pytest.mark.parametrize("name", NAMES)
def test_a_trigger_type_describes_itself(name: str) -> None:
    found = find_trigger_type(name)

    assert found.name == name
    assert found.title
    assert found.about.endswith(".")
    assert found.event
    assert found.settings.model_json_schema()["additionalProperties"] is False


@pytest.mark.parametrize("name", NAMES)
def test_a_valid_trigger_is_said_in_a_sentence(name: str) -> None:
    found = find_trigger_type(name)
    settings = found.settings.model_validate(EXAMPLES[name])

    assert found.problems(settings) == ()
    assert len(found.describe(settings)) > 10


@pytest.mark.parametrize("name", NAMES)
def test_an_unknown_setting_is_refused(name: str) -> None:
    with pytest.raises(ValidationError):
        find_trigger_type(name).settings.model_validate({**EXAMPLES[name], "colour": "red"})


@pytest.mark.parametrize("name", NAMES)
def test_wrong_inputs_are_problems_of_the_trigger(name: str) -> None:
    trigger = Trigger(
        type=name,  # type: ignore[arg-type]
        settings=EXAMPLES[name],
        input={"unknown": 1, "wrong": "{{input.x}}", "broken": "{{event."},
    )
    inputs = {"needed": {}, "wrong": {}, "broken": {}}
    (defined,) = defined_triggers(
        Workflow.model_validate({"name": "w", "inputs": inputs, "triggers": [trigger]})
    )

    text = " ".join(defined.problems)
    assert "'unknown', which is no input" in text
    assert "does not set the input needed" in text
    assert "there is only the event" in text
    assert "is not a reference" in text


def test_triggers_of_the_same_type_have_keys_of_their_own() -> None:
    triggers = [Trigger(type=kind, settings=EXAMPLES[kind]) for kind in ("schedule", "webhook", "schedule")]

    found = defined_triggers(Workflow(name="w", triggers=tuple(triggers)))

    assert [one.key for one in found] == ["schedule", "webhook", "schedule-2"]
