"""The inputs of a run: texts get the declared types (words for yes and no), and every value is checked before
the run starts, with the errors for missing, unknown and unfit ones.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from toolcrib.errors import UsageError
from toolcrib.schema.workflows import Parameter, Workflow
from toolcrib.suggestions import did_you_mean

_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "number": (int, float),
    "integer": (int,),
    "boolean": (bool,),
    "array": (list, tuple),
    "object": (dict,),
}
_FLAGS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def read_inputs(workflow: Workflow, given: Mapping[str, Any], texts: Mapping[str, str]) -> dict[str, Any]:
    """The values by name, `texts` converted; raises `UsageError` that names the input."""
    for name in (*given, *texts):
        if name not in workflow.inputs:
            raise _unknown(workflow, name)
    found = {**given, **{name: _converted(name, text, workflow.inputs[name]) for name, text in texts.items()}}
    for name, parameter in workflow.inputs.items():
        if name in found:
            _check(name, found[name], parameter)
        elif parameter.required and parameter.default is None:
            hint = f"Pass it with --input {name}=…" if not parameter.description else parameter.description
            raise UsageError(f"The input {name!r} of {workflow.name} is missing.", hint=hint)
    return found


def input_schema(workflow: Workflow) -> dict[str, Any]:
    """The JSON Schema of a workflow's inputs, as a tool has it."""
    required = [
        name
        for name, parameter in workflow.inputs.items()
        if parameter.required and parameter.default is None
    ]
    return {
        "type": "object",
        "properties": {name: _schema(parameter) for name, parameter in workflow.inputs.items()},
        "required": required,
        "additionalProperties": False,
    }


def _schema(parameter: Parameter) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": parameter.type}
    if parameter.description:
        schema["description"] = parameter.description
    if parameter.default is not None and not parameter.secret:
        schema["default"] = parameter.default
    if parameter.choices:
        schema["enum"] = list(parameter.choices)
    return schema


def _converted(name: str, text: str, parameter: Parameter) -> Any:
    if parameter.type == "string":
        return text
    if parameter.type == "boolean" and text.lower() in _FLAGS:
        return _FLAGS[text.lower()]
    try:
        return json.loads(text)
    except ValueError:
        raise _misfit(name, parameter) from None


def _check(name: str, value: Any, parameter: Parameter) -> None:
    if value is None and not parameter.required:
        return
    is_flag = isinstance(value, bool)
    if is_flag != (parameter.type == "boolean") or not isinstance(value, _TYPES[parameter.type]):
        raise _misfit(name, parameter)
    if parameter.choices and value not in parameter.choices:
        choices = ", ".join(map(str, parameter.choices))
        raise UsageError(f"The input {name!r} is not one of its choices.", hint=f"Choices: {choices}.")


def _misfit(name: str, parameter: Parameter) -> UsageError:
    article = "an" if parameter.type[0] in "aio" else "a"
    return UsageError(f"The input {name!r} must be {article} {parameter.type}.", hint=parameter.description)


def _unknown(workflow: Workflow, name: str) -> UsageError:
    known = f"Its inputs: {', '.join(workflow.inputs) or 'none'}."
    hint = did_you_mean(name, workflow.inputs, otherwise=known)
    return UsageError(f"The workflow {workflow.name} has no input {name[:80]!r}.", hint=hint)
