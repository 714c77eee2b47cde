"""Writes a tool definition in a vendor's format: OpenAI (chat and responses), Anthropic, Gemini.

Definitions change as little as the vendor allows. Each rule here answers a real rejection: one rejected
definition fails the whole request.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from toolcrib.schema.tools import Tool
from toolcrib.tools.gemini import gemini_schema
from toolcrib.tools.plain_schema import plain_schema

VendorTool = dict[str, Any]


def as_openai(tool: Tool) -> VendorTool:
    """OpenAI's chat completions, and the many APIs compatible with it."""
    return {
        "type": "function",
        "function": {
            "name": tool.name,
            "description": tool.definition.description,
            "parameters": plain_schema(tool.definition.input_schema),
        },
    }


def as_openai_responses(tool: Tool) -> VendorTool:
    """OpenAI's responses; `strict` would enforce a smaller schema language."""
    return {
        "type": "function",
        "name": tool.name,
        "description": tool.definition.description,
        "parameters": plain_schema(tool.definition.input_schema),
        "strict": False,
    }


def as_anthropic(tool: Tool) -> VendorTool:
    return {
        "name": tool.name,
        "description": tool.definition.description,
        "input_schema": plain_schema(tool.definition.input_schema),
    }


def as_gemini(tool: Tool) -> VendorTool:
    """A Gemini function declaration, which supports a small part of JSON Schema."""
    declaration = {"name": tool.name, "description": tool.definition.description}
    parameters = gemini_schema(tool.definition.input_schema)
    # An object without properties is rejected; a function without parameters is not.
    if not parameters.get("properties"):
        return declaration
    return {**declaration, "parameters": parameters}


FORMATS: Mapping[str, Callable[[Tool], VendorTool]] = {
    "openai": as_openai,
    "openai-responses": as_openai_responses,
    "anthropic": as_anthropic,
    "gemini": as_gemini,
}
