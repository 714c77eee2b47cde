"""Generates the API's types for the page: `python -m toolcrib.web.typescript FILE`."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any, get_args

from toolcrib.web.contract import Contract, Described, Schema, contract

HEAD = "// Generated from the operations by `make generated`. Do not edit.\n"
_PLAIN = {
    "string": "string",
    "integer": "number",
    "number": "number",
    "boolean": "boolean",
    "null": "null",
}
_NAME = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")


def typescript(known: Contract) -> str:
    parts = [HEAD]
    parts += [_declared(name, schema) for name, schema in known.types.items()]
    parts += [f"export type {name} = {_type(schema)};\n" for name, schema in known.aliases.items()]
    parts.append(_operations(known.operations))
    parts.append(_condition_operators())
    return "\n".join(parts)


def _operations(operations: tuple[Described[Schema], ...]) -> str:
    lines = ["/** All operations of the host. */", "export interface Operations {"]
    for operation in operations:
        event = "unknown" if operation.event is None else _type(operation.event)
        lines += [
            f"  {_comment(operation.about)}",
            f"  {operation.name}: {{",
            f"    params: {_type(operation.params)};",
            f"    event: {event};",
            f"    result: {_type(operation.result)};",
            "  };",
        ]
    return "\n".join([*lines, "}", ""])


def _condition_operators() -> str:
    """The one list of operators is that of the engine."""
    from toolcrib.graph.conditions import UNARY, WORDS, Operator

    lines = [
        "/** What conditions of workflows compare with. */",
        f"export const OPERATORS = {json.dumps(get_args(Operator))} as const;",
        "/** Those that look at one value only. */",
        f"export const UNARY_OPERATORS = {json.dumps(sorted(UNARY))} as const;",
        "/** How users read them. */",
        f"export const OPERATOR_WORDS = {json.dumps(WORDS)} as const;",
    ]
    return "\n".join([*lines, ""])


def _declared(name: str, schema: Schema) -> str:
    about = _comment(schema["description"]) + "\n" if schema.get("description") else ""
    if schema.get("type") != "object" or "properties" not in schema:
        return f"{about}export type {name} = {_type(schema)};\n"
    return f"{about}export interface {name} {{\n{''.join(_fields(schema))}}}\n"


def _fields(schema: Schema) -> list[str]:
    required = schema.get("required", ())
    lines = []
    for name, field in schema["properties"].items():
        key = name if _NAME.fullmatch(name) else json.dumps(name)
        mark = "" if name in required else "?"
        about = f"  {_comment(field['description'])}\n" if field.get("description") else ""
        lines.append(f"{about}  {key}{mark}: {_type(field)};\n")
    if schema.get("additionalProperties") is True:
        lines.append("  [key: string]: unknown;\n")
    return lines


def _type(schema: Any) -> str:
    if schema is True or not schema:
        return "unknown"
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "const" in schema:
        return json.dumps(schema["const"])
    if "enum" in schema:
        return " | ".join(json.dumps(value) for value in schema["enum"])
    branches = schema.get("anyOf") or schema.get("oneOf")
    if branches:
        return " | ".join(dict.fromkeys(_type(branch) for branch in branches))
    return _plain(schema)


def _plain(schema: Schema) -> str:
    kind = schema.get("type")
    if kind == "array":
        return _array(schema)
    if kind == "object":
        return _object(schema)
    return _PLAIN.get(str(kind), "unknown")


def _array(schema: Schema) -> str:
    if "prefixItems" in schema:
        return f"[{', '.join(_type(item) for item in schema['prefixItems'])}]"
    item = _type(schema.get("items"))
    return f"({item})[]" if " | " in item else f"{item}[]"


def _object(schema: Schema) -> str:
    if "properties" in schema:
        inner = " ".join(line.strip() for line in _fields(schema))
        return f"{{ {inner} }}"
    for values in schema.get("patternProperties", {}).values():
        return f"Record<string, {_type(values)}>"
    values = schema.get("additionalProperties")
    if values is False:
        return "Record<string, never>"
    return f"Record<string, {_type(values)}>"


def _comment(text: str) -> str:
    line = " ".join(text.split()).replace("*/", "*\\/")
    return f"/** {line} */"


if __name__ == "__main__":
    text = typescript(contract())
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)
