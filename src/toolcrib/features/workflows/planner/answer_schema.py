"""The JSON Schemas of a model's answers: a whole workflow, or a patch of the current one."""

from __future__ import annotations

from typing import Any, get_args

from toolcrib.schema.workflows import ParameterType

Schema = dict[str, Any]
_TEXT: Schema = {"type": "string"}
_FREE: Schema = {"type": "object"}


def _object(required: tuple[str, ...], /, **properties: Schema) -> Schema:
    return {"type": "object", "properties": properties, "required": list(required)}


def _list(items: Schema) -> Schema:
    return {"type": "array", "items": items}


_NODE = _object(("id", "type", "settings"), id=_TEXT, type=_TEXT, name=_TEXT, settings=_FREE)
_CHANGED_NODE = _object(("id",), id=_TEXT, type=_TEXT, name=_TEXT, settings=_FREE)
_EDGE = Schema(
    type="object",
    properties={"from": _TEXT, "to": _TEXT, "output": _TEXT},
    required=["from", "to", "output"],
)
_INPUT = _object(
    ("name", "type"),
    name=_TEXT,
    type={"type": "string", "enum": list(get_args(ParameterType))},
    description=_TEXT,
    required={"type": "boolean"},
    default={},
)
_WORKFLOW = _object(
    ("name", "nodes", "edges"),
    name=_TEXT,
    description=_TEXT,
    inputs=_list(_INPUT),
    nodes=_list(_NODE),
    edges=_list(_EDGE),
    outputs=_FREE,
)
_PATCH = _object(
    (),
    add_nodes=_list(_NODE),
    remove_nodes=_list(_TEXT),
    update_nodes=_list(_CHANGED_NODE),
    add_edges=_list(_EDGE),
    remove_edges=_list(_EDGE),
    inputs=_list(_INPUT),
    remove_inputs=_list(_TEXT),
    outputs=_FREE,
    remove_outputs=_list(_TEXT),
    description=_TEXT,
)
PLAN = _object((), workflow=_WORKFLOW, refusal=_TEXT)
EDIT = _object((), patch=_PATCH, refusal=_TEXT)
